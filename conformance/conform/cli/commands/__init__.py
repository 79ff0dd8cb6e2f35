"""The commands, in folders as `conform --help` groups them."""
