"""The commands about implementations: one module each, with EXAMPLES, add_arguments and run."""
