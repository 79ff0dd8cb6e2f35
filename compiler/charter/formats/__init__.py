"""Defines the formats of all artifacts: vectors, values, adapter messages, verdicts. Standard
library only."""
