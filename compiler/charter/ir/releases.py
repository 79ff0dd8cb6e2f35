"""Which entries of an overlay apply to which releases of its target."""

from __future__ import annotations

from collections.abc import Sequence

from charter.ir.nodes import OverlayEntry

Release = tuple[int, ...]


def groups(entries: Sequence[OverlayEntry]) -> dict[str, tuple[str, ...]]:
    """The entries that apply from a release on until the next group begins, by that release; the
    first group begins at "0"."""
    bounds: set[Release] = {(0,)}
    for entry in entries:
        if entry.first_release:
            bounds.add(numbers(entry.first_release))
        if entry.last_release:
            *head, tail = numbers(entry.last_release)
            bounds.add((*head, tail + 1))
    return {
        ".".join(map(str, bound)): tuple(e.name for e in entries if applies(e, bound))
        for bound in sorted(bounds)
    }


def module(release: str) -> str:
    """What the model with all entries of a group is called."""
    return f"from_{release.replace('.', '_')}"


def applies(entry: OverlayEntry, release: Release) -> bool:
    """Whether an entry is for a release; a last release includes its patches."""
    first, last = numbers(entry.first_release), numbers(entry.last_release)
    return release >= first and (not last or release[: len(last)] <= last)


def numbers(release: str) -> Release:
    """`4.3.1` as numbers; () for an open end."""
    return tuple(int(part) for part in release.split(".")) if release else ()
