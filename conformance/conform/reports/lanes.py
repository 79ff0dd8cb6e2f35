"""Lanes of a picture: the elements of one sort, with the marks that a state puts on each.

Independent of the protocol. A scalar that is an element's name marks that lane (`leader`); an array
of names marks each of them (`isr`); a true field of a record stored under an element's key marks
that element (`fenced`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from charter.formats.canonical import Json

ONE, MANY, FLAG = "one", "many", "flag"
_KINDS = (ONE, MANY, FLAG)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the state that marks lanes: its path and its name."""

    scope: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of one field on one lane."""

    field: Field
    lane: str


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes of a vector and the fields that mark them, in drawing order. `steady` fields mark
    the same lanes in every state; they are listed as text, not drawn."""

    names: tuple[str, ...]
    fields: tuple[Field, ...]
    steady: tuple[tuple[Field, tuple[str, ...]], ...] = ()

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
        return frozenset(mark for mark in _marks(state, set(self.names)) if mark.field in drawn)


def lanes(
    states: Sequence[Json], sorts: Mapping[str, Collection[str]], ordered: frozenset[str]
) -> Lanes | None:
    """The lanes of some states: the sort whose elements occur most often; None if no element
    occurs."""
    most: tuple[int, list[set[Mark]], Sequence[str]] = (0, [], ())
    for names in sorts.values():
        found = [set(_marks(state, set(names))) for state in states]
        count = sum(mark.field.kind != FLAG for marks in found for mark in marks)
        if count > most[0]:
            most = (count, found, sorted(names))
    count, found, drawn = most
    if not count:
        return None
    fields = Counter(mark.field for marks in found for mark in marks)
    steady = {field: held for field in fields if (held := _steady(field, found, ordered, drawn))}
    kept = [field for field in fields if field not in steady]
    return Lanes(tuple(drawn), tuple(sorted(kept, key=_place)), tuple(sorted(
        steady.items(), key=lambda item: _place(item[0]))))  # fmt: skip


def _place(field: Field) -> tuple[int, int, str, str]:
    return _KINDS.index(field.kind), len(field.name), field.name, field.scope


def _steady(
    field: Field, found: Sequence[set[Mark]], ordered: frozenset[str], names: Sequence[str]
) -> tuple[str, ...]:
    """The lanes that a field marks, if it is steady: the same in all states with its scope, and
    either an order or all lanes. Else empty."""
    held = {
        tuple(sorted(mark.lane for mark in marks if mark.field == field))
        for marks in found
        if any(mark.field.scope == field.scope for mark in marks)
    }
    if len(held) != 1:
        return ()
    (only,) = held
    return only if field.name in ordered or len(only) == len(names) else ()


def _marks(state: Json, names: set[str]) -> Iterator[Mark]:
    yield from _walk(state, (), "", names)


def _walk(value: Json, path: tuple[str, ...], owner: str, names: set[str]) -> Iterator[Mark]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in names and not owner:
                yield from _walk(item, path, key, names)
            else:
                yield from _walk(item, (*path, key), owner, names)
    elif not path:
        return
    elif owner:
        if value is True:
            yield Mark(_field(path, FLAG), owner)
    elif isinstance(value, str) and value in names:
        yield Mark(_field(path, ONE), value)
    elif isinstance(value, list):
        held = [item for item in value if isinstance(item, str) and item in names]
        for item in held if len(held) == len(value) else ():
            yield Mark(_field(path, MANY), item)


def _field(path: tuple[str, ...], kind: str) -> Field:
    return Field(".".join(path[:-1]), path[-1], kind)
