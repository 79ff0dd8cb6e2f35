"""Plans vectors that use a counter value again after it was withdrawn: the token of a lease that
ended, the generation of a session that was replaced.

A given state does not say what was withdrawn, so these vectors begin in the initial state. States
that are one up to renaming differ in what was withdrawn before them, so the runs after a withdrawal
are searched here and not taken from the graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from charter.analysis.environment import Issued
from charter.analysis.retell import Act
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.vector import Vector, Why
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.suites.explored import ExploredInstance
from charter.suites.pairs import Arrival
from charter.vectors.plan import OPEN

MOST_AFTER = 5_000
"""The most acts that are tried after a withdrawal, which takes less than a second."""

Trace = Sequence[tuple[State, Act]]

Now = Literal["gone", "elsewhere", "replaced", "replaced twice"]
"""What there is instead: no newer value, one in other places only, one in the same place, one that
came there after another newer one."""

_TITLES: dict[Now, str] = {
    "gone": "",
    "elsewhere": ", newer elsewhere",
    "replaced": " and replaced",
    "replaced twice": " and replaced twice",
}

Use = tuple[str, str, str, Now]
"""A branch, a parameter that gets a withdrawn value, the branch that withdrew the value ("": any,
where something newer is elsewhere), and what there is instead."""

Place = tuple[Value, ...]
"""A variable with the keys of an entry in it."""

Held = dict[Place, tuple[Value, frozenset[int]]]
"""Each place that has values of a counter: the whole entry, and these values."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A value that the last act of a trace took out of a place through `branch`, or left there when
    it changed the entry. `given` are the arguments of the operation that gave it out."""

    kind: t.Counter
    value: int
    place: Place
    branch: str
    trace: Trace
    state: State
    given: frozenset[tuple[t.Type, Value]]

    def now(self, held: Held, next_one: int | None = None) -> Now | None:
        """What a state has instead; None if the value is in its place. `next_one` is the first
        newer value that was there on the way."""
        here = _values(held, self.place)
        if self.value in here:
            return None
        if max(here, default=-1) > self.value:
            return "replaced" if next_one is None or max(here) == next_one else "replaced twice"
        newer = any(max(values) > self.value for _, values in held.values())
        return "elsewhere" if newer else "gone"


@dataclass(frozen=True, slots=True)
class _Way:
    """A trace after a withdrawal, and the state that it leads to. `before` is what there was in
    place of the value one state earlier, `next_one` the first newer value there so far."""

    trace: Trace
    state: State
    before: Now | None
    next_one: int | None


@dataclass(slots=True)
class WithdrawnUses:
    """For each use how many other arguments are those with which the value was given out (the same
    worker, the same job), the branch that withdrew the value, the way there, and the act."""

    explored: ExploredInstance
    best: dict[Use, tuple[int, str, _Way, Act]] = field(default_factory=dict)

    def add(self, arrived: Sequence[Arrival]) -> None:
        """Find uses after the first withdrawal, in the order of `arrived`, by each branch."""
        for kind in self.kinds():
            ended = self._first(kind, arrived, left=False)
            nows = {one.now(self._find_held(kind, one.state)) for one in ended.values()}
            if nows <= {"replaced"}:
                # The entry is always there, such as a record with a flag "free": what ends the use
                # of a value is a change of the entry, before another value replaces it.
                ended = self._first(kind, arrived, left=True) | ended
            for one in ended.values():
                self._follow(one)

    def kinds(self) -> list[t.Counter]:
        """The opaque counters that operations get."""
        operations = self.explored.opened.machine.operations.values()
        kinds = [p.type for o in operations for p in o.params]
        return [*dict.fromkeys(k for k in kinds if isinstance(k, t.Counter) and k.opaque)]

    def vectors(self) -> Iterator[tuple[Use, Vector]]:
        """A vector for each use."""
        planner = self.explored.opened.planner
        for use, (_, by, way, act) in self.best.items():
            branch, param, _, now = use
            title = f"{branch}, {param} withdrawn by {by}{_TITLES[now]}"
            why = Why((), "exploration", title, OPEN, (branch,))
            vector = planner.plan_trace([*way.trace, (way.state, act)], planner.start()[1], why)
            if vector is not None:
                yield use, vector

    def _first(
        self, kind: t.Counter, arrived: Sequence[Arrival], *, left: bool
    ) -> dict[str, Withdrawal]:
        """By branch the first withdrawal, or the first change that left a value in its place. What
        the initial state has was given to nobody."""
        found: dict[str, Withdrawal] = {}
        for trace, state, branch in arrived:
            if branch in found:
                continue
            before, after = self._find_held(kind, trace[-1][0]), self._find_held(kind, state)
            initial = {
                v for _, values in self._find_held(kind, trace[0][0]).values() for v in values
            }
            for place, (entry, values) in before.items():
                kept = _values(after, place)
                chosen = values & kept if left else values - kept
                if chosen - initial and (place not in after or after[place][0] != entry):
                    value = min(chosen - initial)
                    given = frozenset(self._others(self._giving(kind, value, place, trace), kind))
                    found[branch] = Withdrawal(kind, value, place, branch, trace, state, given)
                    break
        return found

    def _giving(self, kind: t.Counter, value: int, place: Place, trace: Trace) -> Act:
        """The act of a trace that put a value into its place."""
        held = (value in _values(self._find_held(kind, state), place) for state, _ in trace)
        return trace[next(number for number, here in enumerate(held) if here) - 1][1]

    def _follow(self, one: Withdrawal) -> None:
        """Use a withdrawn value in the states that can be reached after its withdrawal. Where a
        rule gives the same number out again, it is another value for an implementation."""
        form = self.explored.opened.asked.form
        queue = deque([_Way(one.trace, one.state, None, None)])
        seen = set[tuple[Hashable, Now | None, bool]]()
        tried = 0
        while queue and tried < MOST_AFTER:
            way = queue.popleft()
            held = self._find_held(one.kind, way.state)
            now = one.now(held, way.next_one)
            alike = form(way.state), now, way.next_one is None
            if (now is None and way.before is not None) or alike in seen:
                continue
            seen.add(alike)
            acts = [*self.explored.acts(way.state)]
            tried += len(acts)
            if now is not None and all(one.value not in values for _, values in held.values()):
                self._use(one, now, way, acts)
            newer = [v for v in _values(held, one.place) if v > one.value]
            next_one = way.next_one or max(newer, default=None)
            for act in acts:
                for outcome in self.explored.outcomes(way.state, act):
                    longer = [*way.trace, (way.state, act)]
                    queue.append(_Way(longer, outcome.state, now, next_one))

    def _use(self, one: Withdrawal, now: Now, way: _Way, acts: Sequence[Act]) -> None:
        """Try every operation with the withdrawn value in one of its arguments."""
        operations = self.explored.opened.machine.operations
        tried = set[Act]()
        for name, args in acts:
            for place, param in enumerate(operations[name].params):
                act = name, (*args[:place], one.value, *args[place + 1 :])
                if param.type != one.kind or act in tried:
                    continue
                tried.add(act)
                shared = sum(arg in one.given for arg in self._others(act, one.kind))
                for outcome in self.explored.outcomes(way.state, act):
                    by = "" if now == "elsewhere" else one.branch
                    use = outcome.branch, param.name, by, now
                    if use not in self.best or self.best[use][0] < shared:
                        self.best[use] = shared, one.branch, way, act

    def _others(self, act: Act, kind: t.Counter) -> Iterator[tuple[t.Type, Value]]:
        """The arguments that are no values of a counter."""
        params = self.explored.opened.machine.operations[act[0]].params
        yield from ((p.type, v) for p, v in zip(params, act[1], strict=True) if p.type != kind)

    def _find_held(self, kind: t.Counter, state: State) -> Held:
        """The values of a counter in a state. A variable of such values alone (the newest, or the
        newest of each key) only counts, if another one holds some."""
        machine = self.explored.opened.machine
        several = [v for v in machine.modelled if kind in t.inside(v.type)]
        held: Held = {}
        for variable in [v for v in several if not _counts(v.type)] or several:
            entries = _entries(variable.type, state[variable.name], machine, (variable.name,))
            for place, inner, value in entries:
                issued = Issued(machine.universe)
                issued.collect(inner, value)
                if kind.name in issued.all:
                    held[place] = value, frozenset(issued.all[kind.name])
        return held


def _values(held: Held, place: Place) -> frozenset[int]:
    return held[place][1] if place in held else frozenset()


def _counts(kind: t.Type) -> bool:
    return isinstance(kind, t.Counter) or (isinstance(kind, t.Map) and _counts(kind.value))


def _entries(
    kind: t.Type, value: Value, machine: Machine, place: Place
) -> Iterator[tuple[Place, t.Type, Value]]:
    """The entries of a map, and of maps in it; any other value is one."""
    if isinstance(kind, t.Map) and isinstance(value, tuple):
        for key, inner in zip(machine.universe.domain(kind.key), value, strict=True):
            yield from _entries(kind.value, inner, machine, (*place, key))
    else:
        yield place, kind, value
