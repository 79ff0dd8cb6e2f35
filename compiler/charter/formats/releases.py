"""Releases of targets as numbers, and ranges of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from charter.formats.spelling import suggest

Release = tuple[int, ...]
_BOUND = re.compile(r"[0-9]+(\.[0-9]+)*")


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


def is_bound(text: str, known: Sequence[str] = ()) -> bool:
    """Whether a text may bound a range: nothing, numbers such as `4.3`, or one of the `known`
    releases. Another text would be a typing error, and `numbers` reads it as something shorter."""
    return not text or text in known or bool(_BOUND.fullmatch(text))


def select_releases(wanted: str, known: Sequence[str]) -> tuple[str, ...]:
    """Those of the `known` releases that a text names: `3.9.1`, `3.3..`, `3.9..4.1`, or several of
    these with commas. They keep their order. Raises `ValueError` with a sentence."""
    found: set[str] = set()
    for part in (one.strip() for one in wanted.split(",")):
        first, dots, last = part.partition("..")
        for bound in (first, last) if dots else ():
            if not is_bound(bound, known):
                raise ValueError(
                    f"{part!r} is no range: {bound!r} is no number of a release, such as"
                    f" {known[0] if known else '1.0'}"
                )
        named = [one for one in known if one == part or (dots and within(one, first, last))]
        if not named:
            meant = "" if dots else suggest(part, known)
            raise ValueError(
                f"{part!r} names no release; {meant or 'there are ' + (', '.join(known) or 'none')}"
            )
        found |= {*named}
    return tuple(one for one in known if one in found)
