"""Remembers what failed in earlier runs of a target, and asks it first in later ones."""
