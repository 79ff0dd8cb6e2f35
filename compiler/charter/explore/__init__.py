"""Checks models of an instance: the interface, two engines, and the choice."""
