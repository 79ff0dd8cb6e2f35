"""Argument types for numbers."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """A whole number of at least 1; thousands may be separated (`10_000`, `10,000`)."""
    digits = text.replace("_", "").replace(",", "")
    if not digits.isdecimal() or not int(digits):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(digits)


def count_or_all(text: str) -> int:
    """The same, or 0 for no limit."""
    return 0 if text == "0" else count(text)


def whole(text: str) -> int:
    """A whole number, such as a seed."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def gibibytes(text: str) -> int:
    """An amount of memory in GiB, possibly with a fraction; returns bytes."""
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < 1 << 30:  # also refuses infinity and NaN
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of memory in GiB")
    return int(size * (1 << 30))
