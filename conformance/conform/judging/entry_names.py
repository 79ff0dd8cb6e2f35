"""Writes the names of overlay entries that explain a step: one name, or those of a set of entries
that explain it together only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SEVERAL = "several_entries"
"""The name of all entries together, where nobody has looked which of them are needed."""

SET_ENTRIES_MAX = 3
"""The most entries of a set that is searched for."""

_AND = "+"


def join_entries(entries: Sequence[str]) -> str:
    """The name of a set of entries."""
    return _AND.join(entries)


def split_entries(name: str) -> tuple[str, ...]:
    """The entries of a set, or the one entry that a name is of."""
    return tuple(name.split(_AND))


def show_entries(name: str) -> str:
    """The name of an entry, or of a set of entries, as a person reads it."""
    return f" {_AND} ".join(split_entries(name))


def list_members(names: Iterable[str]) -> frozenset[str]:
    """The entries that are named, alone or in a set."""
    return frozenset(entry for name in names for entry in split_entries(name))
