"""Datasets of runs, suites and searches as Parquet."""
