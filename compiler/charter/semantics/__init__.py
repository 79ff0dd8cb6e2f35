"""Defines what core means: values, the definition, machines, scenarios, coverage."""
