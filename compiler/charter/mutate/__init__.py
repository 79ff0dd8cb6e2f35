"""Mutates charters systematically: makes small mistakes in the rules, and finds which check sees
each."""
