"""Judges one vector: what was observed against what the charter allows."""
