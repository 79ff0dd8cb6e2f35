"""Prints a model as TLA+: one module of shared rules, one per machine, one per instance."""
