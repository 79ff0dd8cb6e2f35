"""Types the built-in functions; one row or function per name."""

from __future__ import annotations

from typing import assert_never, cast

from charter.check.names.scopes import TypeScope, unknown
from charter.check.names.types import BOOL, INT, count, is_unknown, join, show_type
from charter.check.typing.operators import pair
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.builtins import BUILTINS
from charter.diagnostics import Span
from charter.syntax import nodes as sx


def builtin(scope: TypeScope, node: sx.Apply, expected: ty.Type | None) -> ir.Expr:
    """A call of a built-in function."""
    name = cast(ir.BuiltinName, node.name.text)
    if len(node.args) not in BUILTINS[name].arity:
        wanted = " or ".join(count(number, "argument") for number in BUILTINS[name].arity)
        message = f"`{name}` takes {wanted}, given: {len(node.args)}"
        return scope.wrong("type/arity", message, node.span)
    match name:
        case "min" | "max":
            return _extreme(scope, node, name)
        case "value" | "default":
            return _of_option(scope, node, name, expected)
        case "size" | "bump" | "set" | "first" | "last":
            return _of_one(scope, node, name, expected)
        case "append" | "remove" | "concat" | "keep" | "take" | "drop" | "at" | "item":
            return _of_two(scope, node, name, expected)
        case "starts_with":
            return _starts_with(scope, node)
        case _:
            assert_never(name)


def _extreme(scope: TypeScope, node: sx.Apply, name: ir.BuiltinName) -> ir.Expr:
    if len(node.args) == 2:
        left, right = pair(scope, node.args[0], node.args[1], None)
        kind: ty.Type = INT if isinstance(left.type, ty.Int) else left.type
        right = scope.fit(right, kind)
        args: tuple[ir.Expr, ...] = (left, right)
    else:
        only = scope.infer(node.args[0])
        if not isinstance(only.type, ty.Set):
            return _wrong(scope, name, only, node.span)
        kind, args = only.type.inner, (only,)
    if is_unknown(kind):
        return unknown(node.span)
    if isinstance(kind, ty.Int) or (isinstance(kind, ty.Counter) and kind.ordered):
        return ir.Builtin(name, args, type=kind, span=node.span)
    return scope.wrong("type/mismatch", f"{show_type(kind)} has no order", node.span)


def _of_option(
    scope: TypeScope, node: sx.Apply, name: ir.BuiltinName, expected: ty.Type | None
) -> ir.Expr:
    guide = None if expected is None or is_unknown(expected) else ty.Option(expected)
    option = scope.infer(node.args[0], guide)
    if not isinstance(option.type, ty.Option):
        return _wrong(scope, name, option, node.span)
    inner = option.type.inner
    rest = tuple(scope.check(arg, inner) for arg in node.args[1:])
    for other in rest:
        inner = join(inner, other.type)
    return ir.Builtin(name, (option, *rest), type=inner, span=node.span)


def _of_one(
    scope: TypeScope, node: sx.Apply, name: ir.BuiltinName, expected: ty.Type | None
) -> ir.Expr:
    arg = scope.infer(node.args[0], expected if name == "bump" else None)
    kind: ty.Type
    match name, arg.type:
        case "size", ty.Set() | ty.Seq() | ty.Ranking():
            kind = INT
        case "bump", ty.Counter() as counter:
            kind = counter
        case "set", ty.Seq(inner=inner) | ty.Ranking(inner=inner):
            kind = ty.Set(inner)
        case (("first" | "last"), ty.Seq(inner=inner) | ty.Ranking(inner=inner)):
            kind = _option_of(scope, inner, node.span)
        case _:
            return _wrong(scope, name, arg, node.span)
    return ir.Builtin(name, (arg,), type=kind, span=node.span)


def _of_two(
    scope: TypeScope, node: sx.Apply, name: ir.BuiltinName, expected: ty.Type | None
) -> ir.Expr:
    keeps_type = name in ("append", "remove", "concat", "keep", "take", "drop")
    first = scope.infer(node.args[0], expected if keeps_type else None)
    wanted: ty.Type
    kind: ty.Type = first.type
    match name, first.type:
        case "append", ty.Seq(inner=inner) | ty.Ranking(inner=inner):
            wanted = inner
        case "remove", ty.Ranking(inner=inner):
            wanted = inner
        case "concat", ty.Seq() | ty.Ranking():
            return _concat(scope, node, first, expected)
        case "keep", ty.Seq(inner=inner) | ty.Ranking(inner=inner):
            wanted = ty.Set(inner)
        case (("take" | "drop"), ty.Seq()):
            wanted = INT
        case "at", ty.Seq(inner=inner) | ty.Ranking(inner=inner):
            wanted, kind = INT, _option_of(scope, inner, node.span)
        case "item", ty.Seq(inner=inner) | ty.Ranking(inner=inner):
            wanted, kind = INT, inner
        case _:
            return _wrong(scope, name, first, node.span)
    second = scope.check(node.args[1], wanted)
    return ir.Builtin(name, (first, second), type=kind, span=node.span)


def _concat(scope: TypeScope, node: sx.Apply, first: ir.Expr, expected: ty.Type | None) -> ir.Expr:
    """Two sequences, which fail past the limit of the first, or two rankings."""
    second = scope.infer(node.args[1], expected or first.type)
    match first.type, second.type:
        case ty.Seq(inner=inner, limit=limit), ty.Seq() as more:
            kind: ty.Type = ty.Seq(join(inner, more.inner), limit)
            second = scope.fit(second, ty.Seq(inner, more.limit))
        case ty.Ranking(), ty.Ranking():
            kind = join(first.type, second.type)
            second = scope.fit(second, first.type)
        case _:
            return _wrong(scope, "concat", second, node.span)
    return ir.Builtin("concat", (first, second), type=kind, span=node.span)


def _starts_with(scope: TypeScope, node: sx.Apply) -> ir.Expr:
    """Two sequences with items of one type; their limits may differ."""
    whole, start = pair(scope, node.args[0], node.args[1], None)
    match whole.type, start.type:
        case ty.Seq(inner=inner), ty.Seq(limit=limit):
            start = scope.fit(start, ty.Seq(inner, limit))
            return ir.Builtin("starts_with", (whole, start), type=BOOL, span=node.span)
        case ty.Seq(), _:
            return _wrong(scope, "starts_with", start, node.span)
        case _:
            return _wrong(scope, "starts_with", whole, node.span)


def _option_of(scope: TypeScope, inner: ty.Type, span: Span) -> ty.Type:
    if isinstance(inner, ty.Option):
        message = "an option of an option is not allowed"
        return scope.wrong("type/nested-option", message, span).type
    return ty.Option(inner)


def _wrong(scope: TypeScope, name: ir.BuiltinName, arg: ir.Expr, span: Span) -> ir.Expr:
    if is_unknown(arg.type):
        return unknown(span)
    message = f"`{name}` takes {BUILTINS[name].takes}, found {show_type(arg.type)}"
    hint = _OF_A_RANKING.get(name, "") if isinstance(arg.type, ty.Ranking) else ""
    return scope.wrong("type/mismatch", message, arg.span, hint=hint)


_OF_A_RANKING = {
    "take": "`keep(r, group)` has the items of a ranking that are in a set, and `first(r)` is the"
    " first one",
    "drop": "`remove(r, x)` leaves one item out of a ranking, and `keep(r, group)` all that are"
    " not in a set",
}
"""What to write for a ranking instead."""
