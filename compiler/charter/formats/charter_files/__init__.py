"""Reads and writes the files of a charter: claims, survivors, pairs of steps, verdicts, kills, and
the sections that are generated from it."""
