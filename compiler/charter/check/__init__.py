"""Checks a charter and elaborates it into core."""
