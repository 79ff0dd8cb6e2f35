"""Completes the entries in a sections.json that an overlay takes from another one: they say in
which releases they apply, and the rest is said there (docs/formats/report.md)."""

from __future__ import annotations

from collections.abc import Mapping

from charter.formats.canonical import Json
from charter.formats.reading import BadVector


def with_taken_entries(value: dict[str, Json]) -> dict[str, Json]:
    """The content of a sections.json, in which the entries that an overlay takes from another one
    say what they say there. Raises `BadVector` for one that is not there."""
    listed = value.get("entries")
    if not isinstance(listed, list):
        return value
    known = {_entry(row, "overlay"): row for row in listed if isinstance(row, dict)}
    return {**value, "entries": [_whole_entry(row, known) for row in listed]}


def _entry(row: Mapping[str, Json], overlay: str) -> tuple[str, str]:
    return str(row.get(overlay)), str(row.get("name"))


def _whole_entry(row: Json, known: Mapping[tuple[str, str], Mapping[str, Json]]) -> Json:
    if not isinstance(row, dict) or "taken_from" not in row:
        return row
    wanted = _entry(row, "taken_from")
    if wanted not in known:
        raise BadVector(f"entries: the overlay {wanted[0]} has no entry {wanted[1]}")
    own = {name: one for name, one in row.items() if name != "taken_from"}
    return {**known[wanted], **own}
