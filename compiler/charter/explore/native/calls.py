"""Emits calls of declared functions: small ones inline, others as functions."""

from __future__ import annotations

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.walk import children
from charter.explore.native.code import (
    OWN,
    PTR,
    READ,
    Callee,
    Code,
    Operand,
    Pointer,
    Truth,
    operand,
)
from charter.explore.native.expr_emitter import ExprEmitter
from charter.explore.native.functions import CTX
from charter.explore.native.layout import FAR
from charter.explore.native.unit import FATAL_COUNTER, FATAL_RANGE
from charter.explore.native.values import Held, Scalar, received

INLINE = 12
"""Functions of at most so many nodes are printed where they are called."""


def call(expr: ExprEmitter, e: n.Call[s.Expr], args: list[Held]) -> Held:
    """A declared function: printed here if it is small, called otherwise."""
    function = expr.unit.function(e.function)
    params = zip(function.params, args, strict=True)
    fits = all(_fits(expr, p.type, a) for p, a in params) and _simple(expr, function.result)
    if fits and (function.name in expr.unit.printed or size_of(function.body) > INLINE):
        return called(expr, function, args)
    outer = expr.names
    expr.names = {p.name: a for p, a in zip(function.params, args, strict=True)}
    found = expr.value(function.body)
    expr.names = outer
    return found


def _simple(expr: ExprEmitter, kind: t.Type) -> bool:
    return not isinstance(kind, t.Set) or not expr.layout.is_open(kind.inner)


def _fits(expr: ExprEmitter, kind: t.Type, value: Held) -> bool:
    if not isinstance(value, Scalar) or isinstance(kind, t.Bool | t.Set):
        return _simple(expr, kind)
    low, high = expr.layout.span(kind)
    return low <= value.low and value.high <= high


def callee(expr: ExprEmitter, function: s.Function) -> Callee[Operand | None, *tuple[Operand, ...]]:
    """The compiled function. Scalars are passed as they are, others by their places; a result that
    is no scalar is written to a place, which is passed last."""
    types = [expr.layout.register(param.type)[0] for param in function.params]
    result = expr.layout.register(function.result)[0]
    kinds = [READ if ty == "ptr" else operand(ty, ty) for ty in types]
    if result == "ptr":
        return Callee(f"fn_{function.name}", (PTR, *kinds, OWN), None)
    return Callee(f"fn_{function.name}", (PTR, *kinds), operand(result, result))


def called(expr: ExprEmitter, function: s.Function, args: list[Held]) -> Held:
    """A call of a function of its own."""
    unit_function(expr, function)
    kind, target = function.result, callee(expr, function)
    given = [passed(expr, p.type, v) for p, v in zip(function.params, args, strict=True)]
    if target.result is None:
        given.append(expr.code.memory(expr.layout.slots(kind)))
    found = expr.code.call(target, CTX, *given)
    _, low, high = expr.layout.register(kind)
    return received(kind, given[-1] if found is None else found, low, high)


def passed(expr: ExprEmitter, kind: t.Type, value: Held) -> Operand:
    """A value as an argument of its type."""
    match value:
        case Truth():
            return value
        case Scalar() if isinstance(kind, t.Set):
            return expr.keep.rebased(value, *expr.layout.register(kind)[1:])
        case Scalar():
            return value.ref
        case _:
            return expr.keep.address(expr.keep.placed(value, kind))


def unit_function(expr: ExprEmitter, function: s.Function) -> None:
    """Print a function once."""
    if function.name in expr.unit.printed:
        return
    expr.unit.printed.add(function.name)
    target, names, out = callee(expr, function), dict[str, Held](), Pointer("%out")
    params = []
    for i, param in enumerate(function.params):
        ty, low, high = expr.layout.register(param.type)
        params.append(operand(ty, f"%a{i}"))
        names[param.name] = received(param.type, params[i], low, high)
    if target.result is None:
        params.append(out)
    code = Code.of(target, CTX, *params)
    inner = expr.in_function(code, names)
    value = inner.value(function.body)
    if target.result is None:
        inner.keep.put(value, function.result, out, 0)
        code.give()
    else:
        hold(inner, function.result, value)
        code.give(passed(inner, function.result, value))
    expr.unit.add(code)


def hold(expr: ExprEmitter, kind: t.Type, value: Held) -> None:
    """Go on only if a number is within its type."""
    low, high = expr.layout.span(kind)
    if not isinstance(value, Scalar) or low == -FAR or _fits(expr, kind, value):
        return
    at = expr.code.sub(value.ref, low)
    with expr.code.unless(expr.code.compare("ule", at, high - low)):
        expr.fatal(FATAL_COUNTER if isinstance(kind, t.Counter) else FATAL_RANGE)


def size_of(expr: n.Expr) -> int:
    """The number of nodes of an expression."""
    return 1 + sum(size_of(child) for child in children(expr))
