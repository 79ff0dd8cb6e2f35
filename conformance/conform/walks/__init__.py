"""Walks on a target: questions whose operations are chosen in the states that are observed."""
