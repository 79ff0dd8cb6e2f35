"""Lets the questions of an instance with a prelude begin in the component's own first state: the
prelude comes before every trace, and the instance starts where it leads to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from charter.analysis.canonical import find_counters
from charter.analysis.preludes import PreludeFails, replay
from charter.analysis.retell import Act
from charter.analysis.written_values import write_value
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.vectors.plan import Trace


@dataclass(frozen=True, slots=True)
class LedInstance:
    """An instance that starts in the very state to which its prelude leads, with the trace of the
    prelude; `stated` is the state that its text says, which is the same up to renaming of counters.
    Without a prelude the instance as it is, and nothing else."""

    instance: n.Instance
    prelude: Trace = ()
    stated: State | None = None

    @staticmethod
    def of(model: n.Model, instance: n.Instance) -> LedInstance:
        """The instance with its prelude. One that leads elsewhere does not count; `check` reports
        it."""
        try:
            led = replay(model, instance)
        except PreludeFails:
            led = None
        if led is None:
            return LedInstance(replace(instance, prelude=None))
        machine = Machine.of(model, instance)
        states = (led.first, *(step.outcome.state for step in led.steps))
        acts = ((step.operation, step.args) for step in led.steps)
        starts = tuple(
            (v.name, write_value(v.type, led.state[v.name], machine.universe))
            for v in machine.variables
        )
        bare = replace(instance, starts=starts, prelude=None)
        return LedInstance(bare, [*zip(states, acts, strict=False)], machine.initial())

    def rename(self, machine: Machine, act: Act) -> Act:
        """An act in a trace from the stated state, with the values of the counters that the state
        after the prelude has in their place."""
        if self.stated is None:
            return act
        there = machine.initial()
        values: dict[str, dict[int, int]] = {}
        for v in machine.variables:
            old, new = (find_counters(v.type, s[v.name]) for s in (self.stated, there))
            for (name, one), (_, other) in zip(old, new, strict=True):
                values.setdefault(name, {})[one] = other
        name, args = act
        params = machine.operations[name].params
        return name, tuple(_rename(p.type, a, values) for p, a in zip(params, args, strict=True))


def _rename(kind: t.Type, value: Value, values: dict[str, dict[int, int]]) -> Value:
    """A value with other counters. One that the state does not have keeps its distance to the next
    smaller one."""
    match kind, value:
        case t.Counter(name=name), int():
            known = values.get(name, {})
            below = max((one for one in known if one <= value), default=None)
            return value if below is None else known[below] + value - below
        case t.Option(inner=inner), _ if value is not None:
            return _rename(inner, value, values)
        case t.Record(fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            return tuple(_rename(part, item, values) for (_, part), item in pairs)
        case t.Union() as union, (str() as tag, *rest):
            params = zip(union.params(tag), rest, strict=True)
            return (tag, *(_rename(part, item, values) for (_, part), item in params))
        case ((t.Map(value=inner) | t.Seq(inner=inner) | t.Ranking(inner=inner)), tuple()):
            return tuple(_rename(inner, item, values) for item in value)
        case t.Set(inner=inner), frozenset():
            return frozenset(_rename(inner, item, values) for item in value)
        case _:
            return value
