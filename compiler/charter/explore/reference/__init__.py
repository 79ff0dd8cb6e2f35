"""Searches breadth-first over the definition: the reference engine."""
