"""A run: a target, a suite, an engine, and what came of it."""
