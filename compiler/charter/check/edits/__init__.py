"""Applies the edits of variants, mutants and overlays to the surface tree."""
