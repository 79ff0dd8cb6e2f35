"""TLA+: a module for the rules of a charter, one for each machine, one for each instance."""
