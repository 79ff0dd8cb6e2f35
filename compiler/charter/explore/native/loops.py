"""Emits quantifiers and comprehensions: unrolled over small domains, else loops over bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.explore.native import operators
from charter.explore.native.layout import CannotCompile, mask_type
from charter.explore.native.values import Scalar, is_literal, scalar

if TYPE_CHECKING:
    from charter.explore.native.expr import Expr

UNROLLED = 4
"""Loops over so few members are written out."""


def each(expr: Expr, name: str, domain: s.Expr, body: Callable[[], None]) -> None:
    """`body` for each member of a set, in the order of the domain."""
    code = expr.code
    assert isinstance(domain.type, t.Set)
    inner = domain.type.inner
    mask = scalar(expr.value(domain))
    size, ty = mask.high - mask.low + 1, mask_type(mask.high - mask.low + 1)
    whole = isinstance(domain, n.Domain)
    if size <= UNROLLED:
        for i in range(size):
            expr.names[name] = expr.member(inner, str(i), mask)
            bit = code.binary("and", mask.ref, str(1 << i), ty)
            test = "true" if whole else code.compare("ne", bit, "0", ty)
            if test == "true":
                body()
            elif test != "false":
                with code.when(test):
                    body()
        return
    with code.when(code.compare("ne", mask.ref, "0", ty)), code.choosing(mask.ref, ty) as at:
        expr.names[name] = expr.member(inner, at, mask)
        body()


def quantified(expr: Expr, e: n.Quantified[s.Expr]) -> Scalar:
    """`forall` and `some`: the search ends with the first member that decides."""
    code = expr.code
    found, after = code.memory(1), code.label()
    decides = e.kind == "some"
    code.store("0", found)

    def body() -> None:
        truth = expr.truth(e.body)
        hit, on = code.label(), code.label()
        code.fork(truth if decides else code.negation(truth), hit, on)
        code.start(hit)
        code.store("1", found)
        code.jump(after)
        code.start(on)

    each(expr, e.name, e.domain, body)
    code.jump(after)
    code.start(after)
    hit_ = code.compare("ne", code.load(found), "0")
    return Scalar(hit_ if decides else code.negation(hit_))


def comprehend(expr: Expr, e: n.Comprehend[s.Expr]) -> Scalar:
    """A set built from another."""
    code = expr.code
    assert isinstance(e.type, t.Set)
    low, high = span(expr, e)
    ty = mask_type(high - low + 1)
    room = code.memory((high - low) // 64 + 1)
    code.store("0", room, 0, ty)
    inner = e.type.inner

    def add() -> None:
        value = expr.value(e.body)
        if e.flatten:
            bit = expr.keep.rebased(scalar(value), low, high)
        else:
            bit = operators.single(expr, inner, value, low, high)
        code.store(code.binary("or", code.load(room, 0, ty), bit, ty), room, 0, ty)

    def body() -> None:
        if is_literal(e.condition, True):
            add()
            return
        with code.when(expr.truth(e.condition)):
            add()

    each(expr, e.name, e.domain, body)
    return Scalar(code.load(room, 0, ty), low, high)


def span(expr: Expr, e: n.Comprehend[s.Expr]) -> tuple[int, int]:
    """What the bits of the result stand for. Numbers without a range are tried out: the body is
    printed once into nowhere to see what it can be."""
    assert isinstance(e.type, t.Set)
    if not expr.layout.is_open(e.type.inner):
        _, low, high = expr.layout.register(e.type)
        return low, high
    if e.flatten:
        raise CannotCompile("nested comprehensions of numbers without a range")
    code = expr.code
    kept, allocas, block = len(code.lines), len(code.allocas), code.block
    assert isinstance(e.domain.type, t.Set)
    mask = scalar(expr.value(e.domain))
    expr.names[e.name] = expr.member(e.domain.type.inner, code.add("%ctx_", "1"), mask)
    found = scalar(expr.value(e.body))
    del code.lines[kept:], code.allocas[allocas:]
    code.block = block
    if found.high - found.low > 255:
        raise CannotCompile("a set of numbers without a range")
    return found.low, found.high
