"""Pass: constant folding of boolean operators and `if`.

Changes: boolean operators with a literal side, `if` with a literal condition, `not` of a literal.
Keeps: every value, every branch and conjunct label, every span; a conjunct that becomes true stays.
"""

from __future__ import annotations

from dataclasses import replace

from charter.core import nodes as ir
from charter.core.walk import fold


def run(model: ir.Model) -> ir.Model:
    """Fold the bodies of functions, the only place where the checker leaves constants behind."""
    functions = tuple(replace(f, body=fold(f.body, simplify)) for f in model.functions)
    return replace(model, functions=functions)


def simplify(expr: ir.Expr) -> ir.Expr:
    """One node, its children done."""
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
