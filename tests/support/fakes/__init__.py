"""Adapters that are wrong in every way that an adapter can be wrong in."""
