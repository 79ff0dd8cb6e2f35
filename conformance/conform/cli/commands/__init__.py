"""One module a command: EXAMPLES, add_arguments and run."""
