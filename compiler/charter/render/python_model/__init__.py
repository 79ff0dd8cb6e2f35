"""Prints the reference implementation: a component as a Python class that people can read."""
