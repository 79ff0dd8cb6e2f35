"""Prints for people: results, progress, errors."""
