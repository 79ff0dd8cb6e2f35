"""What core means: values, the definition, machines, scenarios, coverage."""
