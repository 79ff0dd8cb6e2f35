"""Reads what core means: symmetry, environments, coverage of rules, traces."""
