"""Prints primitives: sizes and members of sets, and operations on lists."""

from __future__ import annotations

from typing import assert_never

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit import operators
from charter.explore.native.emit.code import TRUE, Number
from charter.explore.native.emit.expr_emitter import ExprEmitter
from charter.explore.native.emit.values import Composite, Held, InMemory, Scalar, scalar


def primitive(expr: ExprEmitter, e: n.Primitive[s.Expr], args: list[Held]) -> Held:
    """The value of a primitive."""
    code, keep = expr.code, expr.keep
    match e.name:
        case "size" if isinstance(mask := args[0], Scalar):
            return Scalar(code.bits(mask.ref, mask.ty), 0, mask.high - mask.low + 1)
        case "size":
            count = keep.length(args[0])
            return Scalar(count, count if isinstance(count, int) else 0, most(expr, args[0]))
        case "least" | "greatest":
            return extreme(expr, e, scalar(args[0]))
        case "set":
            count, places = keep.length(args[0]), range(most(expr, args[0]))
            return operators.set_of(expr, e.type, [keep.item(args[0], i) for i in places], count)
        case "nth":
            if not (room := most(expr, args[0])):  # no list has an item, so this is not executed
                return keep.blank(e.type)
            at = scalar(args[1]).ref
            return keep.item(args[0], code.select(code.compare("ult", at, room), at, 0))
        case "keep" | "take" | "drop" | "join":
            return emit_list(expr, e, args)
        case _:
            assert_never(e.name)


def extreme(expr: ExprEmitter, e: n.Primitive[s.Expr], mask: Scalar) -> Held:
    """The first or the last member of a set that is not empty."""
    code, ty = expr.code, mask.ty
    if e.name == "least":
        at = code.lowest(mask.ref, ty)
    elif ty == "i64":
        at = code.highest(mask.ref)
    else:
        place = code.memory(1)
        code.store(0, place)
        with code.choosing(mask.ref, ty) as bit:
            code.store(bit, place)
        at = code.load(place)
    some = code.nonzero(mask.ref, ty)
    return expr.member(e.type, code.select(some, at, 0), mask)


def most(expr: ExprEmitter, value: Held) -> int:
    """The most items that a list can hold."""
    if isinstance(value, Composite):
        return len(value.parts)
    assert isinstance(value, InMemory) and isinstance(value.kind, t.Seq | t.Ranking)
    return expr.layout.most(value.kind)


def emit_list(expr: ExprEmitter, e: n.Primitive[s.Expr], args: list[Held]) -> Held:
    """Prints a primitive whose result is a list, in cleared memory with room for one item more than
    it can hold."""
    code, keep, kind = expr.code, expr.keep, e.type
    assert isinstance(kind, t.Seq | t.Ranking)
    source, *others = [keep.place(arg) for arg in (args if e.name == "join" else args[:1])]
    room_for = max(expr.layout.most(kind), sum(most(expr, part) for part in (source, *others)))
    slots = 1 + (room_for + 2) * expr.layout.slots(kind.inner)
    out = InMemory(kind, code.memory(slots))
    code.clear(out.pointer, slots)
    first: Number = 0
    end = keep.length(source)
    if e.name in ("take", "drop"):
        cut = scalar(args[1])
        at = cut.ref if cut.low >= 0 else code.call(fn.GREATER, cut.ref, 0)
        bound = code.select(code.compare("lt", at, end), at, end)
        first, end = (0, bound) if e.name == "take" else (bound, end)
    with code.counting(end, first) as i:
        append(expr, out, keep.item(source, i), scalar(args[1]) if e.name == "keep" else None)
    for other in others:
        with code.counting(keep.length(other)) as i:
            append(expr, out, keep.item(other, i))
    if e.name == "join" and isinstance(kind, t.Seq):
        fits = code.compare("le", code.load(out.pointer), expr.layout.most(kind))
        expr.demand(fits, "the sequence grows past its limit", e.span)
    return out


def append(expr: ExprEmitter, out: InMemory, item: Held, kept: Scalar | None = None) -> None:
    """Write an item after the last one of a list. The list grows only if it is a member of `kept`
    (None: always); otherwise the next item overwrites it."""
    code, inner = expr.code, t.inner_of(out.kind)
    size = expr.layout.slots(inner)
    wanted = TRUE if kept is None else operators.member(expr, inner, item, kept)
    count = code.load(out.pointer)
    behind = code.row(out.pointer, count, size)
    expr.keep.put(item, inner, behind, 1)
    if wanted != TRUE:
        with code.unless(wanted):
            code.clear(code.at(behind, 1), size)
    code.store(code.add(count, code.widen(wanted)), out.pointer)


def listing(expr: ExprEmitter, e: n.SeqNew[s.Expr], items: list[Held]) -> Composite:
    """A list literal; a ranking drops duplicates."""
    if isinstance(e.type, t.Ranking):
        for i, a in enumerate(items):
            for b in items[:i]:
                differ = expr.code.negation(expr.keep.equal(a, b, e.type.inner))
                expr.demand(differ, "a ranking holds nothing twice", e.span)
    return Composite(e.type, tuple(items))
