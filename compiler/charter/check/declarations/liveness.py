"""Elaborates `eventually` and `leads to` with their fairness conditions."""

from __future__ import annotations

from charter.check.names.scopes import MachineScope, TypeScope, suggest
from charter.check.names.types import BOOL, is_unknown, show_type
from charter.check.typing.collections import whole_type
from charter.core import nodes as ir
from charter.core import types as ty
from charter.syntax import nodes as sx


def read(
    scope: TypeScope, machine: MachineScope, node: sx.EventuallyDecl
) -> tuple[tuple[ir.Param, ...], ir.Expr | None, ir.Expr, tuple[ir.Fair, ...]]:
    """Variables, trigger, goal and fairness of `node`, elaborated in the scope of its machine."""
    if not machine.is_system:
        message = f"{machine.name} is a component: its environment may never call it"
        hint = "put it into a system, whose steps can be fair"
        scope.error("liveness/of-component", message, node.machine.span, hint=hint)
    params: list[ir.Param] = []
    for binder in node.binders:
        if isinstance(binder, sx.PatternBinder):
            message = "a variable of `leads to` ranges over a type; patterns are not allowed here"
            scope.error("type/mismatch", message, binder.span)
            continue
        kind = _ranging(scope, binder)
        scope, name = scope.bind(binder.name, kind)
        params.append(ir.Param(name, kind))
    trigger = None if node.trigger is None else scope.check(node.trigger, BOOL)
    goal = scope.check(node.goal, BOOL)
    fairness = tuple(_fair(scope, machine, fair) for fair in node.fairness)
    return tuple(params), trigger, goal, fairness


def _ranging(scope: TypeScope, binder: sx.Binder) -> ty.Type:
    """The type that a variable ranges over. Its values must have a notation."""
    kind = whole_type(scope, binder.domain)
    if is_unknown(kind) or isinstance(kind, ty.Sort | ty.Enum | ty.Int | ty.Bool):
        return kind
    message = (
        f"a variable of `leads to` ranges over a sort, an enum or numbers, not {show_type(kind)}"
    )
    scope.error("type/mismatch", message, binder.domain.span)
    return kind


def _fair(scope: TypeScope, machine: MachineScope, node: sx.Fair) -> ir.Fair:
    """A fairness condition: the step and its parameters must exist."""
    step = machine.operations.get(node.step.text)
    if step is None:
        hint = suggest(node.step.text, machine.operations)
        message = f"{machine.name} has no step `{node.step.text}`"
        scope.error("name/unknown", message, node.step.span, hint=hint)
        return ir.Fair(node.step.text, ())
    known = [param.name for param in step.params]
    for name in node.params:
        if name.text not in known:
            message = f"{step.name} has no parameter `{name.text}`"
            scope.error("name/unknown", message, name.span, hint=suggest(name.text, known))
    return ir.Fair(step.name, tuple(name.text for name in node.params))
