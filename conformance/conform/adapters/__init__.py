"""Connections to adapters, and sessions over them."""
