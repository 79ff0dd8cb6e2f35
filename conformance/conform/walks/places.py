"""Lists the counters and opaque values that a walk has seen, with the places that references name.

All values are relabelled (charter.formats.labels), so that no choice depends on what a target
happened to allot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from charter.formats.canonical import Json
from charter.formats.resolve import REPLY, Path
from charter.formats.types import JudgedTypes

_OLDER_VALUES_MAX = 8
"""The most older values of a type that are remembered, the newest."""
_MEMORY = 20_000
"""Texts in a full cache."""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A relabelled value of a counter, and its path in an observation or a reply. `keys` are the
    texts on the path: keys of maps are elements."""

    kind: str
    value: Json
    path: Path
    keys: frozenset[str]


class SeenPlace(NamedTuple):
    """A value at a place that a reference can name."""

    shown: ShownValue
    step: int
    in_reply: bool = False

    def refer(self, plus: int = 0) -> dict[str, Json]:
        """A reference to the value, or to one that is `plus` more."""
        reference: dict[str, Json] = {"ref": [self.step, *self.shown.path]}
        if self.in_reply:
            reference["in"] = REPLY
        return {**reference, "plus": plus} if plus else reference


@dataclass(slots=True)
class ValueFinder:
    """Finds values in relabelled observations and replies, once for equal texts."""

    types: JudgedTypes
    known: dict[tuple[str, bytes], tuple[ShownValue, ...]] = field(default_factory=dict)

    def find_observed(self, text: bytes) -> tuple[ShownValue, ...]:
        """The values in an observation."""
        return self._find("", text)

    def find_replied(self, operation: str, text: bytes) -> tuple[ShownValue, ...]:
        """The values in the reply of an operation."""
        return self._find(operation, text)

    def _find(self, operation: str, text: bytes) -> tuple[ShownValue, ...]:
        found = self.known.get((operation, text))
        if found is None:
            if len(self.known) > _MEMORY:
                self.known.clear()
            try:
                found = tuple(self._list(operation, orjson.loads(text)))
            except (KeyError, TypeError):  # it is not of its type, which the verdict says
                found = ()
            self.known[operation, text] = found
        return found

    def _list(self, operation: str, value: Json) -> Iterator[ShownValue]:
        if operation:
            shape = self.types.replies.get(operation)
            yield from _name(self.types.numbers(shape, value)) if shape else ()
            return
        for name, part in value.items() if isinstance(value, dict) else ():
            if name in self.types.observes:
                yield from _name(self.types.numbers(self.types.observes[name], part, (name,)))


def _name(numbers: Iterator[tuple[Path, str, Json]]) -> Iterator[ShownValue]:
    for path, kind, value in numbers:
        if kind != "int":
            yield ShownValue(kind, value, path, frozenset(str(part) for part in path))


class FittingPlaces(NamedTuple):
    """Where values of a counter are in the newest step, each value once, under the most of some
    elements. `are_named`: under one of them at least. `others` are not under as many."""

    places: Sequence[SeenPlace]
    are_named: bool
    others: Sequence[SeenPlace]


@dataclass(slots=True)
class SeenValues:
    """What one walk has seen: the current places by type, and older values by type. `found` are the
    places of counters that were looked for since the newest step, `gone` those of older values."""

    current: Mapping[str, Sequence[SeenPlace]] = field(default_factory=dict)
    older: dict[str, dict[str, SeenPlace]] = field(default_factory=dict)
    found: dict[tuple[str, frozenset[str]], FittingPlaces] = field(default_factory=dict)
    gone: dict[str, Sequence[SeenPlace]] = field(default_factory=dict)

    def add(
        self, step: int, observed: Sequence[ShownValue], replied: Sequence[ShownValue] = ()
    ) -> None:
        """Take what the newest step showed; what it does not show any more is older."""
        found: dict[str, list[SeenPlace]] = {}
        for shown in observed:
            found.setdefault(shown.kind, []).append(SeenPlace(shown, step))
        for shown in replied:
            found.setdefault(shown.kind, []).append(SeenPlace(shown, step, in_reply=True))
        for kind, places in self.current.items():
            known = self.older.setdefault(kind, {})
            now = {str(place.shown.value) for place in found.get(kind, ())}
            for place in places:
                text = str(place.shown.value)
                if text not in now:
                    known.pop(text, None)
                    known[text] = place
            while len(known) > _OLDER_VALUES_MAX:
                del known[next(iter(known))]
        self.current = found
        self.found.clear()
        self.gone.clear()

    def find_fitting(self, kind: str, elements: frozenset[str]) -> FittingPlaces:
        """The places of a counter that fit arguments which name these elements."""
        found = self.found.get((kind, elements))
        if found is None:
            found = self.found[kind, elements] = self._select_fitting(kind, elements)
        return found

    def list_foreign(self, kind: str, elements: frozenset[str]) -> list[Sequence[SeenPlace]]:
        """The other places in the newest step, and those of older values: each value once, each
        list only if it has any."""
        others = self.find_fitting(kind, elements).others
        older = self.gone.get(kind)
        if older is None:
            older = self.gone[kind] = self._list_older(kind)
        return [places for places in (others, older) if places]

    def _select_fitting(self, kind: str, elements: frozenset[str]) -> FittingPlaces:
        current = self.current.get(kind, ())
        counts = [len(place.shown.keys & elements) for place in current]
        most = max(counts, default=0)
        fitting, others = list[SeenPlace](), list[SeenPlace]()
        for place, count in zip(current, counts, strict=True):
            (fitting if count == most else others).append(place)
        return FittingPlaces(_list_distinct(fitting), most > 0, _list_distinct(others))

    def _list_older(self, kind: str) -> list[SeenPlace]:
        """Values of a type that the newest step does not show."""
        now = {str(place.shown.value) for place in self.current.get(kind, ())}
        return [place for text, place in self.older.get(kind, {}).items() if text not in now]


def _list_distinct(places: Iterable[SeenPlace]) -> list[SeenPlace]:
    """Each value once, so that it is as probable as the others."""
    distinct: dict[str, SeenPlace] = {}
    for place in places:
        distinct.setdefault(str(place.shown.value), place)
    return [*distinct.values()]
