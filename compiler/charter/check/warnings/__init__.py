"""Checks what types do not say: totality, choices that can be empty, replies that never come."""
