"""Tells properties of a transition from properties of a state."""

from __future__ import annotations

from charter.core import nodes as ir
from charter.core.walk import nodes


def is_of_transition(prop: ir.Property) -> bool:
    """Whether a property or witness needs the state after, or the branch that was taken."""
    return prop.kind == "stepwise" or reads_transition(prop.body)


def reads_transition(expr: ir.Expr) -> bool:
    """Whether an expression reads the state after, or the branch that was taken. Functions read no
    state, so what they are called with decides."""
    return any(
        isinstance(part, ir.Took) or (isinstance(part, ir.StateRef) and part.primed)
        for part in nodes(expr)
    )
