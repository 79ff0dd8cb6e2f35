"""Implements the command `conform`."""
