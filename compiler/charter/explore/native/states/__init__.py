"""Reads the states of a finished search: as values, as a graph, as pairs of steps."""
