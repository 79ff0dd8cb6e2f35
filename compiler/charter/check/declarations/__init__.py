"""Elaborates declarations: machines, histories, storage, instances, scenarios, functions."""
