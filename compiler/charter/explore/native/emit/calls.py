"""Emits calls of declared functions: small ones inline, others as functions."""

from __future__ import annotations

from itertools import islice

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.walk import nodes
from charter.explore.native.emit.code import Code, Operand, Truth, operand
from charter.explore.native.emit.expr_emitter import ExprEmitter
from charter.explore.native.emit.functions import CTX, OUT, Declared, declare
from charter.explore.native.emit.unit import FATAL_COUNTER, FATAL_RANGE
from charter.explore.native.emit.values import Held, Scalar, receive
from charter.explore.native.memory.layout import FAR

INLINE = 12
"""Functions of at most so many nodes are printed where they are called."""


def call(expr: ExprEmitter, e: n.Call[s.Expr], args: list[Held]) -> Held:
    """A declared function: printed here if it is small, called otherwise."""
    function = expr.unit.declared[e.function]
    pairs = list(zip(function.params, args, strict=True))
    fits = all(_fits(expr, p.type, a) for p, a in pairs) and _simple(expr, function.result)
    if fits and any(islice(nodes(function.body), INLINE, None)):
        return emit_call(expr, function, args)
    outer = expr.names
    expr.names = {p.name: a for p, a in pairs}
    found = expr.value(function.body)
    expr.names = outer
    return found


def _simple(expr: ExprEmitter, kind: t.Type) -> bool:
    return not isinstance(kind, t.Set) or not expr.layout.is_open(kind.inner)


def _fits(expr: ExprEmitter, kind: t.Type, value: Held) -> bool:
    if not isinstance(value, Scalar) or isinstance(kind, t.Set):
        return _simple(expr, kind)
    low, high = expr.layout.span(kind)
    return low <= value.low and value.high <= high


def emit_call(expr: ExprEmitter, function: s.Function, args: list[Held]) -> Held:
    """A call of a function of its own."""
    target = unit_function(expr, function)
    given = [pass_value(expr, p.type, v) for p, v in zip(function.params, args, strict=True)]
    if target.result is None:
        given.append(expr.code.memory(expr.layout.slots(function.result)))
    found = expr.code.call(target, CTX, *given)
    _, low, high = expr.layout.register(function.result)
    return receive(function.result, given[-1] if found is None else found, low, high)


def pass_value(expr: ExprEmitter, kind: t.Type, value: Held) -> Operand:
    """A value as an argument of its type."""
    match value:
        case Truth():
            return value
        case Scalar() if isinstance(kind, t.Set):
            return expr.keep.rebase(value, *expr.layout.register(kind)[1:])
        case Scalar():
            return value.ref
        case _:
            return expr.keep.address(expr.keep.place(value, kind))


def unit_function(expr: ExprEmitter, function: s.Function) -> Declared:
    """A function, which is printed once."""
    shapes = [expr.layout.register(param.type) for param in function.params]
    result, _, _ = expr.layout.register(function.result)
    target = declare(function.name, [ty for ty, _, _ in shapes], result)
    if function.name in expr.unit.printed:
        return target
    expr.unit.printed.add(function.name)
    params = [operand(ty, f"%a{i}") for i, (ty, _, _) in enumerate(shapes)]
    pairs = zip(function.params, params, shapes, strict=True)
    names = {p.name: receive(p.type, ref, low, high) for p, ref, (_, low, high) in pairs}
    code = Code.of(target, CTX, *(params if target.result else [*params, OUT]))
    inner = expr.in_function(code, names)
    value = inner.value(function.body)
    if target.result is None:
        inner.keep.put(value, function.result, OUT, 0)
        code.give()
    else:
        hold(inner, function.result, value)
        code.give(pass_value(inner, function.result, value))
    expr.unit.add(code)
    return target


def hold(expr: ExprEmitter, kind: t.Type, value: Held) -> None:
    """Go on only if a number is within its type."""
    low, high = expr.layout.span(kind)
    if not isinstance(value, Scalar) or low == -FAR or _fits(expr, kind, value):
        return
    at = expr.code.sub(value.ref, low)
    with expr.code.unless(expr.code.compare("ule", at, high - low)):
        expr.fatal(FATAL_COUNTER if isinstance(kind, t.Counter) else FATAL_RANGE)
