"""Suites as the judge reads them."""
