"""Writes the types of a component for adapters in other languages."""
