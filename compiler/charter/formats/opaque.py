"""Says of which type each opaque value is in a reply, an observation or a state.

Values of different types are never compared, so labels count by type (docs/formats/vector.md). For
most charters there is nothing to tell apart: they have one opaque counter at most, and one type of
opaque values without order.

The places of a type that can hold opaque values are planned once, and only these are visited. What
cannot hold any, or is not of its type, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.types import DeclaredType, JudgedTypes

MARKS = ("@", "~", "#")
"""How an opaque value begins: as received, ordered or not, or as a label."""

Change = Callable[[str, str], str]
"""From the name of a type and an opaque value to what takes its place."""


class HasPlaces(Protocol):
    """The places of a type that can hold opaque values."""

    def change(self, value: Json, change: Change) -> Json:
        """A value of the type with its opaque values changed."""


Places = HasPlaces | None
"""None for a type that has no such places."""

Variables = Mapping[str, Places]
"""Where the opaque values of each variable, or of the reply of each operation, are."""


@dataclass(frozen=True, slots=True)
class OpaqueTypes:
    """Where opaque values are; anywhere in what is not mentioned here. If they `differ`, there are
    several types, and labels depend on where a value is; else all values are of the type ""."""

    replies: Variables = field(default_factory=dict)
    observes: Variables = field(default_factory=dict)
    state: Variables = field(default_factory=dict)
    differ: bool = False

    @staticmethod
    def of(types: JudgedTypes | None) -> OpaqueTypes:
        """Those of a suite."""
        if types is None:
            return OpaqueTypes()
        planning = Planning(types.named, differ=bool(types.state))
        replies, observes, state = (
            {name: places_in(kind, planning) for name, kind in each.items()}
            for each in (types.replies, types.observes, types.state)
        )
        return OpaqueTypes(replies, observes, state, planning.differ)

    def reply(self, operation: str, value: Json, change: Change) -> Json:
        """The reply of an operation with its opaque values changed, in the order of a traversal
        with sorted keys."""
        places = self.replies.get(operation, ALL_TEXTS)
        return value if places is None else places.change(value, change)

    def observation(self, value: Json, change: Change) -> Json:
        """As `reply`, for an observation."""
        return _change_variables(self.observes, value, change)

    def whole(self, value: Json, change: Change) -> Json:
        """As `reply`, for all variables of a state."""
        return _change_variables(self.state, value, change)


def _change_variables(variables: Variables, value: Json, change: Change) -> Json:
    if not isinstance(value, dict):
        return ALL_TEXTS.change(value, change)
    changed = dict(value)
    for name in sorted(value):
        places = variables.get(name, ALL_TEXTS)
        if places is not None:
            changed[name] = places.change(value[name], change)
    return changed


@dataclass(frozen=True, slots=True)
class Planning:
    """The types that have names, and whether values of different types `differ`: then sets and
    maps are sorted after a change, since values of two types may have decided on their order."""

    named: Mapping[str, DeclaredType]
    differ: bool


def places_in(shape: DeclaredType, planning: Planning) -> Places:
    """The places of a type."""
    match shape.kind:
        case "name":
            (name,) = shape.names
            inner = planning.named[name]
            if inner.kind in ("ordered", "opaque"):
                return _Value(name if planning.differ else "")
            return places_in(inner, planning)
        case "option":
            return places_in(shape.parts[0][1], planning)
        case "ordered" | "opaque":
            return _Value("")
        case "record":
            fields = ((name, places_in(part, planning)) for name, part in sorted(shape.parts))
            held = tuple((name, places) for name, places in fields if places is not None)
            return _Record(held) if held else None
        case "union":
            cases = {name: places_in(part, planning) for name, part in shape.parts}
            return _Union(cases) if any(cases.values()) else None
        case "list" | "set":
            inside = places_in(shape.parts[0][1], planning)
            is_sorted = planning.differ and shape.kind == "set"
            return None if inside is None else _EachItem(inside, is_sorted)
        case "map":
            keys, values = (places_in(part, planning) for _, part in shape.parts)
            return _Map(keys, values, planning.differ) if keys or values else None
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Value:
    """An opaque value of the type `kind`."""

    kind: str

    def change(self, value: Json, change: Change) -> Json:
        if isinstance(value, str) and value[:1] in MARKS:
            return change(self.kind, value)
        return value


@dataclass(frozen=True, slots=True)
class _Record:
    """The fields of an object that hold opaque values, sorted by name."""

    fields: tuple[tuple[str, HasPlaces], ...]

    def change(self, value: Json, change: Change) -> Json:
        if not isinstance(value, dict):
            return value
        return change_fields(value, self.fields, change)


@dataclass(frozen=True, slots=True)
class _Union:
    """The places of each case."""

    cases: Mapping[str, Places]

    def change(self, value: Json, change: Change) -> Json:
        if not isinstance(value, dict):
            return value
        places = self.cases.get(str(value.get("case")))
        return value if places is None else places.change(value, change)


@dataclass(frozen=True, slots=True)
class _EachItem:
    """The places in each item of a list or set."""

    inside: HasPlaces
    is_sorted: bool

    def change(self, value: Json, change: Change) -> Json:
        if not isinstance(value, list):
            return value
        changed = [self.inside.change(item, change) for item in value]
        return _in_order(changed) if self.is_sorted else changed


@dataclass(frozen=True, slots=True)
class _Map:
    """The places in keys and values of a map: an object, or an array of pairs."""

    keys: Places
    values: Places
    is_sorted: bool

    def change(self, value: Json, change: Change) -> Json:
        if isinstance(value, dict):
            held = self.values
            if held is None:
                return value
            entries = dict(value)
            for name in sorted(value):
                if (item := value[name]) is not None:
                    entries[name] = held.change(item, change)
            return entries
        if not isinstance(value, list):
            return value
        changed: list[Json] = [self._pair(pair, change) for pair in value]
        return _in_order(changed) if self.is_sorted else changed

    def _pair(self, pair: Json, change: Change) -> Json:
        if not isinstance(pair, list):
            return pair
        parts = zip(pair, (self.keys, self.values), strict=False)
        return [item if part is None else part.change(item, change) for item, part in parts]


class _AllTexts:
    """The places in a value of an unknown type: all texts."""

    __slots__ = ()

    def change(self, value: Json, change: Change) -> Json:
        if isinstance(value, str):
            return change("", value) if value[:1] in MARKS else value
        if isinstance(value, dict):
            return change_fields(value, ((name, self) for name in sorted(value)), change)
        if isinstance(value, list):
            return [self.change(item, change) for item in value]
        return value


ALL_TEXTS = _AllTexts()


def change_fields(
    value: Mapping[str, Json], fields: Iterable[tuple[str, Places]], change: Change
) -> dict[str, Json]:
    """An object with the opaque values in these fields changed, in this order; each stays where it
    was in the object."""
    changed = dict(value)
    for name, places in fields:
        if places is not None and name in value:
            changed[name] = places.change(value[name], change)
    return changed


def _in_order(items: list[Json]) -> list[Json]:
    """The changed elements of a set or map: numbers of two types, which mean nothing to each other,
    may have decided on their order."""
    return sorted(items, key=canonical.order_key)
