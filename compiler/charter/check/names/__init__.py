"""Collects the declared names of a protocol, with types, scopes and documentation."""
