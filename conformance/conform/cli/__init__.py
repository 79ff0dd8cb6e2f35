"""The command `conform`."""
