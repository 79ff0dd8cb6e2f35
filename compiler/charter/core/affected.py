"""Which scenarios an edit of a charter affects: those that execute something that it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from charter.core import nodes as n
from charter.core.walk import branch_expressions, line_expressions, nodes, statement_expressions

Declared = tuple[str, str]
"""A function ("", its name), or an operation or a step (its machine, its name)."""
_Body = n.Function | n.Operation | n.Step


def affected(before: n.Model, after: n.Model) -> tuple[n.Scenario, ...]:
    """The scenarios of `after` that are not in `before`, or that execute something that differs
    there. Each of the others has the same traces in both."""
    known = {scenario.title: scenario for scenario in before.scenarios}
    changed = _changed_machines(before, after)
    reach = _Reach(after, _declared(after))
    old = _declared(before)
    differing = frozenset(key for key, one in reach.declared.items() if old.get(key) != one)
    return tuple(
        scenario
        for scenario in after.scenarios
        if scenario.instance.machine in changed
        or known.get(scenario.title) != scenario
        or not differing.isdisjoint(reach.of_scenario(scenario))
    )


def _changed_machines(before: n.Model, after: n.Model) -> frozenset[str]:
    """The components and systems of `after` that differ in more than the bodies of operations and
    steps, or that have a part that does."""
    old: dict[str, n.Component | n.System] = {c.name: _bare(c) for c in before.components}
    old |= {s.name: _bare(s) for s in before.systems}
    changed = {c.name for c in after.components if old.get(c.name) != _bare(c)}
    for system in after.systems:
        parts = {part.component for part in system.parts}
        if old.get(system.name) != _bare(system) or not changed.isdisjoint(parts):
            changed.add(system.name)
    return frozenset(changed)


def _bare(machine: n.Component | n.System) -> n.Component | n.System:
    """A machine without its operations or steps."""
    if isinstance(machine, n.Component):
        return replace(machine, operations=())
    return replace(machine, steps=())


def _declared(model: n.Model) -> dict[Declared, _Body]:
    found: dict[Declared, _Body] = {}
    found |= {("", f.name): f for f in model.functions}
    found |= {(c.name, o.name): o for c in model.components for o in c.operations}
    found |= {(s.name, one.name): one for s in model.systems for one in s.steps}
    return found


@dataclass(frozen=True, slots=True)
class _Reach:
    """What scenarios execute: operations and steps, and what they call."""

    model: n.Model
    declared: Mapping[Declared, _Body]
    found: dict[Declared, frozenset[Declared]] = field(default_factory=dict)

    def of_scenario(self, scenario: n.Scenario) -> frozenset[Declared]:
        machine = scenario.instance.machine
        exprs = [*line_expressions(scenario), *(value for _, value in scenario.instance.starts)]
        states = {c.name: c.state for c in self.model.components}
        states |= {s.name: s.state for s in self.model.systems}
        exprs += [v.initial for v in states.get(machine, ())]
        called = {(machine, line.operation) for line in scenario.steps if isinstance(line, n.Do)}
        return self._all(called | set(_calls(exprs)))

    def _all(self, waiting: Iterable[Declared]) -> frozenset[Declared]:
        reached = set[Declared]()
        left = [key for key in waiting if key in self.declared]
        while left:
            key = left.pop()
            if key not in reached:
                reached.add(key)
                left += self._direct(key)
        return frozenset(reached)

    def _direct(self, key: Declared) -> frozenset[Declared]:
        """What one declaration calls itself."""
        if key not in self.found:
            called = _called(self.declared[key], self._parts(key[0]))
            self.found[key] = frozenset(called) & self.declared.keys()
        return self.found[key]

    def _parts(self, machine: str) -> dict[str, str]:
        systems = (s for s in self.model.systems if s.name == machine)
        return {part.name: part.component for s in systems for part in s.parts}


def _called(declared: _Body, parts: Mapping[str, str]) -> Iterator[Declared]:
    match declared:
        case n.Function(body=body):
            yield from _calls((body,))
        case n.Operation(branches=branches):
            yield from _calls(e for branch in branches for e in branch_expressions(branch))
        case n.Step(body=body):
            yield from _calls(e for line in body for e in statement_expressions(line))
            calls = (line for line in body if isinstance(line, n.CallOperation))
            yield from ((parts[line.part], line.operation) for line in calls)


def _calls(exprs: Iterable[n.Expr]) -> Iterator[Declared]:
    return (("", e.function) for expr in exprs for e in nodes(expr) if isinstance(e, n.Call))
