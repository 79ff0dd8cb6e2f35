"""Engines that judge buckets: in one process, or on Spark."""
