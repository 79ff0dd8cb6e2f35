"""Distinguishes properties of a transition from properties of a state. In the former the arguments
of the operation or step that was taken are free locals: `elect(b)` is the argument `b` of
`elect`."""

from __future__ import annotations

from collections.abc import Mapping

from charter.core import nodes as ir
from charter.core.walk import nodes


def is_of_transition(prop: ir.Property) -> bool:
    """Whether a property or witness needs the state after, or the branch that was taken."""
    return prop.kind == "stepwise" or reads_transition(prop.body)


def reads_transition(expr: ir.Expr) -> bool:
    """Whether an expression reads the state after, or the branch that was taken. Functions read no
    state, so only their arguments matter."""
    return any(
        isinstance(part, ir.Took) or (isinstance(part, ir.StateRef) and part.primed)
        for part in nodes(expr)
    )


def argument(operation: str, param: str) -> str:
    """The name of the local for an argument in properties of transitions."""
    return f"{operation}({param})"


def is_argument(name: str) -> bool:
    """Whether a local is an argument of the transition."""
    return name.endswith(")")


def argument_of(name: str) -> tuple[str, str]:
    """The operation and the parameter of such a name."""
    operation, _, param = name.removesuffix(")").partition("(")
    return operation, param


def reads_arguments(expr: ir.Expr) -> bool:
    """Whether an expression reads arguments of the transition."""
    return any(isinstance(part, ir.Local) and is_argument(part.name) for part in nodes(expr))


def steps_of(model: ir.Model, machine: str) -> Mapping[str, tuple[ir.Param, ...]]:
    """The parameters of each operation of a component, or of each step of a system."""
    called = {o.name: o.params for c in model.components if c.name == machine for o in c.operations}
    steps = {step.name: step.params for s in model.systems if s.name == machine for step in s.steps}
    return called | steps
