"""Makes suites of vectors from what exploration and solver find.

This storey may ask several backends; they stay strangers to each other.
"""
