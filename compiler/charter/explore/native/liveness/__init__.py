"""Checks properties of runs on the transition graph of a search."""
