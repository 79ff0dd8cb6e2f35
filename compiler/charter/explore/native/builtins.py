"""Emits the built-in functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.explore.native.code import Ref, constant
from charter.explore.native.expr import Expr
from charter.explore.native.layout import mask_type
from charter.explore.native.unit import FATAL_COUNTER
from charter.explore.native.values import Held, Place, Scalar, Tree, scalar


@dataclass(frozen=True, slots=True)
class Builtins:
    """Prints built-ins in the function that `expr` prints into."""

    expr: Expr

    def value(self, e: n.Builtin) -> Held:
        """The value of a built-in."""
        expr, keep = self.expr, self.expr.keep
        args = [expr.value(a) for a in e.args]
        first = args[0]
        match e.name:
            case "size":
                return self.size(e.args[0].type, first)
            case "value":
                there = keep.is_present(first)
                expr.demand(there, "value(none)", e.span)
                return keep.inner(first)
            case "default":
                return self.default(e, first, args[1])
            case "bump":
                return self.bump(scalar(first))
            case "set":
                return self.members(e, first)
            case "first" | "last" | "at":
                return self.end(e, first, args)
            case "item":
                return self.item(e, first, scalar(args[1]).ref)
            case "min" | "max":
                if len(args) == 2:
                    return self.extreme(e.name, scalar(first), scalar(args[1]))
                return self.extreme_of(e, scalar(first))
            case _:
                return self.listed(e, args)

    def bump(self, number: Scalar) -> Scalar:
        """The next value of a counter."""
        expr, code = self.expr, self.expr.code
        ref = code.add(number.ref, "1")
        if constant(ref) is None:
            with code.unless(code.compare("ule", ref, "63")):
                expr.fatal(FATAL_COUNTER)
        return Scalar(ref, number.low, min(63, number.high + 1))

    def size(self, kind: t.Type, value: Held) -> Scalar:
        """How many members or items."""
        if isinstance(kind, t.Set):
            mask = scalar(value)
            ty = mask_type(mask.high - mask.low + 1)
            return Scalar(self.expr.code.bits(mask.ref, ty), 0, mask.high - mask.low + 1)
        if isinstance(value, Tree):
            return self.expr.keep.number(len(value.parts))
        assert isinstance(value, Place) and isinstance(value.kind, t.Seq | t.Ranking)
        return Scalar(self.expr.keep.length(value), 0, self.expr.layout.most(value.kind))

    def default(self, e: n.Builtin, value: Held, other: Held) -> Held:
        """What an option holds, or something else."""
        keep = self.expr.keep
        there = keep.is_present(value)
        return self.expr.choose(e.type, there, lambda: keep.inner(value), lambda: other)

    def extreme(self, name: str, a: Scalar, b: Scalar) -> Scalar:
        """The smaller or the larger of two numbers."""
        code = self.expr.code
        pick = min if name == "min" else max
        x, y = constant(a.ref), constant(b.ref)
        if x is not None and y is not None:
            return self.expr.keep.number(pick(x, y))
        ref = code.let(f"call i64 @llvm.s{name}.i64(i64 {a.ref}, i64 {b.ref})")
        return Scalar(ref, pick(a.low, b.low), pick(a.high, b.high))

    def extreme_of(self, e: n.Builtin, mask: Scalar) -> Scalar:
        """The smallest or the largest member of a set of numbers."""
        expr, code = self.expr, self.expr.code
        ty = mask_type(mask.high - mask.low + 1)
        some = code.compare("ne", mask.ref, "0", ty)
        expr.demand(some, f"{e.name} of an empty set", e.span)
        if e.name == "min":
            at = code.lowest(mask.ref, ty)
        elif ty == "i64":
            at = code.highest(mask.ref)
        else:
            place = code.memory(1)
            code.store("0", place)
            with code.choosing(mask.ref, ty) as bit:
                code.store(bit, place)
            at = code.load(place)
        at = code.select(some, at, "0")
        return Scalar(code.add(at, str(mask.low)), mask.low, mask.high)

    # --- lists -----------------------------------------------------------------------------------

    def members(self, e: n.Builtin, value: Held) -> Scalar:
        """The items of a list as a set."""
        expr, code = self.expr, self.expr.code
        kind = e.args[0].type
        assert isinstance(kind, t.Seq | t.Ranking) and isinstance(e.type, t.Set)
        count = expr.keep.length(value)
        most = len(value.parts) if isinstance(value, Tree) else self.most(value)
        items = [expr.keep.item(value, str(i)) for i in range(most)]
        scalars = [item for item in items if isinstance(item, Scalar)]
        low, high = expr.numbers.members_span(e.type, scalars)
        ty, mask = mask_type(high - low + 1), "0"
        for i, item in enumerate(items):
            inside = code.compare("slt", str(i), count)
            bit = expr.numbers.single(e.type.inner, item, low, high)
            mask = code.binary("or", mask, code.select(inside, bit, "0", ty), ty)
        return Scalar(mask, low, high)

    def most(self, value: Held) -> int:
        """How many items a list in memory has room for."""
        assert isinstance(value, Place) and isinstance(value.kind, t.Seq | t.Ranking)
        return self.expr.layout.most(value.kind)

    def end(self, e: n.Builtin, value: Held, args: list[Held]) -> Held:
        """The first, the last, or the item at a position, if there is one."""
        expr, code = self.expr, self.expr.code
        count = expr.keep.length(value)
        if e.name == "at":
            at = scalar(args[1]).ref
        else:
            at = "0" if e.name == "first" else code.binary("sub", count, "1")
        inside = code.compare("ult", at, count)
        assert isinstance(e.type, t.Option)
        inner = e.type.inner

        def there() -> Held:
            return Tree(e.type, (Scalar("true"), self.within(value, at, inner)))

        def nothing() -> Held:
            return Tree(e.type, (Scalar("false"), expr.keep.blank(inner)))

        return expr.choose(e.type, inside, there, nothing)

    def within(self, value: Held, at: Ref, kind: t.Type) -> Held:
        """The item at a position that is inside; a list without room has none."""
        room = len(value.parts) if isinstance(value, Tree) else self.most(value)
        return self.expr.keep.item(value, at) if room else self.expr.keep.blank(kind)

    def item(self, e: n.Builtin, value: Held, at: Ref) -> Held:
        """The item at a position; fails outside."""
        expr, code = self.expr, self.expr.code
        inside = code.compare("ult", at, expr.keep.length(value))
        expr.demand(inside, "a position outside of the sequence", e.span)
        return self.within(value, code.select(inside, at, "0"), e.type)

    def listed(self, e: n.Builtin, args: list[Held]) -> Held:
        """What makes a list: item after item is written behind the last that is kept, over the one
        before if that is not kept."""
        expr, code, keep = self.expr, self.expr.code, self.expr.keep
        assert isinstance(e.type, t.Seq | t.Ranking)
        source = keep.placed(args[0])
        assert isinstance(source.kind, t.Seq | t.Ranking)
        kind, size = source.kind, expr.layout.slots(source.kind.inner)
        most = expr.layout.most(kind)
        limit = expr.layout.most(e.type)
        target = (
            t.Ranking(e.type.inner)
            if isinstance(e.type, t.Ranking)
            else t.Seq(e.type.inner, t.Limit("", limit))
        )
        more = 0
        if e.name == "concat":
            other = keep.placed(args[1])
            more = self.most(other)
        room = code.memory(1 + (max(limit, most + more) + 2) * size)
        code.clear(room, 1 + (max(limit, most + more) + 2) * size)
        out = _Growing(self.expr, target, room)
        count = keep.length(source)
        match e.name:
            case "append" if isinstance(e.type, t.Seq):
                code.copy(room, keep.address(source), 1 + most * size)
                out.add(args[1], "true")
                expr.demand(
                    code.compare("sle", code.load(room), str(limit)),
                    "the sequence grows past its limit", e.span,
                )  # fmt: skip
            case "append" | "remove":
                out.copy(source, count, lambda x: code.negation(keep.equal(x, args[1], kind.inner)))
                if e.name == "append":
                    out.add(args[1], "true")
            case "keep":
                mask = scalar(args[1])
                out.copy(source, count, lambda x: expr.numbers.member(kind.inner, x, mask))
            case "take" | "drop":
                cut = self.extreme("max", scalar(args[1]), keep.number(0)).ref
                out.copy_part(source, count, cut, e.name == "take")
            case "concat":
                out.copy(source, count, lambda x: "true")
                known = scalar(self.members(_set_of(e), source)) if _ranked(e) else None
                again = keep.length(other)
                out.copy(
                    other, again,
                    lambda x: "true" if known is None
                    else code.negation(expr.numbers.member(kind.inner, x, known)),
                )  # fmt: skip
                expr.demand(
                    code.compare("sle", code.load(room), str(limit)),
                    "the sequence grows past its limit", e.span,
                )  # fmt: skip
            case _:
                raise AssertionError(e.name)
        return Place(target, room)


def _ranked(e: n.Builtin) -> bool:
    return isinstance(e.type, t.Ranking)


def _set_of(e: n.Builtin) -> n.Builtin:
    assert isinstance(e.type, t.Ranking)
    return n.Builtin("set", (e.args[0],), type=t.Set(e.type.inner), span=e.span)


@dataclass(frozen=True, slots=True)
class _Growing:
    """A list that is being written; its room was cleared, and has one item to spare."""

    expr: Expr
    kind: t.Seq | t.Ranking
    room: Ref

    def add(self, item: Held, wanted: Ref) -> None:
        """Write an item behind the last; it counts only if it is `wanted`."""
        code, size = self.expr.code, self.expr.layout.slots(self.kind.inner)
        count = code.load(self.room)
        behind = code.at(self.room, code.binary("mul", count, str(size)))
        self.expr.keep.put(item, self.kind.inner, behind, 1)
        if wanted != "true":
            with code.unless(wanted):
                code.clear(code.at(behind, 1), size)
        code.store(code.add(count, code.widened(wanted)), self.room)

    def copy(self, source: Place, count: Ref, test: Callable[[Held], Ref]) -> None:
        """The items of another list that pass a test, in their order."""
        code, keep = self.expr.code, self.expr.keep
        with code.counting(count) as i:
            item = keep.item(source, i)
            self.add(item, test(item))

    def copy_part(self, source: Place, count: Ref, cut: Ref, first: bool) -> None:
        """The first `cut` items, or all but those."""
        code, keep = self.expr.code, self.expr.keep
        inside = code.compare("slt", cut, count)
        bound = code.select(inside, cut, count)
        loop = code.counting(bound) if first else code.counting(count, bound)
        with loop as i:
            self.add(keep.item(source, i), "true")
