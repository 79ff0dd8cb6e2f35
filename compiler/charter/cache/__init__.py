"""Keeps the cache of the compiler in the folder of the user."""
