"""Types operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

from charter.check.names.scopes import TypeScope, unknown
from charter.check.names.types import BOOL, INT, fits, is_unknown, join, show_type
from charter.check.typing.patterns import holding
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.operators import OPERATORS, Kind
from charter.syntax import nodes as sx


def is_open(node: sx.Expr) -> bool:
    """Whether the type of `node` must come from its context (`none`, `{}`, a number, ...)."""
    match node:
        case sx.IntLit() | sx.NoneLit() | sx.SeqLit():
            return True
        case sx.SetLit():
            return all(is_open(item) for item in node.items)
        case sx.Apply(name=sx.Name(text="present")):
            return all(is_open(arg) for arg in node.args)
        case sx.If():
            return is_open(node.then) and is_open(node.otherwise)
        case sx.LetIn():
            return is_open(node.body)
        case sx.Unary(op="-"):
            return is_open(node.operand)
        case sx.Binary() if node.op in _ARITHMETIC or node.op in _SETS:
            return is_open(node.left) and is_open(node.right)
        case _:
            return False


def pair(
    scope: TypeScope, left: sx.Expr, right: sx.Expr, expected: ty.Type | None
) -> tuple[ir.Expr, ir.Expr]:
    """Both sides, each guided by the type of the other; the caller compares the types."""
    if is_open(left) and not is_open(right):
        second = scope.infer(right, expected)
        return scope.infer(left, second.type), second
    first = scope.infer(left, expected)
    return first, scope.infer(right, first.type)


def unary(scope: TypeScope, node: sx.Unary) -> ir.Expr:
    """`not x`, `-x`."""
    match node.op:
        case "not":
            operand = scope.check(node.operand, BOOL)
            return ir.Unary("not", operand, type=BOOL, span=node.span)
        case "-":
            operand = scope.check(node.operand, INT)
            if isinstance(operand, ir.Literal) and isinstance(operand.value, int):
                return ir.Literal(-operand.value, type=INT, span=node.span)
            return ir.Unary("negate", operand, type=INT, span=node.span)
        case _:
            assert_never(node.op)


def _by_sign(kind: Kind) -> Mapping[str, ir.RichOp]:
    return {traits.sign: op for op, traits in OPERATORS.items() if traits.kind == kind}


_EQUALITY: Final = _by_sign("equality")
_ORDER: Final = _by_sign("order")
_ARITHMETIC: Final = _by_sign("arithmetic")
_SETS: Final = _by_sign("sets")


def binary(scope: TypeScope, node: sx.Binary, expected: ty.Type | None) -> ir.Expr:
    """An infix operation."""
    match node.op:
        case "and" | "or" | "implies":
            left = scope.check(node.left, BOOL)
            behind = scope if node.op == "or" else holding(scope, node.left)
            right = behind.check(node.right, BOOL)
            return ir.Binary(node.op, left, right, type=BOOL, span=node.span)
        case "==" | "!=":
            return _equality(scope, node)
        case "<" | "<=" | ">" | ">=":
            return _order(scope, node)
        case "in" | "not in":
            return _membership(scope, node)
        case "subset":
            return _subset(scope, node)
        case "+" | "-" | "*" | "|" | "&":
            return _combination(scope, node, expected)
        case _:
            assert_never(node.op)


def _equality(scope: TypeScope, node: sx.Binary) -> ir.Expr:
    left, right = pair(scope, node.left, node.right, None)
    if not fits(left.type, right.type) and not fits(right.type, left.type):
        right = scope.fit(right, left.type)
    return ir.Binary(_EQUALITY[node.op], left, right, type=BOOL, span=node.span)


def _order(scope: TypeScope, node: sx.Binary) -> ir.Expr:
    left, right = pair(scope, node.left, node.right, None)
    for side in (left, right):
        kind = side.type
        if is_unknown(kind) or isinstance(kind, ty.Int):
            continue
        if not isinstance(kind, ty.Counter):
            hint = "for sets write `subset`" if isinstance(kind, ty.Set) else ""
            message = f"{show_type(kind)} has no order"
            return scope.wrong("type/mismatch", message, side.span, hint=hint)
        if not kind.ordered:
            message = f"{kind.name} is opaque: its values have no order"
            return scope.wrong("type/mismatch", message, side.span)
    right = scope.fit(right, left.type)
    return ir.Binary(_ORDER[node.op], left, right, type=BOOL, span=node.span)


def _membership(scope: TypeScope, node: sx.Binary) -> ir.Expr:
    if is_open(node.right):
        item = scope.infer(node.left)
        group = scope.infer(node.right, ty.Set(item.type))
    else:
        group = scope.infer(node.right)
        item = scope.infer(node.left, group.type.inner if isinstance(group.type, ty.Set) else None)
    if is_unknown(group.type) or is_unknown(item.type):
        return unknown(node.span)
    if not isinstance(group.type, ty.Set):
        ordered = isinstance(group.type, ty.Seq | ty.Ranking)
        hint = "write `set(...)` for its members" if ordered else ""
        message = f"`in` needs a set, found {show_type(group.type)}"
        return scope.wrong("type/mismatch", message, group.span, hint=hint)
    item = scope.fit(item, group.type.inner)
    result = ir.Binary("in", item, group, type=BOOL, span=node.span)
    if node.op == "not in":
        return ir.Unary("not", result, type=BOOL, span=node.span)
    return result


def _subset(scope: TypeScope, node: sx.Binary) -> ir.Expr:
    left, right = pair(scope, node.left, node.right, None)
    for side in (left, right):
        if not isinstance(side.type, ty.Set) and not is_unknown(side.type):
            message = f"`subset` compares sets, found {show_type(side.type)}"
            return scope.wrong("type/mismatch", message, side.span)
    right = scope.fit(right, left.type)
    return ir.Binary("subset", left, right, type=BOOL, span=node.span)


def _combination(scope: TypeScope, node: sx.Binary, expected: ty.Type | None) -> ir.Expr:
    guide = expected if isinstance(expected, ty.Set) else None
    left, right = pair(scope, node.left, node.right, guide)
    if is_unknown(left.type) or is_unknown(right.type):
        return unknown(node.span)
    if isinstance(left.type, ty.Set) and node.op in _SETS:
        right = scope.fit(right, left.type)
        kind = join(left.type, right.type)
        return ir.Binary(_SETS[node.op], left, right, type=kind, span=node.span)
    if isinstance(left.type, ty.Int) and node.op in _ARITHMETIC:
        right = scope.fit(right, INT)
        return ir.Binary(_ARITHMETIC[node.op], left, right, type=INT, span=node.span)
    hint = _combination_hint(node.op, left.type)
    message = f"`{node.op}` is not for {show_type(left.type)}"
    return scope.wrong("type/mismatch", message, left.span, hint=hint)


def _combination_hint(op: str, kind: ty.Type) -> str:
    match kind:
        case ty.Counter():
            return "counters are compared and bumped: `bump(x)`"
        case ty.Seq() | ty.Ranking():
            return "use `append`, `concat`, `remove`, or `set(...)` for the members"
        case ty.Set() if op == "+":
            return "join sets with `|`"
        case ty.Int() if op in ("|", "&"):
            return "`|` and `&` are for sets"
        case ty.Bool() if op in ("|", "&"):
            return "write `or`, `and`"
        case _:
            return ""
