"""Engines: the same judging of buckets, in one process or on Spark."""
