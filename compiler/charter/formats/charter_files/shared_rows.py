"""Shortens tables that another file has, too: a row that is the same there is kept as its number in
it.

A variant differs from its charter in few rules, and sections.json of both would say the rest twice
(docs/formats/report.md)."""

from __future__ import annotations

from collections.abc import Mapping

from charter.formats.canonical import Json, text
from charter.formats.reading import BadVector


def without_shared_rows(value: Mapping[str, Json], base: Mapping[str, Json]) -> dict[str, Json]:
    """`value` with numbers for the rows that the same list of `base` has."""
    return {
        name: _number(item, base.get(name)) if isinstance(item, list) else item
        for name, item in value.items()
    }


def _number(rows: list[Json], base: Json) -> list[Json]:
    known = base if isinstance(base, list) else []
    places: dict[str, Json] = {text(row): number for number, row in enumerate(known)}
    return [places.get(text(row), row) for row in rows]


def with_shared_rows(value: Mapping[str, Json], base: Mapping[str, Json]) -> dict[str, Json]:
    """The reverse. Raises `BadVector` for a number that is no row of `base`."""
    return {
        name: [_row(row, name, base) for row in item] if isinstance(item, list) else item
        for name, item in value.items()
    }


def _row(row: Json, name: str, base: Mapping[str, Json]) -> Json:
    if not isinstance(row, int):
        return row
    rows = base.get(name)
    if isinstance(rows, list) and not isinstance(row, bool) and 0 <= row < len(rows):
        return rows[row]
    raise BadVector(f"{name}: there is no row {row} in the other file")
