"""Makes questions from traces; values that an implementation allots become references to its
observations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from charter.core import types as t
from charter.core.nodes import Model, Value
from charter.formats.canonical import Json, text
from charter.formats.vector import Delta, OperationCall, Question
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.retell import Act
from charter.semantics.values import to_json

ELEMENT_IDS = (0, 1, 2, 3, 5, 7, 42, 1000, 65_536, 1_000_003, 2_147_483_646)
"""Concrete ids for elements of sorts, 0 and large ones included."""


class NoQuestion(Exception):
    """The trace needs a value that the implementation chooses and does not show."""


@dataclass(frozen=True, slots=True)
class CounterAt:
    """A counter or opaque value at a path of an observation, with the path of its type."""

    kind: t.Counter
    value: int
    path: tuple[str | int, ...]


def places(
    kind: t.Type, value: Value, machine: Machine, path: tuple[str | int, ...] = ()
) -> Iterator[CounterAt]:
    """Every counter inside `value` that a path of its JSON can name (members of sets cannot)."""
    universe = machine.universe
    match kind, value:
        case t.Counter(), int():
            yield CounterAt(kind, value, path)
        case t.Option(inner=inner), _ if value is not None:
            yield from places(inner, value, machine, path)
        case t.Record(fields=fields), tuple():
            for (name, part), item in zip(fields, value, strict=True):
                yield from places(part, item, machine, (*path, name))
        case t.Map(key=t.Sort() | t.Enum() as key, value=inner), tuple():
            for k, item in zip(universe.domain(key), value, strict=True):
                yield from places(inner, item, machine, (*path, str(to_json(key, k, universe))))
        case t.Seq(inner=inner) | t.Ranking(inner=inner), tuple():
            for position, item in enumerate(value):
                yield from places(inner, item, machine, (*path, position))
        case _:
            pass


def observed_places(machine: Machine, state: State) -> list[CounterAt]:
    """The places of everything that the widest level of observables shows whole."""
    assert machine.component is not None
    whole = {
        o.path[0] for o in machine.component.observables if o.mode != "ignored" and len(o.path) == 1
    }
    found: list[CounterAt] = []
    for variable in machine.variables:
        if variable.name in whole:
            found.extend(places(variable.type, state[variable.name], machine, (variable.name,)))
    return found


Shown = Callable[[State], list[CounterAt]]
"""`observed_places`, or a cached version of it."""


def ask(
    model: Model,
    machine: Machine,
    trace: Sequence[tuple[State, Act]],
    given: Json,
    shown: Shown | None = None,
) -> Question:
    """The question of `trace`: each act with the state before it. `given` is the given state for
    the first one."""
    seen: list[list[CounterAt]] = []
    calls: list[OperationCall] = []
    for state, (operation, args) in trace:
        seen.append(shown(state) if shown else observed_places(machine, state))
        params = machine.operations[operation].params
        built = {
            p.name: _argument(p.type, value, seen, machine)
            for p, value in zip(params, args, strict=True)
        }
        calls.append(OperationCall(operation, built))
    assert machine.component is not None
    seed = text([given, [call.json() for call in calls]])
    return Question(
        protocol=model.protocol,
        variant=model.variant,
        component=machine.component.name,
        sorts=concrete_ids(machine.universe.sorts, seed),
        given=given,
        operations=tuple(calls),
        delta=_delta(len(calls), seed),
    )


def _argument(kind: t.Type, value: Value, seen: list[list[CounterAt]], machine: Machine) -> Json:
    match kind, value:
        case t.Counter(), int():
            return _counter(kind, value, seen, machine)
        case t.Option(inner=inner), _ if value is not None:
            return _argument(inner, value, seen, machine)
        case t.Record(fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            return {name: _argument(part, item, seen, machine) for (name, part), item in pairs}
        case t.Map(key=t.Sort() | t.Enum() as key, value=inner), tuple():
            keys = (to_json(key, k, machine.universe) for k in machine.universe.domain(key))
            pairs_of = zip(keys, value, strict=True)
            return {str(k): _argument(inner, item, seen, machine) for k, item in pairs_of}
        case (t.Seq() | t.Ranking()) as listed, tuple():
            return [_argument(listed.inner, item, seen, machine) for item in value]
        case t.Set(inner=inner), frozenset() if isinstance(inner, t.Record | t.Counter):
            members = [_argument(inner, item, seen, machine) for item in value]
            return sorted(members, key=text)
        case _:
            return to_json(kind, value, machine.universe)


def _counter(kind: t.Counter, value: int, seen: list[list[CounterAt]], machine: Machine) -> Json:
    """A reference to the newest observation that shows the value; else a difference to another
    value of the type, a literal, or (if implementations choose the values) a value that was never
    issued."""
    for step in range(len(seen) - 1, -1, -1):
        for place in seen[step]:
            if place.kind == kind and place.value == value:
                return {"ref": [step, *place.path]}
    if kind.opaque:
        issued = [p.value for shown in seen for p in shown if p.kind == kind]
        if not kind.ordered or value > max(issued, default=-1):
            return {"never_issued": True}
        # A value from the given state or an older one: any such number will do.
        if len(seen) == 1 or value < min((p.value for p in seen[0] if p.kind == kind), default=0):
            return to_json(kind, value, machine.universe)
        raise NoQuestion(f"no observation shows {kind.name} {value}")
    for place in seen[-1]:
        if place.kind == kind:
            return {"ref": [len(seen) - 1, *place.path], "plus": value - place.value}
    return to_json(kind, value, machine.universe)


def concrete_ids(sorts: Mapping[str, tuple[str, ...]], seed: str) -> dict[str, dict[str, int]]:
    """Ids for the elements of every sort: a permutation of ELEMENT_IDS that `seed` decides."""

    def rank(sort: str, number: int) -> bytes:
        return hashlib.sha256(f"{seed}/{sort}/{number}".encode()).digest()

    return {
        sort: dict(
            zip(
                names,
                islice(sorted(ELEMENT_IDS, key=lambda n: rank(sort, n)), len(names)),
                strict=True,
            )
        )
        for sort, names in sorts.items()
    }


def _delta(steps: int, seed: str) -> Delta:
    """Most questions read the image after each step; one in four only after the last."""
    spread = hashlib.sha256(f"{seed}/delta".encode()).digest()[0]
    return (steps,) if steps > 1 and spread % 4 == 0 else "each"
