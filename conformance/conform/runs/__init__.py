"""Runs a suite: puts it to a target, judges the answers, and sums them up."""
