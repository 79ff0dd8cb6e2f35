"""Draws the arguments of an operation in a state that was observed.

Counters and opaque values are references to what the target showed: mostly to what it shows now,
under a key that the same arguments name (the epoch of the broker that asks), else to another value
or an older one, or to a value that was never issued. A list of arguments has at most one of those,
as where states are explored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.types import DeclaredType
from conform.walks.offered import Offered, OfferedWorld
from conform.walks.places import SeenPlace, SeenValues

FOREIGN_SHARE = 0.25
"""The probability that an argument list may have a foreign counter."""
_ABSENT_SHARE = 0.25
"""The probability that an optional value is absent."""
_ITEMS = 3
"""The most items of a list or set that has no small domain."""

Elements = frozenset[str]
"""The elements that an argument list names."""
Fields = Sequence[tuple[str, DeclaredType]]


@dataclass(slots=True)
class ArgumentDrawer:
    """Draws the arguments of one operation. `foreign`: a counter may still be a foreign one."""

    offered: Offered
    world: OfferedWorld
    seen: SeenValues
    chance: Random
    foreign: bool = False

    def draw(self, operation: str) -> dict[str, Json]:
        """An argument list, with references."""
        self.foreign = self.chance.random() < FOREIGN_SHARE
        return self._fields(self.offered.params[operation], frozenset())

    def _fields(self, parts: Fields, elements: Elements) -> dict[str, Json]:
        """The fields of a record: those with counters last, since the others say which values are
        current."""
        drawn: dict[str, Json] = {}
        counted = [part for part in parts if self.offered.holds_counter(part[1])]
        for name, kind in parts:
            if (name, kind) not in counted:
                value = drawn[name] = self._value(kind, elements)
                if isinstance(value, str):
                    elements |= {value}
        for name, kind in counted:
            drawn[name] = self._value(kind, elements)
        return {name: drawn[name] for name, _ in parts}

    def _value(self, kind: DeclaredType, elements: Elements) -> Json:
        counter = self.offered.counter(kind)
        if counter is not None:
            return self._counter(*counter, elements)
        kind = self.offered.strip(kind)
        match kind.kind:
            case "option":
                absent = self.chance.random() < _ABSENT_SHARE
                return None if absent else self._value(kind.parts[0][1], elements)
            case "record":
                return self._fields(kind.parts, elements)
            case "union":
                case, held = self.chance.choice(kind.parts)
                return {"case": case, **self._fields(held.parts, elements)}
            case "set" | "list":
                return self._items(kind, elements)
            case "map":
                return self._map(kind, elements)
            case "int":
                low, high = (self.world.read_limit(limit) for limit in kind.names)
                return self.chance.randint(low, max(low, high))
            case _:
                return self.chance.choice(self._domain(kind))

    def _domain(self, kind: DeclaredType) -> Sequence[Json]:
        """The values of a small type; none of another."""
        kind = self.offered.strip(kind)
        match kind.kind:
            case "bool":
                return (False, True)
            case "enum":
                return kind.names
            case "sort":
                return self.world.sorts[kind.names[0]]
            case "int" if kind.names:
                low, high = (self.world.read_limit(limit) for limit in kind.names)
                return range(low, high + 1)
            case _:
                return ()

    def _items(self, kind: DeclaredType, elements: Elements) -> Json:
        ((_, inner),) = kind.parts
        domain, size = self._domain(inner), self.chance.randint(0, _ITEMS)
        if kind.kind == "set" and domain:
            kept = self.chance.choice((0.25, 0.5, 0.75, 1.0))
            return [value for value in domain if self.chance.random() < kept]
        if kind.names == ("distinct",) and domain:
            most = self.chance.randint(0, len(domain))
            return self.chance.sample(list(domain), most)
        if kind.kind == "list" and kind.names and kind.names != ("distinct",):
            size = self.chance.randint(0, max(0, self.world.read_limit(kind.names[0])))
        items = [self._value(inner, elements) for _ in range(size)]
        if kind.kind == "list" and kind.names != ("distinct",):
            return items
        unique = {canonical.text(item): item for item in items}
        return [unique[text] for text in sorted(unique)] if kind.kind == "set" else [
            *unique.values()
        ]  # fmt: skip

    def _map(self, kind: DeclaredType, elements: Elements) -> Json:
        (_, key), (_, inner) = kind.parts
        shape = self.offered.strip(key)
        names = self._domain(key)
        optional = self.offered.strip(inner).kind == "option"
        if optional and self.offered.holds_counter(inner) and self.chance.random() < 0.5:
            inner = self.offered.strip(inner).parts[0][1]  # all are present, as far as known
            drawn = [self._draw_shown(inner, elements | {str(name)}) for name in names]
        else:
            drawn = [self._value(inner, elements | {str(name)}) for name in names]
        if shape.kind == "bool":
            return dict(zip(("false", "true"), drawn, strict=True))
        if shape.kind in ("sort", "enum"):
            return {str(name): value for name, value in zip(names, drawn, strict=True)}
        return [[name, value] for name, value in zip(names, drawn, strict=True)]

    def _draw_shown(self, kind: DeclaredType, elements: Elements) -> Json:
        """A value, or none where it is a counter that the target does not show under the key."""
        counter = self.offered.counter(kind)
        if counter is None:
            return self._value(kind, elements)
        fitting = [p for p in self.seen.current.get(counter[0], ()) if p.shown.keys & elements]
        return self._counter(*counter, elements) if fitting else None

    def _counter(self, name: str, chosen: bool, elements: Elements) -> Json:
        """A counter; `chosen`: implementations choose its values."""
        current = self.seen.current.get(name, ())
        most = max((len(place.shown.keys & elements) for place in current), default=0)
        fitting = [place for place in current if len(place.shown.keys & elements) == most]
        if fitting and not (self.foreign and self.chance.random() < 0.5):
            return self._pick(fitting).refer()
        self.foreign = False
        others = [place for place in current if place not in fitting]
        kinds = [others, self.seen.list_older(name), []]
        places = self.chance.choice([kind for kind in kinds if kind or kind is kinds[-1]])
        if places:
            return self._pick(places).refer()
        return {"never_issued": True} if chosen else self._near(fitting)

    def _near(self, fitting: Sequence[SeenPlace]) -> Json:
        """A number next to one that is shown; without one, a small number."""
        if not fitting:
            return self.chance.randint(0, 1)
        place = self._pick(fitting)
        value = place.shown.value
        fewer = isinstance(value, int) and value > 0
        return place.refer(self.chance.choice((1, -1)) if fewer else 1)

    def _pick(self, places: Iterable[SeenPlace]) -> SeenPlace:
        """One of the places: each value is as probable as the others."""
        distinct: dict[str, SeenPlace] = {}
        for place in places:
            distinct.setdefault(str(place.shown.value), place)
        return self.chance.choice([*distinct.values()])
