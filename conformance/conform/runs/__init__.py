"""A run: puts a suite to a target, judges the answers, and sums them up."""
