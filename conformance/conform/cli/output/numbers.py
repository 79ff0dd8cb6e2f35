"""Parses numbers in arguments."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """A whole number of at least 1; thousands may be separated (`10_000`, `10,000`)."""
    return _at_least(1, text)


def count_or_all(text: str) -> int:
    """The same, or 0 for no limit."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    digits = text.replace("_", "").replace(",", "")
    if not digits.isdecimal() or int(digits) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
    return int(digits)


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
