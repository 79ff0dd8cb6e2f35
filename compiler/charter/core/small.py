"""Defines small core: the kinds of nodes that remain after all passes of `charter.passes`. The
native engine, the solver and TLA+ read only these. They are the nodes of rich core listed here,
with only such nodes below them; the type checker ensures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from charter.core import nodes as n
from charter.core.operators import OPERATORS, Connective, StrictOp

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # in `typing` from Python 3.13 on

Strict: TypeAlias = (
    "n.Call[Expr] | n.Primitive[Expr] | n.Unary[Expr] | n.Binary[Expr, StrictOp]"
    " | n.RecordNew[Expr] | n.FieldOf[Expr]"
    " | n.UnionNew[Expr] | n.Present[Expr] | n.IsCase[Expr] | n.CaseArg[Expr]"
    " | n.MapGet[Expr] | n.SetNew[Expr] | n.SeqNew[Expr]"
)
"""Expressions whose operands are always evaluated."""
Binary: TypeAlias = "n.Binary[Expr, StrictOp] | n.Binary[Expr, Connective]"
Expr: TypeAlias = (
    "Strict | n.Binary[Expr, Connective] | n.Literal | n.Local | n.StateRef | n.ConstRef"
    " | n.Domain | n.Took | n.Checked[Expr]"
    " | n.If[Expr] | n.Let[Expr] | n.Quantified[Expr] | n.Comprehend[Expr] | n.MapNew[Expr]"
)
Change: TypeAlias = "n.Bind[Expr] | n.Pick[Expr] | n.Assign[Expr]"
Statement: TypeAlias = "Change | n.Require[Expr] | n.CallOperation[Expr]"

Function: TypeAlias = n.Function[Expr]
Conjunct: TypeAlias = n.Conjunct[Expr]
Branch: TypeAlias = n.Branch[Expr]
Operation: TypeAlias = n.Operation[Expr]
Component: TypeAlias = n.Component[Expr]
Step: TypeAlias = n.Step[Expr, Statement]
System: TypeAlias = n.System[Expr, Statement]
Property: TypeAlias = n.Property[Expr]
Instance: TypeAlias = n.Instance[Expr]
Model: TypeAlias = n.Model[Expr, Statement]


def is_connective(e: Expr) -> TypeIs[n.Binary[Expr, Connective]]:
    """Whether `e` evaluates its right side only where that decides."""
    return isinstance(e, n.Binary) and OPERATORS[e.op].kind == "connective"


def as_choice(e: n.Binary[Expr, Connective]) -> n.If[Expr]:
    """`and`, `or` or `implies` as a choice: the right side is evaluated only where it decides."""
    known = n.Literal(e.op != "and", type=e.type)
    ways = (known, e.right) if e.op == "or" else (e.right, known)
    return n.If(e.left, *ways, type=e.type)
