"""A run of pytest inside of a test."""

import gc

import pytest


def run_pytest(arguments):
    """The exit code of pytest with these arguments. At its end pytest looks for cycles several
    times: what this process keeps is left out."""
    gc.freeze()
    return int(pytest.main([str(part) for part in arguments]))
