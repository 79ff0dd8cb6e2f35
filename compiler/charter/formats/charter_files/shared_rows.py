"""Shortens tables that another file has, too: a row that is the same there is kept as its number in
it, and a row that differs little as that number with what differs.

A variant differs from its charter in few rules, and sections.json of both would say the rest twice
(docs/formats/report.md)."""

from __future__ import annotations

from collections.abc import Mapping

from charter.formats.canonical import Json, text
from charter.formats.reading import BadVector

_PAIR = 2


def without_shared_rows(value: Mapping[str, Json], base: Mapping[str, Json]) -> dict[str, Json]:
    """`value` with numbers for the rows that the same list of `base` has, and pairs of a number and
    an object for those that differ little from the row there with the same name."""
    return {
        name: _number(item, base.get(name)) if isinstance(item, list) else item
        for name, item in value.items()
    }


def _number(rows: list[Json], base: Json) -> list[Json]:
    known = base if isinstance(base, list) else []
    places: dict[str, Json] = {text(row): number for number, row in enumerate(known)}
    named = {_name(row): number for number, row in reversed([*enumerate(known)])}
    found: list[Json] = []
    for row in rows:
        number = places.get(text(row), row)
        like = named.get(_name(row)) if number is row else None
        found.append(number if like is None else _shorter(row, known[like], like))
    return found


def _name(row: Json) -> str:
    """The name of a row: its first item, or its key `name`; the row itself, if it has none."""
    if isinstance(row, list) and row:
        return text(row[0])
    return text(row["name"]) if isinstance(row, dict) and "name" in row else text(row)


def _shorter(row: Json, known: Json, number: int) -> Json:
    """A row as what differs from a known one, if that is shorter."""
    parts, others = _parts(row), _parts(known)
    if type(row) is not type(known) or parts.keys() != others.keys():
        return row
    changes: Json = {key: one for key, one in parts.items() if text(one) != text(others[key])}
    pair: list[Json] = [number, changes]
    return pair if len(text(pair)) < len(text(row)) else row


def _parts(row: Json) -> dict[str, Json]:
    if isinstance(row, list):
        return {str(place): one for place, one in enumerate(row)}
    return dict(row) if isinstance(row, dict) else {}


def with_shared_rows(value: Mapping[str, Json], base: Mapping[str, Json]) -> dict[str, Json]:
    """The reverse. Raises `BadVector` for a number that is no row of `base`, and for a change of
    what is not in the row."""
    return {
        name: [_row(row, name, base) for row in item] if isinstance(item, list) else item
        for name, item in value.items()
    }


def _row(row: Json, name: str, base: Mapping[str, Json]) -> Json:
    if isinstance(row, int):
        return _find(row, name, base)
    if not isinstance(row, list) or len(row) != _PAIR:
        return row
    number, changes = row
    if not isinstance(number, int) or not isinstance(changes, dict):
        return row
    known = _find(number, name, base)
    parts = _parts(known)
    strange = sorted(changes.keys() - parts.keys())
    if strange:
        raise BadVector(f"{name}: row {number} of the other file has no {strange[0]!r}")
    parts |= changes
    return [*parts.values()] if isinstance(known, list) else parts


def _find(number: int, name: str, base: Mapping[str, Json]) -> Json:
    rows = base.get(name)
    if isinstance(rows, list) and not isinstance(number, bool) and 0 <= number < len(rows):
        return rows[number]
    raise BadVector(f"{name}: there is no row {number} in the other file")
