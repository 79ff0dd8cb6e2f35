"""Finds what an edit of a charter affects: declarations that it changes, those that call them, and
the scenarios that execute one of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import (
    line_expressions,
    nodes,
    operation_expressions,
    prelude_of,
    statement_expressions,
)

Declared = tuple[str, str]
"""A function ("", its name), an operation or a step (its machine, its name), or the rest of a
machine (its name, ""): its state and its parts."""
Body = n.Function | n.Operation | n.Step | n.Component | n.System


def find_affected(before: n.Model, after: n.Model) -> tuple[n.Scenario, ...]:
    """The scenarios of `after` that are not in `before`, or that execute something that differs
    there. Each of the others has the same traces in both."""
    known = {scenario.title: scenario for scenario in before.scenarios}
    found = find_changed(before, after)
    return tuple(
        scenario
        for scenario in after.scenarios
        if known.get(scenario.title) != scenario or not found.isdisjoint(_list_executed(scenario))
    )


@dataclass(frozen=True, slots=True)
class ComponentChange:
    """What an edit changes of a component. `operations` were edited, or call a function that was:
    no other can have other outcomes. `rest`: whether anything else was edited: state, what it
    begins with, what is observed, or which operations there are with which parameters and replies.
    """

    operations: frozenset[str]
    rest: bool

    @staticmethod
    def of(before: n.Model, after: n.Model, component: str) -> ComponentChange:
        """What differs in the component of this name, which both models have. If its state was
        edited, all operations."""
        (old,) = (c for c in before.components if c.name == component)
        (new,) = (c for c in after.components if c.name == component)
        found = find_changed(before, after)
        rest = (component, "") in found or _signatures(old) != _signatures(new)
        if _bare(old) != _bare(new):
            everything = (o.name for o in (*old.operations, *new.operations))
            return ComponentChange(frozenset(everything), rest)
        dropped = {o.name for o in old.operations} - {o.name for o in new.operations}
        edited = {o.name for o in new.operations if (component, o.name) in found}
        return ComponentChange(frozenset(dropped | edited), rest)


def find_changed_operations(before: n.Model, after: n.Model, component: str) -> frozenset[str]:
    """The operations of a component that were edited, or call a function that was: no other can
    have other outcomes. All of them if anything else of the component was edited."""
    return ComponentChange.of(before, after, component).operations


def _signatures(component: n.Component) -> list[tuple[str, tuple[n.Param, ...], t.Type]]:
    return [(o.name, o.params, o.result) for o in component.operations]


def find_changed(before: n.Model, after: n.Model) -> frozenset[Declared]:
    """The declarations of `after` that differ in `before`, or call one that does."""
    old, now = dict(list_declared(before)), dict(list_declared(after))
    parts = parts_of(after)
    calls = {key: frozenset(list_called(one, parts.get(key[0], {}))) for key, one in now.items()}
    found = {key for key, one in now.items() if old.get(key) != one}
    while more := {key for key in now.keys() - found if not found.isdisjoint(calls[key])}:
        found |= more
    return frozenset(found)


def parts_of(model: n.Model) -> dict[str, dict[str, str]]:
    """Of each system the component of each part."""
    return {s.name: {part.name: part.component for part in s.parts} for s in model.systems}


def list_declared(model: n.Model) -> Iterator[tuple[Declared, Body]]:
    """All functions, machines, operations and steps of a protocol."""
    yield from ((("", f.name), f) for f in model.functions)
    for component in model.components:
        yield (component.name, ""), _bare(component)
        yield from (((component.name, o.name), o) for o in component.operations)
    for system in model.systems:
        yield (system.name, ""), _bare(system)
        yield from (((system.name, step.name), step) for step in system.steps)


def _bare(machine: n.Component | n.System) -> n.Component | n.System:
    """A machine without its operations or steps."""
    if isinstance(machine, n.Component):
        return replace(machine, operations=())
    return replace(machine, steps=())


def _list_executed(scenario: n.Scenario) -> Iterator[Declared]:
    """What a scenario executes itself."""
    machine, lines = scenario.instance.machine, (*prelude_of(scenario.instance), *scenario.steps)
    yield machine, ""
    yield from ((machine, line.operation) for line in lines if isinstance(line, n.Do))
    yield from _functions(line_expressions(lines))
    yield from _functions(value for _, value in scenario.instance.starts)


def list_called(one: Body, parts: Mapping[str, str]) -> Iterator[Declared]:
    """What a declaration calls or needs itself; `parts` are the components of its system."""
    match one:
        case n.Function():
            yield from _functions((one.body,))
        case n.Operation():
            yield from _functions(operation_expressions(one))
        case n.Step():
            yield from _functions(e for line in one.body for e in statement_expressions(line))
            calls = (line for line in one.body if isinstance(line, n.CallOperation))
            yield from ((parts[line.part], line.operation) for line in calls)
        case n.Component(state=state) | n.System(state=state):
            yield from _functions(variable.initial for variable in state)
            yield from ((component, "") for component in parts.values())


def _functions(exprs: Iterable[n.Expr]) -> Iterator[Declared]:
    return (("", e.function) for expr in exprs for e in nodes(expr) if isinstance(e, n.Call))
