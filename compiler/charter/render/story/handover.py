"""Finds data that passes from one lane to another without a channel.

A system may pass data in its own state: a request is kept in a map until an answer replaces it, a
record in a sequence until it is read. If one lane changes such an entry after another lane did, the
old content is drawn as a message between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.analysis.retell import RetoldStep, keys_of
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

Place = tuple[str, tuple[Value, ...]]
"""An entry of a channel or of a variable of the system: the name, and the keys."""


@dataclass(frozen=True, slots=True)
class Handed:
    """Data that an event on the lane `sender` wrote to an entry and a later event took."""

    place: Place
    type: t.Type
    value: Value
    sender: int
    sent: int


@dataclass(slots=True)
class Handovers:
    """Follows the entries of a system's own state through its steps."""

    machine: Machine
    system: n.System | None
    initial: State
    changed: dict[Place, tuple[int, int]] = field(default_factory=dict)

    def find_taken(
        self, number: int, lane: int, step: RetoldStep, before: State
    ) -> tuple[Handed, ...]:
        """The data that an event takes from entries that other lanes wrote. `before` is the state
        before it."""
        found: list[Handed] = []
        places = (self._place(change.variable, change.keys) for change in step.changes)
        for place in dict.fromkeys(place for place in places if place is not None):
            kind, old = self._lies(place, before)
            took = _find_taken(kind, old, self._lies(place, step.state)[1])
            sender, sent = self.changed.get(place, (lane, number))
            if sender != lane and took is not None and old != self._lies(place, self.initial)[1]:
                found.append(Handed(place, kind, took, sender, sent))
            self.changed[place] = lane, number
        return tuple(found)

    def _place(self, variable: str, keys: tuple[Value, ...]) -> Place | None:
        """The entry of a change, if it is in a map of the system's own state."""
        own = self.system is not None and "." not in variable
        if self.system is None or not own or variable in self.system.channels:
            return None
        depth = len(keys_of(self.machine, variable))
        return (variable, keys[:depth]) if 0 < depth <= len(keys) else None

    def _lies(self, place: Place, state: State) -> tuple[t.Type, Value]:
        """The type and the value of an entry."""
        name, keys = place
        kind = next(v.type for v in self.machine.variables if v.name == name)
        value = state[name]
        for key in keys:
            assert isinstance(kind, t.Map) and isinstance(value, tuple)
            value = value[self.machine.universe.domain(kind.key).index(key)]
            kind = kind.value
        return kind, value


def _find_taken(kind: t.Type, old: Value, new: Value) -> Value:
    """The part of the old value that is no longer in the new one; None if there is none."""
    match kind, old, new:
        case t.Seq(), tuple(), tuple():
            rest = len(old) - len(new)
            if rest > 0 and old[rest:] == new:
                return old[:rest]
            return tuple(item for item in old if item not in new) or None
        case t.Set(), frozenset(), frozenset():
            return old - new or None
        case t.Union() | t.Option() | t.Record(), _, _:
            return old
        case _:
            return None
