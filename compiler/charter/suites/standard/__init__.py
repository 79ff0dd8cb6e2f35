"""Makes what a standard suite has besides the small one: triples of operations, and variables that
are set, cleared and set again."""
