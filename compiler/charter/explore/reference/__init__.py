"""The reference engine: breadth-first search over the definition."""
