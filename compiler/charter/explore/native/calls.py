"""Emits calls of declared functions: small ones inline, others as functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.walk import children
from charter.explore.native.code import Callee, Code, Ref
from charter.explore.native.layout import FAR
from charter.explore.native.unit import FATAL_COUNTER, FATAL_RANGE
from charter.explore.native.values import SCALARS, Held, InMemory, Scalar

if TYPE_CHECKING:
    from charter.explore.native.expr import Expr

INLINE = 12
"""Functions of at most so many nodes are printed where they are called."""


def call(expr: Expr, e: n.Call[s.Expr], args: list[Held]) -> Held:
    """A declared function: printed here if it is small, called otherwise."""
    function = expr.unit.function(e.function)
    params = zip(function.params, args, strict=True)
    fits = all(_fits(expr, p.type, a) for p, a in params) and _simple(expr, function.result)
    if fits and size_of(function.body) > INLINE:
        return called(expr, function, args)
    outer = expr.names
    expr.names = {p.name: a for p, a in zip(function.params, args, strict=True)}
    found = expr.value(function.body)
    expr.names = outer
    return found


def _simple(expr: Expr, kind: t.Type) -> bool:
    return not isinstance(kind, t.Set) or not expr.layout.is_open(kind.inner)


def _fits(expr: Expr, kind: t.Type, value: Held) -> bool:
    if not isinstance(value, Scalar) or isinstance(kind, t.Bool):
        return True
    if isinstance(kind, t.Set):
        return _simple(expr, kind)
    low, high = expr.layout.span(kind)
    return low <= value.low and value.high <= high


def called(expr: Expr, function: s.Function, args: list[Held]) -> Held:
    """A call of a function of its own."""
    kind, refs = function.result, ["%ctx"]
    for param, value in zip(function.params, args, strict=True):
        if isinstance(value, Scalar):
            refs.append(passed(expr, param.type, value))
        else:
            refs.append(expr.keep.address(expr.keep.placed(value, param.type)))
    unit_function(expr, function)
    target = _target(expr, function)
    if isinstance(kind, SCALARS):
        return bounded(expr, kind, expr.code.call(target, *refs))
    room = expr.code.memory(expr.layout.slots(kind))
    expr.code.call(target, *refs, room)
    return InMemory(kind, room)


def _target(expr: Expr, function: s.Function) -> Callee:
    """What is called: scalars are passed as they are, others by their places, and a result that is
    no scalar is written to a place."""
    kinds = [p.type for p in function.params]
    types = [register(expr, k) if isinstance(k, SCALARS) else "ptr" for k in kinds]
    name = f"fn_{function.name}"
    if isinstance(function.result, SCALARS):
        return Callee(name, ("ptr", *types), register(expr, function.result))
    return Callee(name, ("ptr", *types, "ptr"))


def register(expr: Expr, kind: t.Type) -> str:
    """The LLVM type of a scalar."""
    if isinstance(kind, t.Bool):
        return "i1"
    return expr.layout.width(kind)[0] if isinstance(kind, t.Set) else "i64"


def passed(expr: Expr, kind: t.Type, value: Scalar) -> Ref:
    """A scalar as an argument of its type."""
    if isinstance(kind, t.Set):
        _, low, high = expr.layout.width(kind)
        return expr.keep.rebased(value, low, high)
    return value.ref


def bounded(expr: Expr, kind: t.Type, ref: Ref) -> Scalar:
    """A scalar of a type."""
    if isinstance(kind, t.Set):
        _, low, high = expr.layout.width(kind)
    else:
        low, high = expr.layout.span(kind)
    return Scalar(ref, low, high)


def unit_function(expr: Expr, function: s.Function) -> None:
    """Print a function once."""
    if function.name in expr.unit.printed:
        return
    expr.unit.printed.add(function.name)
    texts, names = ["ptr %ctx"], dict[str, Held]()
    for i, param in enumerate(function.params):
        if isinstance(param.type, SCALARS):
            texts.append(f"{register(expr, param.type)} %a{i}")
            names[param.name] = bounded(expr, param.type, f"%a{i}")
        else:
            texts.append(f"ptr noalias readonly %a{i}")
            names[param.name] = InMemory(param.type, f"%a{i}")
    kind = function.result
    plain = isinstance(kind, SCALARS)
    ty = register(expr, kind) if plain else "void"
    out = [] if plain else ["ptr noalias %out"]
    head = f"internal {ty} @fn_{function.name}({', '.join([*texts, *out])})"
    code = Code(head, "nounwind")
    inner = replace(expr, code=code, names=names, before={}, after={})
    value = inner.value(function.body)
    if isinstance(value, Scalar):
        code.give(passed(inner, kind, checked(inner, kind, value)))
    else:
        inner.keep.put(value, kind, "%out", 0)
        code.give()
    expr.unit.add(code)


def checked(expr: Expr, kind: t.Type, value: Scalar) -> Scalar:
    """A scalar that is within its type, or the engine cannot go on."""
    if isinstance(kind, t.Bool | t.Set):
        return value
    low, high = expr.layout.span(kind)
    if value.low < low or value.high > high:
        at = expr.code.binary("sub", value.ref, str(low))
        if low != -FAR:
            with expr.code.unless(expr.code.compare("ule", at, str(high - low))):
                expr.fatal(FATAL_RANGE if not isinstance(kind, t.Counter) else FATAL_COUNTER)
    return value


def size_of(expr: n.Expr) -> int:
    """The number of nodes of an expression."""
    return 1 + sum(size_of(child) for child in children(expr))
