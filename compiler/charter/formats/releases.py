"""Releases of targets as numbers, and ranges of them."""

from __future__ import annotations

import re

Release = tuple[int, ...]


def numbers(release: str) -> Release:
    """`4.3.1` as numbers, up to what is no number: `4.2-rc1` is 4.2, and `trunk` is 0; () for an
    open bound."""
    found = re.match(r"[0-9]+(\.[0-9]+)*", release)
    text = found.group() if found else release and "0"
    return tuple(int(part) for part in text.split(".") if part)


def within(release: str, first: str, last: str) -> bool:
    """Whether a release is in a range; "" is an open bound. "4.0" as the last one includes all its
    patches."""
    here, low, high = numbers(release), numbers(first), numbers(last)
    here += (0,) * (max(len(low), len(high)) - len(here))
    return here >= low and here[: len(high)] <= high
