"""Lanes of a picture: the elements of one sort, with the marks that a state puts on each.

Independent of the protocol. A scalar that is an element's name marks that lane (`leader`); an array
of names marks each of them (`isr`), with their positions if it is a sequence; a true field of a
record stored under an element's key marks that element (`fenced`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from charter.formats.canonical import Json
from conform.judging.places import UNKNOWN, ValuePlace

ONE, MANY, ROW, FLAG = "one", "many", "row", "flag"
_KINDS = (ONE, MANY, ROW, FLAG)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the state that marks lanes: its path and its name. `kind`: it is one element, a
    set (`MANY`), a sequence (`ROW`, also if it may be a set), or a truth value of an element."""

    scope: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of one field on one lane; in a sequence with the positions of the element, from 1."""

    field: Field
    lane: str
    at: tuple[int, ...] = ()

    @property
    def told(self) -> str:
        """The positions in words; "" if there are none."""
        return f"at {' and '.join(map(str, self.at))}" if self.at else ""


def in_order(marks: Iterable[Mark]) -> tuple[str, ...]:
    """The lanes of the marks of one field, those of a sequence by their positions."""
    places = [(at, mark.lane) for mark in marks for at in (mark.at or (0,))]
    return tuple(lane for _, lane in sorted(places))


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes of a vector and the fields that mark them, in drawing order. `steady` fields mark
    the same lanes in every state; they are listed as text, not drawn. `place` is that of a
    state."""

    names: tuple[str, ...]
    fields: tuple[Field, ...]
    steady: tuple[tuple[Field, tuple[str, ...]], ...] = ()
    place: ValuePlace = UNKNOWN

    def label(self, field: Field) -> str:
        """The field's name, with its scope if another field has the same name."""
        alike = sum(other.name == field.name for other in self.fields)
        return f"{field.scope.rpartition('.')[2]}.{field.name}" if alike > 1 else field.name

    def draws(self, path: str) -> bool:
        """Whether the value at a path of the state is shown as marks, or as a steady field."""
        bare = ".".join(part for part in path.split(".") if part not in self.names)
        fields = (*self.fields, *(field for field, _ in self.steady))
        return any(bare == f"{field.scope}.{field.name}".lstrip(".") for field in fields)

    def marks(self, state: Json) -> frozenset[Mark]:
        """All marks of a state."""
        drawn = set(self.fields)
        found = _marks(state, set(self.names), self.place)
        return frozenset(mark for mark in found if mark.field in drawn)


def lanes(
    states: Sequence[Json], sorts: Mapping[str, Collection[str]], place: ValuePlace = UNKNOWN
) -> Lanes | None:
    """The lanes of some states: the sort whose elements occur most often; None if no element
    occurs."""
    most: tuple[int, list[set[Mark]], Sequence[str]] = (0, [], ())
    for names in sorts.values():
        found = [set(_marks(state, set(names), place)) for state in states]
        count = sum(mark.field.kind != FLAG for marks in found for mark in marks)
        if count > most[0]:
            most = (count, found, sorted(names))
    count, found, drawn = most
    if not count:
        return None
    fields = Counter(mark.field for marks in found for mark in marks)
    steady = {field: held for field in fields if (held := _steady(field, found, drawn))}
    kept = [field for field in fields if field not in steady]
    listed = sorted(steady.items(), key=lambda item: _rank(item[0]))
    return Lanes(tuple(drawn), tuple(sorted(kept, key=_rank)), tuple(listed), place)


def _rank(field: Field) -> tuple[int, int, str, str]:
    return _KINDS.index(field.kind), len(field.name), field.name, field.scope


def _steady(field: Field, found: Sequence[set[Mark]], names: Sequence[str]) -> tuple[str, ...]:
    """The lanes that a field marks, if it is steady: the same in all states with its scope, and
    either an order or all lanes. Else empty."""
    held = {
        in_order(mark for mark in marks if mark.field == field)
        for marks in found
        if any(mark.field.scope == field.scope for mark in marks)
    }
    if len(held) != 1:
        return ()
    (only,) = held
    return only if field.kind == ROW or len(only) == len(names) else ()


def _marks(state: Json, names: set[str], place: ValuePlace) -> Iterator[Mark]:
    yield from _walk(state, (), ("", place), names)


def _walk(
    value: Json, path: tuple[str, ...], inside: tuple[str, ValuePlace], names: set[str]
) -> Iterator[Mark]:
    """The marks of a value; `inside` is the element that it belongs to, and its place."""
    owner, place = inside
    if isinstance(value, dict):
        for key, item in value.items():
            below = place.at(key, value)
            if key in names and not owner:
                yield from _walk(item, path, (key, below), names)
            else:
                yield from _walk(item, (*path, key), (owner, below), names)
    elif not path:
        return
    elif owner:
        if value is True:
            yield Mark(_field(path, FLAG), owner)
    elif isinstance(value, str) and value in names:
        yield Mark(_field(path, ONE), value)
    elif isinstance(value, list):
        held = [item for item in value if isinstance(item, str) and item in names]
        if len(held) == len(value):
            yield from _members(held, _field(path, MANY if place.sequence is False else ROW))


def _members(held: Sequence[str], field: Field) -> Iterator[Mark]:
    """The marks of a list of elements."""
    for item in dict.fromkeys(held):
        places = tuple(at for at, other in enumerate(held, 1) if other == item)
        yield Mark(field, item, places if field.kind == ROW else ())


def _field(path: tuple[str, ...], kind: str) -> Field:
    return Field(".".join(path[:-1]), path[-1], kind)
