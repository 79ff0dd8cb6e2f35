"""Lays out values and states in memory: slots, words, arrays in memory or in files."""
