"""The commands: one module each, with EXAMPLES, add_arguments and run."""
