"""The tests keep models: to look for cycles in them again and again takes a tenth of the time."""

import gc


def set_aside():
    """Looks for cycles in what is new since the last time, and never again in it."""
    gc.collect()
    gc.freeze()
