"""Emits quantifiers and comprehensions: unrolled over small domains, else as loops over bits."""

from __future__ import annotations

from collections.abc import Iterator

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.explore.native.emit import operators
from charter.explore.native.emit.code import FALSE, Truth
from charter.explore.native.emit.expr_emitter import ExprEmitter
from charter.explore.native.emit.functions import CTX
from charter.explore.native.emit.values import Held, Scalar, scalar
from charter.explore.native.memory.layout import CannotCompile, mask_type

UNROLLED = 4
"""Loops over so few members are written out."""


def each(expr: ExprEmitter, name: str, domain: s.Expr) -> Iterator[int]:
    """Emits a loop over a set, in the order of the domain. The caller prints the body at each
    `yield`: once per member if unrolled, else once. Yields how often that body runs at most."""
    code, inner = expr.code, t.inner_of(domain.type)
    mask = scalar(expr.value(domain))
    ref, ty, size = mask.ref, mask.ty, mask.high - mask.low + 1
    if size > UNROLLED:
        with code.when(code.nonzero(ref, ty)), code.choosing(ref, ty) as at:
            expr.names[name] = expr.member(inner, at, mask)
            yield size
        return
    for i in range(size):
        expr.names[name] = expr.member(inner, i, mask)
        test = code.nonzero(code.binary("and", ref, 1 << i, ty), ty)
        if test != FALSE:
            with code.when(test):
                yield 1


def emit_quantifier(expr: ExprEmitter, e: n.Quantified[s.Expr]) -> Truth:
    """Emits `forall` or `some`; the loop ends at the first member that decides."""
    code = expr.code
    found, after = code.memory(1), code.label()
    decides = e.kind == "some"
    code.store(0, found)
    for _ in each(expr, e.name, e.domain):
        truth = expr.truth(e.body)
        hit, on = code.label(), code.label()
        code.fork(truth if decides else code.negation(truth), hit, on)
        code.start(hit)
        code.store(1, found)
        code.jump(after)
        code.start(on)
    code.jump(after)
    code.start(after)
    known = code.nonzero(code.load(found))
    return known if decides else code.negation(known)


def emit_sum(expr: ExprEmitter, e: n.Quantified[s.Expr]) -> Scalar:
    """Emits `sum`; its range is that of as many bodies as the domain has members."""
    code, total = expr.code, expr.code.memory(1)
    low = high = 0
    code.store(0, total)
    for times in each(expr, e.name, e.domain):
        value = scalar(expr.value(e.body))
        code.store(code.add(code.load(total), value.ref), total)
        low, high = low + times * min(0, value.low), high + times * max(0, value.high)
    return operators.in_a_word(Scalar(code.load(total), low, high))


def comprehend(expr: ExprEmitter, e: n.Comprehend[s.Expr]) -> Scalar:
    """Emits a comprehension; the result is a set."""
    code = expr.code
    low, high = span(expr, e)
    ty = mask_type(high - low + 1)
    room = code.memory((high - low) // 64 + 1)
    code.store(0, room, 0, ty)
    for _ in each(expr, e.name, e.domain):
        with code.when(expr.truth(e.condition)):
            value = expr.value(e.body)
            if e.flatten:
                bit = expr.keep.rebase(scalar(value), low, high)
            else:
                bit = operators.single(expr, t.inner_of(e.type), value, low, high)
            code.store(code.binary("or", code.load(room, 0, ty), bit, ty), room, 0, ty)
    return Scalar(code.load(room, 0, ty), low, high)


def span(expr: ExprEmitter, e: n.Comprehend[s.Expr]) -> tuple[int, int]:
    """The lowest and highest member that the result can have. For numbers without a range the body
    is printed once and discarded, to see the range of its value."""
    items: list[Held] = []
    if expr.layout.is_open(t.inner_of(e.type)):
        if e.flatten:
            raise CannotCompile("nested comprehensions of numbers without a range")
        with expr.code.discarding():
            mask, some = scalar(expr.value(e.domain)), expr.code.load(CTX)
            expr.names[e.name] = expr.member(t.inner_of(e.domain.type), some, mask)
            items.append(expr.value(e.body))
    return operators.members_span(expr, e.type, items)
