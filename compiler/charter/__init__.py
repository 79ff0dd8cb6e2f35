"""Compiles Charter, a small language for distributed protocols.

This module imports nothing: the judge's workers load it whenever they import `charter.formats`.
"""
