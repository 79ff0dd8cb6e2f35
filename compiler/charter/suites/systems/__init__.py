"""Makes questions from traces of systems."""
