"""Traces for people: told step by step, drawn, and as ITF."""
