"""Writes a charter as a handbook: chapters to read, with pictures of its scenarios."""
