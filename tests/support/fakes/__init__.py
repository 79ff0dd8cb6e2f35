"""Adapters that each misbehave in one way."""
