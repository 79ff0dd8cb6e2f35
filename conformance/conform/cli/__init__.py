"""The command conform."""
