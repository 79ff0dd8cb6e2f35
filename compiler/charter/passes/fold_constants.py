"""Folds constants in `and`, `or`, `not` and `if`.

Changes: `and` and `or` with a literal left side, `if` with a literal condition, `not` of a
literal; everywhere but in scenarios. Keeps: every value and where it is defined, every branch and
conjunct label, every span, also conjuncts that become true. Leaves none of: nothing, since later
passes may introduce such expressions.
"""

from __future__ import annotations

from charter.core import nodes as ir


def simplify(expr: ir.Expr) -> ir.Expr:
    """Rewrite one node whose children are rewritten."""
    match expr:
        case ir.If(condition=ir.Literal(value=bool(truth))):
            return expr.then if truth else expr.otherwise
        case ir.Unary(op="not", operand=ir.Literal(value=bool(truth))):
            return ir.Literal(not truth, type=expr.type, span=expr.span)
        case ir.Binary(op="and" | "or" as op, left=ir.Literal(value=bool(truth))):
            decided = truth is (op == "or")
            return expr.left if decided else expr.right
        case _:
            return expr
