"""Keeps the meaning of properties, assumptions, ghost state, scenarios and instances when a
function is mutated that both they and the rules call: they call a copy of it as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar, cast

from charter.core import nodes as ir
from charter.core.by_identity import ByIdentity
from charter.core.rewrite import rewrite_model, rewrite_statement
from charter.core.walk import Rule, fold, nodes
from charter.mutate.bodies import ghost_lines, ghosts_of

Rewritten = TypeVar("Rewritten", ir.Operation, ir.Step)

AS_WRITTEN = ".charter"
"""Ends the names of the copies: no name in a charter has a dot, and compiled code allows one."""


def separate(model: ir.Model, function: ir.Function) -> ir.Model:
    """`model` with a mutant of a function, and with copies for what states what must hold."""
    claims = _claims(ByIdentity(model), function.name)
    functions = (function if f.name == function.name else f for f in claims.functions)
    return replace(claims, functions=tuple(functions))


@lru_cache(maxsize=1)  # mutants of one function follow each other
def _claims(of: ByIdentity[ir.Model], function: str) -> ir.Model:
    """The model with copies of a function and all that call it, which are called by what states
    what must hold."""
    model = of.held
    affected = _callers(model, function)

    def copy() -> Rule:
        def rename(expr: ir.Expr) -> ir.Expr:
            if isinstance(expr, ir.Call) and expr.function in affected:
                return replace(expr, function=expr.function + AS_WRITTEN)
            return expr

        return rename

    copies = tuple(f for f in model.functions if f.name in affected)
    claims = rewrite_model(replace(model, functions=copies, components=(), systems=()), copy)
    renamed = tuple(replace(f, name=f.name + AS_WRITTEN) for f in claims.functions)
    return replace(
        model,
        functions=(*model.functions, *renamed),
        components=tuple(_component(component, copy) for component in model.components),
        systems=tuple(_system(system, copy) for system in model.systems),
        properties=claims.properties,
        liveness=claims.liveness,
        instances=claims.instances,
        scenarios=tuple(_scenario(scenario, copy()) for scenario in model.scenarios),
    )


def _callers(model: ir.Model, function: str) -> frozenset[str]:
    """A function and all that call it, directly or not."""
    calls = {
        f.name: {e.function for e in nodes(f.body) if isinstance(e, ir.Call)}
        for f in model.functions
    }
    found = {function}
    while True:
        more = {name for name, called in calls.items() if called & found} - found
        if not more:
            return frozenset(found)
        found |= more


def _component(component: ir.Component, copied: Callable[[], Rule]) -> ir.Component:
    ghosts = ghosts_of(component)
    operations = tuple(
        _same(operation, replace(operation, assumes=_assumes(operation, copied), branches=tuple(
            # A rewritten line is of the same kind.
            replace(branch, body=cast(
                "tuple[ir.Change, ...]",
                _body(branch.body, ghost_lines(branch.body, ghosts, branch.reply), copied),
            ))
            for branch in operation.branches
        )))
        for operation in component.operations
    )  # fmt: skip
    return replace(component, operations=operations)


def _assumes(operation: ir.Operation, copied: Callable[[], Rule]) -> tuple[ir.Assumption, ...]:
    """The assumptions of an operation, which call the copies."""
    assumes = operation.assumes
    return tuple(replace(one, condition=fold(one.condition, copied())) for one in assumes)


def _system(system: ir.System, copied: Callable[[], Rule]) -> ir.System:
    ghosts = ghosts_of(system)
    steps = tuple(
        _same(step, replace(step, body=_body(step.body, ghost_lines(step.body, ghosts), copied)))
        for step in system.steps
    )
    return replace(system, steps=steps)


def _same(old: Rewritten, new: Rewritten) -> Rewritten:
    """The old one where nothing was rewritten: what is the very same is not checked again."""
    return old if new == old else new


def _body(
    body: Sequence[ir.Statement], lines: frozenset[int], copied: Callable[[], Rule]
) -> tuple[ir.Statement, ...]:
    """A body in which these lines call the copies."""
    return tuple(
        rewrite_statement(line, copied()) if i in lines else line for i, line in enumerate(body)
    )


def _scenario(scenario: ir.Scenario, rule: Rule) -> ir.Scenario:
    instance = scenario.instance
    led = instance.prelude
    kept = replace(
        instance,
        starts=tuple((name, fold(value, rule)) for name, value in instance.starts),
        only=tuple((name, fold(condition, rule)) for name, condition in instance.only),
        prelude=led and replace(led, steps=tuple(_line(line, rule) for line in led.steps)),
    )
    return replace(
        scenario, instance=kept, steps=tuple(_line(line, rule) for line in scenario.steps)
    )


def _line(line: ir.Line, rule: Rule) -> ir.Line:
    match line:
        case ir.Do():
            reply = None if line.reply is None else fold(line.reply, rule)
            return replace(line, args=tuple(fold(arg, rule) for arg in line.args), reply=reply)
        case ir.Expect():
            return replace(line, condition=fold(line.condition, rule))
        case ir.Bind():
            return replace(line, value=fold(line.value, rule))
        case ir.Moment():
            return line
