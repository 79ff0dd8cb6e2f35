"""Prints operators: arithmetic, comparisons, and set algebra on masks."""

from __future__ import annotations

from typing import Literal as OneOf

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.operators import StrictOp
from charter.explore.native.emit.code import FOLDED, TRUE, Number, Truth
from charter.explore.native.emit.expr_emitter import ExprEmitter
from charter.explore.native.emit.unit import FATAL_COUNTER
from charter.explore.native.emit.values import Held, Scalar, scalar
from charter.explore.native.memory.layout import FAR, LARGEST_DOMAIN, WORD, CannotCompile, mask_type

MOST_OPEN = 256
"""The most numbers in a set whose type has no range."""
SetOp = OneOf["union", "intersection", "difference", "subset"]


def binary(expr: ExprEmitter, e: n.Binary[s.Expr, StrictOp], left: Held, right: Held) -> Held:
    """Prints an infix operation."""
    code, op = expr.code, e.op
    match op:
        case "eq" | "ne":
            same = expr.keep.equal(left, right, e.left.type)
            return same if op == "eq" else code.negation(same)
        case "in":
            return member(expr, t.inner_of(e.right.type), left, scalar(right))
        case "lt" | "le" | "gt" | "ge":
            return code.compare(op, scalar(left).ref, scalar(right).ref)
        case "add" | "sub" | "mul":
            return arithmetic(expr, op, e.type, scalar(left), scalar(right))
        case "union" | "intersection" | "difference" | "subset":
            return algebra(expr, op, scalar(left), scalar(right))


def set_of(
    expr: ExprEmitter, kind: t.Type, items: list[Held], count: Number | None = None
) -> Scalar:
    """Prints a set of items, or of the first `count` of them."""
    low, high = members_span(expr, kind, items)
    code, ty = expr.code, mask_type(high - low + 1)
    mask: Number = 0
    for i, item in enumerate(items):
        inside = TRUE if count is None else code.compare("lt", i, count)
        bit = single(expr, t.inner_of(kind), item, low, high)
        mask = code.binary("or", mask, code.select(inside, bit, 0, ty), ty)
    return Scalar(mask, low, high)


def members_span(expr: ExprEmitter, kind: t.Type, items: list[Held]) -> tuple[int, int]:
    """The lowest and the highest member that a set of these items can have."""
    _, low, high = expr.layout.register(kind)
    if expr.layout.is_open(t.inner_of(kind)):
        low = min((scalar(item).low for item in items), default=0)
        high = max((scalar(item).high for item in items), default=0)
        _refuse_wide(low, high, MOST_OPEN)
    return low, high


def _refuse_wide(low: int, high: int, most: int) -> None:
    """Raises CannotCompile for a set of more than `most` numbers. Only a set of numbers without a
    range gets here: what others hold has fewer values, or is refused by its type."""
    if high - low >= most:
        bounds = "" if low <= -FAR or high >= FAR else f" from {low:,} to {high:,}"
        raise CannotCompile(
            f"a set of numbers{bounds} whose type has no range: the native engine holds at most"
            f" {most:,}; a parameter, a field or a variable of type `int LOW..HIGH` in place of"
            " `int` bounds them"
        )


def single(expr: ExprEmitter, kind: t.Type, item: Held, low: int, high: int) -> Number:
    """The mask with the bit of one member."""
    code, ty = expr.code, mask_type(high - low + 1)
    number = isinstance(kind, t.Int)
    at = expr.within(scalar(item), low, high) if number else expr.bit(kind, item)
    return code.binary("shl", 1, code.cast(at, "i64", ty), ty)


def algebra(expr: ExprEmitter, op: SetOp, a: Scalar, b: Scalar) -> Held:
    """Prints a union, an intersection, a difference, or whether that is empty."""
    code, low, high = expr.code, min(a.low, b.low), max(a.high, b.high)
    _refuse_wide(low, high, LARGEST_DOMAIN)
    ty = mask_type(high - low + 1)
    x, y = expr.keep.rebase(a, low, high), expr.keep.rebase(b, low, high)
    if op in ("difference", "subset"):
        y = code.binary("xor", y, -1, ty)
    found = code.binary("or" if op == "union" else "and", x, y, ty)
    return code.compare("eq", found, 0, ty) if op == "subset" else Scalar(found, low, high)


def member(expr: ExprEmitter, kind: t.Type, item: Held, mask: Scalar) -> Truth:
    """Whether a set has a member."""
    code, ty = expr.code, mask.ty
    inside = TRUE
    if isinstance(kind, t.Int):
        number = scalar(item)
        at = code.sub(number.ref, mask.low)
        if number.low < mask.low or number.high > mask.high:
            inside = code.compare("ule", at, mask.high - mask.low)
            at = code.select(inside, at, 0)
    else:
        at = expr.bit(kind, item)
    if mask.place is not None and ty != "i64":  # a wide mask is not moved through registers
        word = code.load(mask.place, code.binary("lshr", at, WORD.bit_length() - 1))
        bit = code.bit(word, code.binary("and", at, WORD - 1))
        return code.both(inside, code.nonzero(bit))
    bit = code.bit(mask.ref, code.cast(at, "i64", ty), ty)
    return code.both(inside, code.nonzero(bit, ty))


def arithmetic(
    expr: ExprEmitter, op: OneOf["add", "sub", "mul"], kind: t.Type, a: Scalar, b: Scalar
) -> Scalar:
    """Prints arithmetic; the result has the range that follows from the operands' ranges. The
    engine stops if a counter exceeds 63."""
    ends = [FOLDED[op](x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    found, high = expr.code.binary(op, a.ref, b.ref), max(ends)
    if isinstance(kind, t.Counter):
        high = min(63, high)
        if not isinstance(found, int):
            with expr.code.unless(expr.code.compare("ule", found, 63)):
                expr.fatal(FATAL_COUNTER)
    return in_a_word(Scalar(found, min(ends), high))


def in_a_word(number: Scalar) -> Scalar:
    """The same number. Raises CannotCompile where it may have more than 64 bits."""
    if number.low < -(1 << 63) or number.high >= 1 << 63:
        raise CannotCompile("a number of more than 64 bits")
    return number
