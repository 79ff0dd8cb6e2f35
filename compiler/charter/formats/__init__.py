"""What leaves the house: vectors, values, adapter messages, verdicts. Standard library only."""
