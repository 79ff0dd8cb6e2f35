"""Emits calls of declared functions: small ones inline, others as functions."""

from __future__ import annotations

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.walk import children
from charter.explore.native.code import Callee, Code, Ref
from charter.explore.native.expr_emitter import ExprEmitter
from charter.explore.native.layout import FAR
from charter.explore.native.unit import FATAL_COUNTER, FATAL_RANGE
from charter.explore.native.values import SCALARS, Held, InMemory, Scalar

INLINE = 12
"""Functions of at most so many nodes are printed where they are called."""


def call(expr: ExprEmitter, e: n.Call[s.Expr], args: list[Held]) -> Held:
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


def _simple(expr: ExprEmitter, kind: t.Type) -> bool:
    return not isinstance(kind, t.Set) or not expr.layout.is_open(kind.inner)


def _fits(expr: ExprEmitter, kind: t.Type, value: Held) -> bool:
    if not isinstance(value, Scalar) or isinstance(kind, t.Bool | t.Set):
        return _simple(expr, kind)
    low, high = expr.layout.span(kind)
    return low <= value.low and value.high <= high


def called(expr: ExprEmitter, function: s.Function, args: list[Held]) -> Held:
    """A call of a function of its own: scalars are passed as they are, others by their places, and
    a result that is no scalar is written to a place."""
    unit_function(expr, function)
    name, kinds, kind = f"fn_{function.name}", [p.type for p in function.params], function.result
    refs = [passed(expr, k, value) for k, value in zip(kinds, args, strict=True)]
    types = [expr.layout.register(k)[0] for k in (*kinds, kind)]
    if isinstance(kind, SCALARS):
        callee = Callee(name, ("ptr", *types[:-1]), types[-1])
        return received(expr, kind, expr.code.call(callee, "%ctx", *refs))
    room = expr.code.memory(expr.layout.slots(kind))
    expr.code.call(Callee(name, ("ptr", *types)), "%ctx", *refs, room)
    return InMemory(kind, room)


def passed(expr: ExprEmitter, kind: t.Type, value: Held) -> Ref:
    """A value as an argument of its type."""
    if not isinstance(value, Scalar):
        return expr.keep.address(expr.keep.placed(value, kind))
    _, low, high = expr.layout.register(kind)
    return expr.keep.rebased(value, low, high) if isinstance(kind, t.Set) else value.ref


def received(expr: ExprEmitter, kind: t.Type, ref: Ref) -> Held:
    """A value that was passed."""
    _, low, high = expr.layout.register(kind)
    return Scalar(ref, low, high) if isinstance(kind, SCALARS) else InMemory(kind, ref)


def unit_function(expr: ExprEmitter, function: s.Function) -> None:
    """Print a function once."""
    if function.name in expr.unit.printed:
        return
    expr.unit.printed.add(function.name)
    texts, names = ["ptr %ctx"], dict[str, Held]()
    for i, param in enumerate(function.params):
        ty = expr.layout.register(param.type)[0]
        texts.append(f"{'ptr noalias readonly' if ty == 'ptr' else ty} %a{i}")
        names[param.name] = received(expr, param.type, f"%a{i}")
    kind, (ty, *_) = function.result, expr.layout.register(function.result)
    if ty == "ptr":
        ty, texts = "void", [*texts, "ptr noalias %out"]
    code = Code(f"internal {ty} @fn_{function.name}({', '.join(texts)})", "nounwind")
    inner = expr.in_function(code, names)
    value = inner.value(function.body)
    if isinstance(value, Scalar):
        hold(inner, kind, value)
        code.give(passed(inner, kind, value))
    else:
        inner.keep.put(value, kind, "%out", 0)
        code.give()
    expr.unit.add(code)


def hold(expr: ExprEmitter, kind: t.Type, value: Scalar) -> None:
    """Go on only if a number is within its type."""
    low, high = expr.layout.span(kind)
    if isinstance(kind, t.Set) or low == -FAR or _fits(expr, kind, value):
        return
    at = expr.code.binary("sub", value.ref, str(low))
    with expr.code.unless(expr.code.compare("ule", at, str(high - low))):
        expr.fatal(FATAL_COUNTER if isinstance(kind, t.Counter) else FATAL_RANGE)


def size_of(expr: n.Expr) -> int:
    """The number of nodes of an expression."""
    return 1 + sum(size_of(child) for child in children(expr))
