"""Printers of core: the Python model, stories and pictures of traces, TLA+."""
