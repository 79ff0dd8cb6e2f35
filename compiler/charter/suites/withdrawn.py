"""Plans vectors that use a counter value again after it was withdrawn: the token of a lease that
ended, the generation of a session that was replaced.

A given state does not say what was withdrawn, so these vectors begin in the initial state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.vector import Vector, Why
from charter.semantics.environment import Issued
from charter.semantics.expressions import State
from charter.semantics.retell import Act
from charter.suites.explored import ExploredInstance
from charter.vectors.plan import OPEN

Trace = Sequence[tuple[State, Act]]

Now = Literal["gone", "elsewhere", "replaced"]
"""What there is instead: no newer value, one under other keys only, one under the same key."""

_TITLES: dict[Now, str] = {
    "gone": "",
    "elsewhere": ", newer elsewhere",
    "replaced": " and replaced",
}

Use = tuple[str, str, Now]
"""A branch, a parameter that gets a withdrawn value, and what there is instead."""


@dataclass(slots=True)
class WithdrawnUses:
    """For each use the vector's trace and act, and how many other arguments are those with which
    the value was given out: the same worker, the same job."""

    explored: ExploredInstance
    best: dict[Use, tuple[int, Trace, State, Act]] = field(default_factory=dict)
    issued: dict[int, Issued] = field(default_factory=dict)

    def add(self, trace: Trace, state: State) -> None:
        """Try every operation with every value that was withdrawn in a trace that leads to a
        state."""
        old = self._withdrawn(trace, state)
        operations = self.explored.opened.machine.operations
        seen = set[tuple[str, int, tuple[Value, ...]]]()
        for name, args in self.explored.acts(state) if old else ():
            for place, param in enumerate(operations[name].params):
                rest = name, place, (*args[:place], *args[place + 1 :])
                if _is_opaque(param) and rest not in seen:
                    seen.add(rest)
                    for one in old:
                        if param.type == one.kind:
                            changed = (*args[:place], one.value, *args[place + 1 :])
                            self._try(trace, state, (name, changed), param, one)

    def _try(self, trace: Trace, state: State, act: Act, param: n.Param, one: _Withdrawn) -> None:
        shared = sum(arg in one.given for arg in self._others(act, param))
        for outcome in self.explored.outcomes(state, act):
            use = outcome.branch, param.name, one.now
            if use not in self.best or self.best[use][0] < shared:
                self.best[use] = shared, trace, state, act

    def _others(self, act: Act, param: n.Param) -> Iterator[tuple[t.Type, Value]]:
        params = self.explored.opened.machine.operations[act[0]].params
        yield from (
            (p.type, v) for p, v in zip(params, act[1], strict=True) if p.name != param.name
        )

    def _withdrawn(self, trace: Trace, state: State) -> list[_Withdrawn]:
        """The values of opaque counters that a state of the trace held, and this one does not."""
        held = [self._issued_before(before) for before, _ in trace]
        now = self._issued(state)
        found = list[_Withdrawn]()
        for kind in self.kinds():
            values = now.all.get(kind.name, set())
            for value in sorted(set().union(*(i.all.get(kind.name, set()) for i in held)) - values):
                first = next(i for i, issued in enumerate(held) if value in issued.all[kind.name])
                if first:  # what the initial state holds was given to nobody
                    given = frozenset(self._others(trace[first - 1][1], n.Param("", kind)))
                    found.append(_Withdrawn(kind, value, given, _now(kind, value, held, now)))
        return found

    def _issued_before(self, state: State) -> Issued:
        """The values in a state of the graph, which lives as long as the graph does."""
        known = self.issued.get(id(state))
        if known is None:
            known = self.issued[id(state)] = self._issued(state)
        return known

    def _issued(self, state: State) -> Issued:
        machine = self.explored.opened.machine
        issued = Issued(machine.universe)
        for variable in machine.variables:
            issued.collect(variable.type, state[variable.name])
        return issued

    def kinds(self) -> list[t.Counter]:
        """The opaque counters that operations get."""
        operations = self.explored.opened.machine.operations.values()
        kinds = [p.type for o in operations for p in o.params]
        return [*dict.fromkeys(k for k in kinds if isinstance(k, t.Counter) and k.opaque)]

    def vectors(self) -> Iterator[tuple[Use, Vector]]:
        """A vector for each use."""
        planner = self.explored.opened.planner
        for use, (_, trace, state, act) in self.best.items():
            branch, param, now = use
            title = f"{branch}, {param} withdrawn{_TITLES[now]}"
            why = Why((), "exploration", title, OPEN, (branch,))
            vector = planner.traced([*trace, (state, act)], planner.start()[1], why)
            if vector is not None:
                yield use, vector


@dataclass(frozen=True, slots=True)
class _Withdrawn:
    """A value, and the arguments of the operation that gave it out."""

    kind: t.Counter
    value: int
    given: frozenset[tuple[t.Type, Value]]
    now: Now


def _is_opaque(param: n.Param) -> bool:
    return isinstance(param.type, t.Counter) and param.type.opaque


def _now(kind: t.Counter, value: int, held: Sequence[Issued], now: Issued) -> Now:
    """What there is instead of a value. A variable that counts has no key, and is no place."""
    keys = {key for issued in held for key, values in issued.under.items() if value in values}
    mine = [key for key in keys if key[0] == kind.name]
    if any(max(now.under.get(key, ()), default=-1) > value for key in mine):
        return "replaced"
    newer = (values for key, values in now.under.items() if key[0] == kind.name)
    return "elsewhere" if any(max(values) > value for values in newer) else "gone"
