"""Selects the overlay entries that apply to a release of the target."""

from __future__ import annotations

from collections.abc import Sequence

from charter.core.nodes import OverlayEntry
from charter.formats.releases import Release, numbers, within


def groups(entries: Sequence[OverlayEntry], releases: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Groups releases to which the same entries apply: maps the first release of each group to
    these entries, in order.

    A target that lists no releases may have any: its groups begin at "0" and wherever an entry
    begins or ceases to apply.
    """
    found: dict[str, tuple[str, ...]] = {}
    before: tuple[str, ...] | None = None
    for release in sorted(releases, key=numbers) or _bounds(entries):
        names = tuple(entry.name for entry in applying(entries, (release,)))
        if names != before:
            found[release] = before = names
    return found


def applying(entries: Sequence[OverlayEntry], releases: Sequence[str]) -> tuple[OverlayEntry, ...]:
    """The entries that apply to one of the releases; all, if there are none."""
    return tuple(
        entry
        for entry in entries
        if not releases
        or any(within(release, entry.first_release, entry.last_release) for release in releases)
    )


def _bounds(entries: Sequence[OverlayEntry]) -> list[str]:
    """The releases where an entry begins or ceases to apply."""
    bounds: set[Release] = {(0,)}
    for entry in entries:
        if entry.first_release:
            bounds.add(numbers(entry.first_release))
        if entry.last_release:
            *head, tail = numbers(entry.last_release)
            bounds.add((*head, tail + 1))
    return [".".join(map(str, bound)) for bound in sorted(bounds)]


def module(release: str) -> str:
    """The name of the model with all entries of a group."""
    return f"from_{release.replace('.', '_')}"
