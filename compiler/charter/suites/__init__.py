"""Makes suites of vectors from what exploration and solver find.

This package may use several backends, which do not import each other.
"""
