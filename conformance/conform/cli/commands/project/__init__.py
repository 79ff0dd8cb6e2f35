"""The commands of a project: one module each, with EXAMPLES, add_arguments and run."""
