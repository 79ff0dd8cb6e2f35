"""Rebuilds a model from rewritten expressions. Only this module knows where expressions occur in a
model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from charter.core import nodes as ir
from charter.core.walk import Rule, fold, rebuild_statement


def rewrite_model(model: ir.Model, rule: Callable[[], Rule]) -> ir.Model:
    """`model` with a rule applied to every node of every expression, leaves first; each declaration
    gets a rule of its own. Scenarios are not rewritten, since only the definition executes them."""
    return replace(
        model,
        functions=tuple(replace(f, body=fold(f.body, rule())) for f in model.functions),
        components=tuple(
            replace(
                component,
                state=_initials(component.state, rule()),
                operations=tuple(_operation(o, rule()) for o in component.operations),
            )
            for component in model.components
        ),
        systems=tuple(
            replace(
                system,
                state=_initials(system.state, rule()),
                steps=tuple(rewrite_step(step, rule()) for step in system.steps),
            )
            for system in model.systems
        ),
        properties=tuple(replace(p, body=fold(p.body, rule())) for p in model.properties),
        liveness=tuple(_eventually(live, rule()) for live in model.liveness),
        instances=tuple(_instance(instance, rule()) for instance in model.instances),
    )


def _initials(state: tuple[ir.StateVar, ...], rule: Rule) -> tuple[ir.StateVar, ...]:
    return tuple(replace(v, initial=fold(v.initial, rule)) for v in state)


def _operation(operation: ir.Operation, rule: Rule) -> ir.Operation:
    done: dict[int, ir.Bind] = {}

    def let(bind: ir.Bind) -> ir.Bind:
        """Branches share the lets of their operation."""
        if id(bind) not in done:
            done[id(bind)] = replace(bind, value=fold(bind.value, rule))
        return done[id(bind)]

    whole = partial(fold, change=rule)
    branches = (
        replace(
            branch,
            lets=tuple(let(bind) for bind in branch.lets),
            guard=tuple(replace(c, condition=fold(c.condition, rule)) for c in branch.guard),
            body=tuple(rebuild_statement(line, whole) for line in branch.body),
            reply=fold(branch.reply, rule),
            faults=tuple(replace(f, condition=fold(f.condition, rule)) for f in branch.faults),
        )
        for branch in operation.branches
    )
    assumes = (replace(c, condition=whole(c.condition)) for c in operation.assumes)
    return replace(operation, branches=tuple(branches), assumes=tuple(assumes))


def rewrite_step(step: ir.Step, rule: Rule) -> ir.Step:
    """A step with a rule applied to every node of its expressions."""
    return replace(step, body=tuple(rewrite_statement(line, rule) for line in step.body))


def rewrite_statement(line: ir.Statement, rule: Rule) -> ir.Statement:
    """A statement with a rule applied to every node of its expressions."""
    return rebuild_statement(line, partial(fold, change=rule))


def _eventually(live: ir.Eventually, rule: Rule) -> ir.Eventually:
    trigger = None if live.trigger is None else fold(live.trigger, rule)
    return replace(live, trigger=trigger, goal=fold(live.goal, rule))


def _instance(instance: ir.Instance, rule: Rule) -> ir.Instance:
    return replace(
        instance,
        starts=tuple((name, fold(value, rule)) for name, value in instance.starts),
        only=tuple((name, fold(condition, rule)) for name, condition in instance.only),
    )
