"""Counts what became of the transitions that tours ask."""
