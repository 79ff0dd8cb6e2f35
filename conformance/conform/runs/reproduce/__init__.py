"""Reproduces findings: the operations that lead there, and what differs after them."""
