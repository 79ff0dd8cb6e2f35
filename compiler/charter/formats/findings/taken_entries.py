"""Reads which entries of another adapter's overlay apply to a target, too (docs/formats/adapter.md,
"Entries of another overlay")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_EXAMPLE = 'write `ENTRY = "3.7.0..3.9.2"`; an end may be left out'


@dataclass(frozen=True, slots=True)
class TakenEntries:
    """Entries of the overlay in another adapter's folder, which is relative to that of the target,
    with the first and the last release of the target to which each applies ("" is open)."""

    folder: str
    ranges: Mapping[str, tuple[str, str]]


def read_taken(value: object) -> tuple[TakenEntries, ...]:
    """The `taken` of an adapter.toml. Raises `ValueError` with a sentence."""
    if not isinstance(value, dict):
        raise ValueError("'taken' is no table; begin each folder with [taken.\"../FOLDER\"]")
    return tuple(
        TakenEntries(str(folder), _ranges(str(folder), held)) for folder, held in value.items()
    )


def _ranges(folder: str, held: object) -> dict[str, tuple[str, str]]:
    if not isinstance(held, dict):
        raise ValueError(f"'taken' has no table for {folder!r}; {_EXAMPLE}")
    found: dict[str, tuple[str, str]] = {}
    for name, text in held.items():
        first, dots, last = str(text).partition("..")
        if not dots:
            raise ValueError(f"'taken' has {text!r} for {name!r}, which is no range; {_EXAMPLE}")
        found[str(name)] = first.strip(), last.strip()
    return found
