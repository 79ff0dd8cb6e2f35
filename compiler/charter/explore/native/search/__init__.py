"""Searches the states of an instance, in threads or on Spark, and walks through them at random."""
