"""Emits arithmetic, and set algebra on bit masks."""

from __future__ import annotations

from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.explore.native.code import Ref
from charter.explore.native.expr import Expr
from charter.explore.native.layout import Unsupported, mask_type
from charter.explore.native.values import Held, Scalar, scalar


@dataclass(frozen=True, slots=True)
class Numbers:
    """Prints into the function that `expr` prints into."""

    expr: Expr

    def literal(self, e: n.SetNew, items: list[Held]) -> Scalar:
        """`{a, b}`."""
        assert isinstance(e.type, t.Set)
        low, high = self.members_span(e.type, [item for item in items if isinstance(item, Scalar)])
        ty, mask = mask_type(high - low + 1), "0"
        for item in items:
            mask = self.expr.code.binary("or", mask, self.single(e.type.inner, item, low, high), ty)
        return Scalar(mask, low, high)

    def members_span(self, kind: t.Set, items: list[Scalar]) -> tuple[int, int]:
        """What the bits of a set with these members stand for."""
        if self.expr.layout.is_open(kind.inner):
            low = min((item.low for item in items), default=0)
            high = max((item.high for item in items), default=0)
            if high - low > 255:
                raise Unsupported("a set of numbers without a range")
            return low, high
        _, low, high = self.expr.layout.width(kind)
        return low, high

    def single(self, kind: t.Type, item: Held, low: int, high: int) -> Ref:
        """The mask with the bit of one member."""
        code, ty = self.expr.code, mask_type(high - low + 1)
        if isinstance(kind, t.Int):
            at = self.expr.within(scalar(item), low, high)
        else:
            at = self.expr.bit(kind, item)
        return code.binary("shl", "1", code.cast(at, "i64", ty), ty)

    def algebra(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """Algebra of sets."""
        code, low, high = self.expr.code, min(a.low, b.low), max(a.high, b.high)
        if high - low > 511:
            raise Unsupported("a set of numbers without a range")
        ty = mask_type(high - low + 1)
        x, y = self.expr.keep.rebased(a, low, high), self.expr.keep.rebased(b, low, high)
        if op == "union":
            return Scalar(code.binary("or", x, y, ty), low, high)
        if op == "intersection":
            return Scalar(code.binary("and", x, y, ty), low, high)
        rest = code.binary("and", x, code.binary("xor", y, "-1", ty), ty)
        if op == "difference":
            return Scalar(rest, low, high)
        return Scalar(code.compare("eq", rest, "0", ty))

    def member(self, kind: t.Type, item: Held, mask: Scalar) -> Ref:
        """Whether a set has a member."""
        code, ty = self.expr.code, mask_type(mask.high - mask.low + 1)
        inside = "true"
        if isinstance(kind, t.Int):
            number = scalar(item)
            at = code.binary("sub", number.ref, str(mask.low))
            if number.low < mask.low or number.high > mask.high:
                inside = code.compare("ule", at, str(mask.high - mask.low))
                at = code.select(inside, at, "0")
        else:
            at = self.expr.bit(kind, item)
        moved = code.binary("lshr", mask.ref, code.cast(at, "i64", ty), ty)
        bit = code.binary("and", moved, "1", ty)
        return code.both(inside, code.compare("ne", bit, "0", ty))

    def arithmetic(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """A number from two others, with what it can be."""
        ref = self.expr.code.binary(op, a.ref, b.ref)
        match op:
            case "add":
                return Scalar(ref, a.low + b.low, a.high + b.high)
            case "sub":
                return Scalar(ref, a.low - b.high, a.high - b.low)
            case _:
                ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
                return Scalar(ref, min(ends), max(ends))
