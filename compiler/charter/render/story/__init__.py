"""Presents traces: as text step by step, as pictures, and as ITF."""
