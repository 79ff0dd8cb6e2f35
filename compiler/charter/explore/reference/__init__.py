"""Exhaustive exploration: core as flat Python over tuples, and a breadth-first engine."""
