"""Suites of vectors: what the backends find, put together, told apart, and written.

This storey may ask several backends; they stay strangers to each other.
"""
