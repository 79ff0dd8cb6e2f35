"""Finds the sorts and constants that a machine depends on, for `instance/missing-bound`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import (
    line_expressions,
    nodes,
    operation_expressions,
    prelude_of,
    statement_expressions,
)
from charter.diagnostics import Diagnostics, Span


def check_bounds(model: ir.Model, diagnostics: Diagnostics) -> None:
    """Check that every instance and scenario bounds all sorts and constants that its machine
    depends on."""
    needs = _Needs(model)
    for instance in model.instances:
        needed = needs.machine(instance.machine) | needs.of(line_expressions(prelude_of(instance)))
        _complete(needed, instance, f"instance {instance.name}", diagnostics)
    for scenario in model.scenarios:
        lines = (*prelude_of(scenario.instance), *scenario.steps)
        needed = needs.machine(scenario.instance.machine) | needs.of(line_expressions(lines))
        _complete(needed, scenario.instance, "this scenario", diagnostics)


def _complete(
    needed: frozenset[str], instance: ir.Instance, title: str, diagnostics: Diagnostics
) -> None:
    given = {name for name, _ in (*instance.sorts, *instance.consts)}
    missing = sorted(needed - given)
    if missing:
        message = f"{title} does not bound {', '.join(f'`{name}`' for name in missing)}"
        hint = "; ".join(f"{name} = ..." for name in missing)
        span = instance.span
        diagnostics.error("instance/missing-bound", message, _first_line(span), hint=hint)


def _first_line(span: Span) -> Span:
    end = span.source.text.find("\n", span.start)
    return Span(span.source, span.start, min(span.end, end if end >= 0 else span.end))


@dataclass(slots=True)
class _Needs:
    """Computes dependencies, cached for types by identity, for functions and machines by name."""

    model: ir.Model
    machines: dict[str, frozenset[str]] = field(default_factory=dict)
    functions: dict[str, frozenset[str]] = field(default_factory=dict)
    types: dict[int, frozenset[str]] = field(default_factory=dict)
    kept: list[ty.Type] = field(default_factory=list)

    def machine(self, name: str) -> frozenset[str]:
        """The sorts and constants that a component or system depends on."""
        if name not in self.machines:
            self.machines[name] = self._machine(name)
        return self.machines[name]

    def _machine(self, name: str) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for component in self.model.components:
            if component.name == name:
                found |= self.component(component)
        for system in self.model.systems:
            if system.name == name:
                found |= self.system(system)
        for prop in self.model.properties:
            if prop.machine == name:
                found |= self.of((prop.body,))
        for live in self.model.liveness:
            if live.machine == name:
                found |= self.of(part for part in (live.trigger, live.goal) if part is not None)
                for param in live.params:
                    found |= self.type(param.type)
        return found

    def component(self, component: ir.Component) -> frozenset[str]:
        found = self.state(component.state)
        for operation in component.operations:
            for param in operation.params:
                found |= self.type(param.type)
            found |= self.type(operation.result)
            found |= self.of(operation_expressions(operation))
        return found

    def system(self, system: ir.System) -> frozenset[str]:
        found = self.state(system.state)
        for part in system.parts:
            found |= self.machine(part.component)
        for step in system.steps:
            for param in step.params:
                found |= self.type(param.type)
            for line in step.body:
                found |= self.of(statement_expressions(line))
        return found

    def state(self, state: Iterable[ir.StateVar]) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for variable in state:
            found |= self.type(variable.type) | self.of((variable.initial,))
        return found

    def of(self, exprs: Iterable[ir.Expr]) -> frozenset[str]:
        """The sorts and constants that expressions depend on, also through called functions."""
        found: set[str] = set()
        for expr in exprs:
            for node in nodes(expr):
                found |= self.type(node.type)
                if isinstance(node, ir.ConstRef):
                    found.add(node.name)
                elif isinstance(node, ir.Call):
                    found |= self.function(node.function)
        return frozenset(found)

    def function(self, name: str) -> frozenset[str]:
        if name not in self.functions:
            self.functions[name] = frozenset()  # a recursive one is refused elsewhere
            body = next((f.body for f in self.model.functions if f.name == name), None)
            self.functions[name] = frozenset() if body is None else self.of((body,))
        return self.functions[name]

    def type(self, kind: ty.Type) -> frozenset[str]:
        """The sorts and constants in a type."""
        known = self.types.get(id(kind))
        if known is None:
            known = self._type(kind)
            self.types[id(kind)] = known
            self.kept.append(kind)  # keeps it alive, so that its id is not reused
        return known

    def _type(self, kind: ty.Type) -> frozenset[str]:
        match kind:
            case ty.Sort():
                return frozenset((kind.name,))
            case ty.Int():
                return _limits(kind.low, kind.high)
            case ty.Bool() | ty.Counter() | ty.Enum():
                return frozenset()
            case ty.Option() | ty.Set() | ty.Ranking():
                return self.type(kind.inner)
            case ty.Seq():
                return self.type(kind.inner) | _limits(kind.limit)
            case ty.Map():
                return self.type(kind.key) | self.type(kind.value)
            case ty.Record():
                return frozenset().union(*(self.type(inner) for _, inner in kind.fields))
            case ty.Union():
                params = (inner for _, case in kind.cases for _, inner in case)
                return frozenset().union(*(self.type(inner) for inner in params))
            case _:
                assert_never(kind)


def _limits(*limits: ty.Limit | None) -> frozenset[str]:
    return frozenset(limit.const for limit in limits if limit is not None and limit.const)
