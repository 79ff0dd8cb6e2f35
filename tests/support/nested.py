"""A run of pytest inside of a test."""

import gc

import pytest


def run_pytest(arguments):
    """The exit code of pytest with these arguments. At its end pytest looks for cycles ten times:
    what this process keeps is left out, which takes half a second each time."""
    gc.freeze()
    try:
        return int(pytest.main([str(part) for part in arguments]))
    finally:
        gc.unfreeze()
