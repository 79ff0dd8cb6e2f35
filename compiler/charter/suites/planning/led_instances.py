"""Lets the questions of an instance with a prelude begin in the component's own first state: the
prelude comes before every trace, and the instance starts where it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from charter.analysis.canonical import find_counters
from charter.analysis.likeness import Image, rename_counters
from charter.analysis.preludes import PreludeFails, replay
from charter.analysis.retell import Act
from charter.analysis.written_values import write_value
from charter.core import nodes as n
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
        pairs = zip(params, args, strict=True)
        return name, tuple(rename_counters(p.type, a, _find_image(values)) for p, a in pairs)


def _find_image(values: Mapping[str, Mapping[int, int]]) -> Image:
    """The other values of counters. One that the state does not have keeps its distance to the
    next smaller one."""

    def image(name: str, value: int) -> int:
        known = values.get(name, {})
        below = max((one for one in known if one <= value), default=None)
        return value if below is None else known[below] + value - below

    return image
