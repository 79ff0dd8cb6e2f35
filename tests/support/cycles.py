"""The tests keep models: to look for cycles in them again and again takes a tenth of the time."""

import gc


def set_aside(*, collect=True):
    """Looks for cycles in what is new since the last time (unless that is not worth the time), and
    never again in it."""
    if collect:
        gc.collect()
    gc.freeze()
