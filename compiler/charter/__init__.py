"""Charter: a small language for distributed protocols, and its compiler.

This module imports nothing: the judge's workers load it whenever they import `charter.formats`.
"""
