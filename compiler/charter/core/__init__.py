"""Defines core, the typed tree behind the check, with its types, its validator and its
obligations."""
