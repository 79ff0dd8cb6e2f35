"""Writes values as text, and finds the differences between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from charter.formats import canonical
from charter.formats.canonical import Json
from conform.judging.places import NOT_KNOWN, UNKNOWN, ValuePlace, ValuePlaces
from conform.judging.written_values import brackets, show, show_item

ABSENT = "—"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a displayed value. `differs`: the other side does not have it."""

    text: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of a step. `kind` is `differs` (observed is not the expected value), `changed`
    (both changed to the same value) or `same`."""

    path: str
    before: tuple[Token, ...]
    expected: tuple[Token, ...]
    observed: tuple[Token, ...]
    kind: str


def flat(value: Json) -> dict[str, Json]:
    """The fields of a value, by path. Arrays, references and scalars are not split further."""
    return {path: item for path, (item, _) in _list_fields(value, UNKNOWN, "")}


def list_places(value: Json, place: ValuePlace, at: str = "") -> dict[str, ValuePlace]:
    """The places of the fields that `flat` finds."""
    return {path: found for path, (_, found) in _list_fields(value, place, at)}


def _list_fields(
    value: Json, place: ValuePlace, at: str
) -> Iterator[tuple[str, tuple[Json, ValuePlace]]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _list_fields(item, place.at(name, value), f"{at}.{name}" if at else name)
    else:
        yield at, (value, place)


def rows(
    before: Json,
    expected: Mapping[str, Json] | None,
    observed: Mapping[str, Json],
    about: tuple[ValuePlaces, str] = (NOT_KNOWN, ""),
) -> tuple[FieldRow, ...]:
    """All fields of `{"reply", "observation", ...}` values of one step, those that differ first.

    `before` is the previous observation; `expected` is None if nothing is expected or known;
    `about` are the places of the run and the step's operation.
    """
    places, operation = about
    kinds = {"reply": places.reply(operation), "observation": places.observation}
    old: dict[str, Json] = {"observation": before} if before is not None else {}
    found: dict[str, ValuePlace] = {}
    for side in (old, expected or {}, observed):
        for name, value in side.items():
            found.update(list_places(value, kinds.get(name, UNKNOWN), name))
    earlier = {path: item for path, item in flat(old).items() if path not in ("", "observation")}
    wanted = None if expected is None else flat({**expected})
    return compare((earlier, wanted, flat({**observed})), found)


Sides = tuple[Mapping[str, Json], Mapping[str, Json] | None, Mapping[str, Json]]
"""The fields of what was before, of what was expected, and of what was observed."""


def compare(sides: Sides, places: Mapping[str, ValuePlace]) -> tuple[FieldRow, ...]:
    """A row for each field of three sides."""
    old, wanted, got = sides
    names = dict.fromkeys([*got, *(wanted or {}), *old])
    return tuple(
        _row(name, sides, places.get(name, UNKNOWN)) for name in sorted(names, key=_reply_last)
    )


def _reply_last(path: str) -> tuple[bool, str]:
    return not path.startswith("reply"), path


def _row(path: str, sides: Sides, place: ValuePlace) -> FieldRow:
    old, wanted, got = sides
    differs = wanted is not None and _text(wanted, path) != _text(got, path)
    changed = not path.startswith("reply") and _text(old, path) != _text(got, path)
    left = tokens(wanted, path, got, place) if wanted is not None else ()
    return FieldRow(
        path=path.removeprefix("observation."),
        before=tokens(old, path, old, place) if not path.startswith("reply") else (),
        expected=left,
        observed=tokens(got, path, wanted if wanted is not None else got, place),
        kind="differs" if differs else "changed" if changed else "same",
    )


def _text(values: Mapping[str, Json], path: str) -> str | None:
    return canonical.text(values[path]) if path in values else None


def tokens(
    values: Mapping[str, Json], path: str, other: Mapping[str, Json], place: ValuePlace
) -> tuple[Token, ...]:
    """One side of a field as pieces; those that the other side does not have are marked. Of lists
    with the same members the order differs: they are marked as a whole."""
    if path not in values:
        return (Token(ABSENT, path in other),)
    value, against = values[path], other.get(path)
    whole = _text(values, path) != _text(other, path)
    lists = isinstance(value, list) and isinstance(against, list) and value
    if not lists or place.sequence or place.is_map or (whole and _alike(value, against)):
        return (Token(show(value, place), whole),)
    assert isinstance(value, list) and isinstance(against, list)
    return tuple(_items(value, against, place))


def _alike(value: Json, against: Json) -> bool:
    """Whether two lists have the same members."""
    assert isinstance(value, list) and isinstance(against, list)
    return {*map(canonical.text, value)} == {*map(canonical.text, against)}


def _items(value: Sequence[Json], against: Sequence[Json], place: ValuePlace) -> Iterator[Token]:
    held = {canonical.text(item) for item in against}
    left, right = brackets(place)
    yield Token(left)
    for position, item in enumerate(value):
        if position:
            yield Token(", ")
        yield Token(show_item(item, place), canonical.text(item) not in held)
    yield Token(right)
