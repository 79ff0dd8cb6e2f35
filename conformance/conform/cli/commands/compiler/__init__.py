"""The commands about charters: one module each, with EXAMPLES, add_arguments and run."""
