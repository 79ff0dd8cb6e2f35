"""Translates text to the surface tree and back: grammar, parser, comments, formatter."""
