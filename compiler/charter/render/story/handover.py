"""Finds data that passes from one lane to another without a channel.

Not every system has channels for all that its parts say: a request may lie in a map until an answer
replaces it, a record in a sequence until somebody reads it. Where one lane changes such a place of
the system's own state after another lane did, what lay there went from the other to the one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.evaluate import State
from charter.semantics.machine import Machine
from charter.semantics.retell import RetoldStep, keys_of

Place = tuple[str, tuple[Value, ...]]
"""A channel or a variable of the system, and the keys: where a message lies."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What an event on the lane `sender` left in a place, for whoever took it."""

    place: Place
    type: t.Type
    value: Value
    sender: int
    sent: int


@dataclass(slots=True)
class Handovers:
    """The places of a system's own state while its steps go by."""

    machine: Machine
    system: n.System | None
    initial: State
    changed: dict[Place, tuple[int, int]] = field(default_factory=dict)

    def taken(self, number: int, lane: int, step: RetoldStep, before: State) -> tuple[Handed, ...]:
        """What the event of that number, on that lane, takes of what others left. `before` is the
        state that it begins in."""
        found: list[Handed] = []
        places = (self._place(change.variable, change.keys) for change in step.changes)
        for place in dict.fromkeys(place for place in places if place is not None):
            kind, old = self._lies(place, before)
            took = _taken(kind, old, self._lies(place, step.state)[1])
            sender, sent = self.changed.get(place, (lane, number))
            if sender != lane and took is not None and old != self._lies(place, self.initial)[1]:
                found.append(Handed(place, kind, took, sender, sent))
            self.changed[place] = lane, number
        return tuple(found)

    def _place(self, variable: str, keys: tuple[Value, ...]) -> Place | None:
        """Where a change is, if it is in the system's own state behind keys."""
        own = self.system is not None and "." not in variable
        if self.system is None or not own or variable in self.system.channels:
            return None
        depth = len(keys_of(self.machine, variable))
        return (variable, keys[:depth]) if 0 < depth <= len(keys) else None

    def _lies(self, place: Place, state: State) -> tuple[t.Type, Value]:
        """What lies in a place, and its type."""
        name, keys = place
        kind = next(v.type for v in self.machine.variables if v.name == name)
        value = state[name]
        for key in keys:
            assert isinstance(kind, t.Map) and isinstance(value, tuple)
            value = value[self.machine.universe.domain(kind.key).index(key)]
            kind = kind.value
        return kind, value


def _taken(kind: t.Type, old: Value, new: Value) -> Value:
    """What of the old value somebody took who left the new one; None: nothing."""
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
