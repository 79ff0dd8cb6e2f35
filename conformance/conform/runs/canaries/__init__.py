"""Runs checks with a known outcome next to the suite, and decides whether a run can be trusted."""
