"""Makes questions from traces; values that an implementation allots become references to its
observations or, where none shows them, to its replies."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from charter.analysis.retell import Act
from charter.core import types as t
from charter.core.nodes import Model, Value
from charter.formats.canonical import Json, text
from charter.formats.resolve import REPLY, History, Unresolved, look_up
from charter.formats.vector import Delta, OperationCall, Question, concrete_ids
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import to_json
from charter.vectors.answer import Outcomes


class NoQuestion(Exception):
    """The trace needs a value that the implementation chooses and shows nowhere."""


@dataclass(frozen=True, slots=True)
class CounterAt:
    """A counter or opaque value at a path of an observation or a reply."""

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
        case t.Union() as union, (str() as tag, *rest):
            for (name, part), item in zip(union.params(tag), rest, strict=True):
                yield from places(part, item, machine, (*path, name))
        case t.Map(key=t.Sort() | t.Enum() as key, value=inner), tuple():
            for k, item in zip(universe.domain(key), value, strict=True):
                yield from places(inner, item, machine, (*path, str(to_json(key, k, universe))))
        case t.Seq(inner=inner) | t.Ranking(inner=inner), tuple():
            for position, item in enumerate(value):
                yield from places(inner, item, machine, (*path, position))
        case _:
            pass


def list_observed_places(machine: Machine, state: State) -> list[CounterAt]:
    """The places of everything that the widest level of observables shows."""
    assert machine.component is not None
    shown = {o.path for o in machine.component.observables if o.mode != "ignored"}
    seen: History | None = None
    found: list[CounterAt] = []
    for variable in machine.variables:
        inside = places(variable.type, state[variable.name], machine, (variable.name,))
        if (variable.name,) in shown:
            found.extend(inside)
        elif any(path[0] == variable.name for path in shown):
            seen = seen or History((machine.observe(state),))
            found.extend(place for place in inside if _is_shown(place, seen))
    return found


def _is_shown(place: CounterAt, seen: History) -> bool:
    try:
        look_up({"ref": [0, *place.path]}, seen)
    except Unresolved:
        return False
    return True


Observed = Callable[[State], Sequence[CounterAt]]
"""`list_observed_places`, or a cached version of it."""


@dataclass(frozen=True, slots=True)
class Shows:
    """Where a target shows counters: in its observations and in its replies."""

    machine: Machine
    observed: Observed
    outcomes: Outcomes

    def list_reply_places(self, before: State, act: Act, after: State) -> Sequence[CounterAt]:
        """The places in the reply of an act; none if it may have several replies."""
        found = {o.reply for o in self.outcomes(before, *act) if o.state == after}
        if len(found) != 1:
            return ()
        return [*places(self.machine.reply_type(act[0]), found.pop(), self.machine)]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What comes before an operation of a trace. `observed` are the places in the observation of
    each step, the last one that of the state in which the operation is performed. `avoided` are
    references that no argument may use, `replies` has the places in replies that were computed."""

    shows: Shows
    trace: Sequence[tuple[State, Act]]
    observed: Sequence[Sequence[CounterAt]]
    avoided: Sequence[Json] = ()
    replies: dict[int, Sequence[CounterAt]] = field(default_factory=dict)

    def list_reply_places(self, step: int) -> Sequence[CounterAt]:
        """The places in the reply of a step."""
        if step and step not in self.replies:
            about = self.trace[step - 1], self.trace[step][0]
            self.replies[step] = self.shows.list_reply_places(*about[0], about[1])
        return self.replies[step] if step else ()

    def references(self, kind: t.Counter, value: int) -> Iterator[dict[str, Json]]:
        """Where a value of this type was shown: in observations, the newest first, then in
        replies."""
        for step in range(len(self.observed) - 1, -1, -1):
            for place in self.observed[step]:
                if place.kind == kind and place.value == value:
                    yield {"ref": [step, *place.path]}
        for step in range(len(self.observed) - 1, 0, -1):
            for place in self.list_reply_places(step):
                if place.kind == kind and place.value == value:
                    yield {"ref": [step, *place.path], "in": REPLY}


@dataclass(slots=True)
class Asking:
    """A question that is made operation by operation: each act with the state before it. No
    argument is one of the references `avoided`."""

    model: Model
    shows: Shows
    avoided: Sequence[Json] = ()
    trace: list[tuple[State, Act]] = field(default_factory=list)
    calls: list[OperationCall] = field(default_factory=list)
    observed: list[Sequence[CounterAt]] = field(default_factory=list)
    replies: dict[int, Sequence[CounterAt]] = field(default_factory=dict)

    def add(self, state: State, act: Act) -> None:
        """Add an operation. Raises NoQuestion, and adds nothing then."""
        operation, args = act
        self.trace.append((state, act))
        self.observed.append(self.shows.observed(state))
        earlier = Earlier(self.shows, self.trace, self.observed, self.avoided, self.replies)
        params = self.shows.machine.operations[operation].params
        try:
            built = {
                p.name: _argument(p.type, value, earlier)
                for p, value in zip(params, args, strict=True)
            }
        except NoQuestion:
            self.cut(len(self.calls))
            raise
        self.calls.append(OperationCall(operation, built))

    def cut(self, count: int) -> None:
        """Keep the first operations only."""
        for part in (self.trace, self.calls, self.observed):
            del part[count:]
        self.replies = {step: found for step, found in self.replies.items() if step < count}

    def question(self, given: Json) -> Question:
        """The question of all operations; `given` is the given state for the first one."""
        machine = self.shows.machine
        assert machine.component is not None
        seed = text([given, [call.json() for call in self.calls]])
        return Question(
            protocol=self.model.protocol,
            variant=self.model.variant,
            component=machine.component.name,
            sorts=concrete_ids(machine.universe.sorts, seed),
            given=given,
            operations=tuple(self.calls),
            delta=_delta(len(self.calls), seed),
        )


def ask(
    model: Model,
    shows: Shows,
    trace: Sequence[tuple[State, Act]],
    given: Json,
    avoided: Sequence[Json] = (),
) -> Question:
    """The question of `trace`: each act with the state before it. `given` is the given state for
    the first one. No argument is one of the references `avoided`. Raises NoQuestion."""
    asking = Asking(model, shows, avoided)
    for state, act in trace:
        asking.add(state, act)
    return asking.question(given)


def _argument(kind: t.Type, value: Value, earlier: Earlier) -> Json:
    universe = earlier.shows.machine.universe
    match kind, value:
        case t.Counter(), int():
            return _counter(kind, value, earlier)
        case t.Option(inner=inner), _ if value is not None:
            return _argument(inner, value, earlier)
        case t.Record(fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            return {name: _argument(part, item, earlier) for (name, part), item in pairs}
        case t.Map(key=t.Sort() | t.Enum() as key, value=inner), tuple():
            keys = (to_json(key, k, universe) for k in universe.domain(key))
            pairs_of = zip(keys, value, strict=True)
            return {str(k): _argument(inner, item, earlier) for k, item in pairs_of}
        case (t.Seq() | t.Ranking()) as listed, tuple():
            return [_argument(listed.inner, item, earlier) for item in value]
        case t.Set(inner=inner), frozenset() if isinstance(inner, t.Record | t.Counter):
            members = [_argument(inner, item, earlier) for item in value]
            return sorted(members, key=text)
        case _:
            return to_json(kind, value, universe)


def _counter(kind: t.Counter, value: int, earlier: Earlier) -> Json:
    """A reference to the newest observation that shows the value, else to the newest reply; else a
    difference to another value of the type, a literal, or (if implementations choose the values) a
    value that was never issued."""
    seen, universe = earlier.observed, earlier.shows.machine.universe
    shown = False
    for reference in earlier.references(kind, value):
        if reference not in earlier.avoided:
            return reference
        shown = True
    if kind.opaque and shown:
        raise NoQuestion(f"{kind.name} {value} is shown nowhere else")
    if kind.opaque:
        issued = [p.value for shown in seen for p in shown if p.kind == kind]
        if not kind.ordered or value > max(issued, default=-1):
            return {"never_issued": True}
        # A value from the given state or an older one: any such number will do.
        if len(seen) == 1 or value < min((p.value for p in seen[0] if p.kind == kind), default=0):
            return to_json(kind, value, universe)
        raise NoQuestion(f"no observation and no reply shows {kind.name} {value}")
    for place in seen[-1]:
        reference = {"ref": [len(seen) - 1, *place.path], "plus": value - place.value}
        if place.kind == kind and reference not in earlier.avoided:
            return reference
    return to_json(kind, value, universe)


def _delta(steps: int, seed: str) -> Delta:
    """Most questions read the image after each step; one in four only after the last."""
    spread = hashlib.sha256(f"{seed}/delta".encode()).digest()[0]
    return (steps,) if steps > 1 and spread % 4 == 0 else "each"
