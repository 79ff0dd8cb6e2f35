"""Prints primitives: sizes and members of sets, and operations on lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.explore.native import functions as fn
from charter.explore.native import operators
from charter.explore.native.code import TRUE, Number, Pointer, Truth
from charter.explore.native.expr_emitter import ExprEmitter
from charter.explore.native.values import Composite, Held, InMemory, Scalar, scalar


def primitive(expr: ExprEmitter, e: n.Primitive[s.Expr], args: list[Held]) -> Held:
    """The value of a primitive."""
    match e.name:
        case "size":
            return size(expr, e.args[0].type, args[0])
        case "least" | "greatest":
            return extreme(expr, e, scalar(args[0]))
        case "set":
            count, places = expr.keep.length(args[0]), range(most(expr, args[0]))
            items = [expr.keep.item(args[0], i) for i in places]
            return operators.set_of(expr, e.type, items, count)
        case "nth":
            return nth(expr, args[0], scalar(args[1]).ref, e.type)
        case "keep" | "take" | "drop" | "join":
            return listed(expr, e, args)
        case _:
            assert_never(e.name)


def size(expr: ExprEmitter, kind: t.Type, value: Held) -> Scalar:
    """The number of members or items."""
    if isinstance(kind, t.Set):
        mask = scalar(value)
        return Scalar(expr.code.bits(mask.ref, mask.ty), 0, mask.high - mask.low + 1)
    count = expr.keep.length(value)
    return Scalar(count, count if isinstance(count, int) else 0, most(expr, value))


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


def nth(expr: ExprEmitter, value: Held, at: Number, kind: t.Type) -> Held:
    """The item at a position, which must be inside; a list of capacity 0 has none."""
    room = most(expr, value)
    if not room:
        return expr.keep.blank(kind)
    inside = expr.code.compare("ult", at, room)
    return expr.keep.item(value, expr.code.select(inside, at, 0))


def listed(expr: ExprEmitter, e: n.Primitive[s.Expr], args: list[Held]) -> Held:
    """Prints a primitive whose result is a list. Each item is written after the last one kept, so
    one that is not kept is overwritten by the next."""
    code, keep = expr.code, expr.keep
    source = keep.placed(args[0])
    other = keep.placed(args[1]) if e.name == "join" else None
    room_for = most(expr, source) + (0 if other is None else most(expr, other))
    target, room = cleared(expr, e.type, room_for)
    out, count = _Growing(expr, target, room), keep.length(source)
    if other is not None:
        out.copy(source, count)
        out.copy(other, keep.length(other))
        if isinstance(e.type, t.Seq):
            fits = code.compare("le", code.load(room), expr.layout.most(e.type))
            expr.demand(fits, "the sequence grows past its limit", e.span)
    elif e.name == "keep":
        out.copy(source, count, kept=scalar(args[1]))
    else:
        cut = scalar(args[1])
        at = cut.ref if cut.low >= 0 else code.call(fn.GREATER, cut.ref, 0)
        bound = code.select(code.compare("lt", at, count), at, count)
        out.copy(source, *((bound,) if e.name == "take" else (count, bound)))
    return InMemory(target, room)


def cleared(expr: ExprEmitter, kind: t.Type, most: int) -> tuple[t.Seq | t.Ranking, Pointer]:
    """Cleared memory for a new list of at most `most` items, and the list's type."""
    code, layout = expr.code, expr.layout
    assert isinstance(kind, t.Seq | t.Ranking)
    limit = layout.most(kind)
    target = kind if isinstance(kind, t.Ranking) else t.Seq(kind.inner, t.Limit("", limit))
    slots = 1 + (max(limit, most) + 2) * layout.slots(kind.inner)
    room = code.memory(slots)
    code.clear(room, slots)
    return target, room


def listing(expr: ExprEmitter, e: n.SeqNew[s.Expr], items: list[Held]) -> Composite:
    """A list literal; a ranking drops duplicates."""
    if isinstance(e.type, t.Ranking):
        for i, a in enumerate(items):
            for b in items[:i]:
                differ = expr.code.negation(expr.keep.equal(a, b, e.type.inner))
                expr.demand(differ, "a ranking holds nothing twice", e.span)
    return Composite(e.type, tuple(items))


@dataclass(frozen=True, slots=True)
class _Growing:
    """A list under construction, in cleared memory with room for one item more than it can hold."""

    expr: ExprEmitter
    kind: t.Seq | t.Ranking
    room: Pointer

    def add(self, item: Held, wanted: Truth) -> None:
        """Write an item after the last; the length grows only if it is `wanted`."""
        code, size = self.expr.code, self.expr.layout.slots(self.kind.inner)
        count = code.load(self.room)
        behind = code.row(self.room, count, size)
        self.expr.keep.put(item, self.kind.inner, behind, 1)
        if wanted != TRUE:
            with code.unless(wanted):
                code.clear(code.at(behind, 1), size)
        code.store(code.add(count, code.widened(wanted)), self.room)

    def copy(
        self, source: InMemory, end: Number, first: Number = 0, kept: Scalar | None = None
    ) -> None:
        """Append the items `first` to `end` of another list, only members of `kept` if that is
        given."""
        with self.expr.code.counting(end, first) as i:
            item = self.expr.keep.item(source, i)
            inner = self.kind.inner
            self.add(item, operators.member(self.expr, inner, item, kept) if kept else TRUE)
