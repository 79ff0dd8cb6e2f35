"""Emits quantifiers and comprehensions: unrolled over small domains, else loops over bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.explore.native.code import Ref
from charter.explore.native.expr import UNROLLED, Expr
from charter.explore.native.layout import Unsupported, mask_type
from charter.explore.native.values import Held, Scalar, is_literal, scalar


@dataclass(frozen=True, slots=True)
class Loops:
    """Prints loops in the function that `expr` prints into."""

    expr: Expr

    def value(self, e: n.Quantified | n.Comprehend) -> Held:
        """The value of a loop."""
        if isinstance(e, n.Comprehend):
            return self.comprehend(e)
        return self.the(e) if e.kind == "the" else self.decided(e)

    def each(self, name: str, domain: n.Expr, body: Callable[[], None]) -> None:
        """`body` for each member of a set, in the order of the domain."""
        expr, code = self.expr, self.expr.code
        assert isinstance(domain.type, t.Set)
        inner = domain.type.inner
        mask = scalar(expr.value(domain))
        size, ty = mask.high - mask.low + 1, mask_type(mask.high - mask.low + 1)
        whole = isinstance(domain, n.Domain)
        if size <= UNROLLED:
            for i in range(size):
                expr.names[name] = self.member(inner, str(i), mask)
                bit = code.binary("and", mask.ref, str(1 << i), ty)
                test = "true" if whole else code.compare("ne", bit, "0", ty)
                if test == "true":
                    body()
                elif test != "false":
                    with code.when(test):
                        body()
            return
        with code.when(code.compare("ne", mask.ref, "0", ty)), code.choosing(mask.ref, ty) as at:
            expr.names[name] = self.member(inner, at, mask)
            body()

    def member(self, kind: t.Type, at: Ref, mask: Scalar) -> Held:
        """The member that a bit of a mask stands for."""
        if isinstance(kind, t.Int):
            return Scalar(self.expr.code.add(at, str(mask.low)), mask.low, mask.high)
        return self.expr.element(kind, at)

    def decided(self, e: n.Quantified) -> Scalar:
        """`forall` and `some`: the search ends with the first member that decides."""
        expr, code = self.expr, self.expr.code
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

        self.each(e.name, e.domain, body)
        code.jump(after)
        code.start(after)
        hit_ = code.compare("ne", code.load(found), "0")
        return Scalar(hit_ if decides else code.negation(hit_))

    def the(self, e: n.Quantified) -> Held:
        """The only member for which the body is true."""
        expr, code, keep = self.expr, self.expr.code, self.expr.keep
        count, room = code.memory(1), code.memory(expr.layout.slots(e.type))
        code.store("0", count)
        keep.put(keep.blank(e.type), e.type, room, 0)

        def body() -> None:
            with code.when(expr.truth(e.body)):
                code.bump(count)
                keep.put(expr.names[e.name], e.type, room, 0)

        self.each(e.name, e.domain, body)
        one = code.compare("eq", code.load(count), "1")
        expr.demand(one, "`the` of none or several members", e.span)
        return keep.part(e.type, room, 0)

    def comprehend(self, e: n.Comprehend) -> Scalar:
        """A set built from another."""
        expr, code = self.expr, self.expr.code
        assert isinstance(e.type, t.Set)
        low, high = self.span(e)
        ty = mask_type(high - low + 1)
        room = code.memory((high - low) // 64 + 1)
        code.store("0", room, 0, ty)
        inner = e.type.inner

        def add() -> None:
            value = expr.value(e.body)
            if e.flatten:
                bit = expr.keep.rebased(scalar(value), low, high)
            else:
                bit = expr.numbers.single(inner, value, low, high)
            code.store(code.binary("or", code.load(room, 0, ty), bit, ty), room, 0, ty)

        def body() -> None:
            if is_literal(e.condition, True):
                add()
                return
            with code.when(expr.truth(e.condition)):
                add()

        self.each(e.name, e.domain, body)
        return Scalar(code.load(room, 0, ty), low, high)

    def span(self, e: n.Comprehend) -> tuple[int, int]:
        """What the bits of the result stand for. Numbers without a range are tried out: the body is
        printed once into nowhere to see what it can be."""
        expr = self.expr
        assert isinstance(e.type, t.Set)
        if not expr.layout.is_open(e.type.inner):
            _, low, high = expr.layout.width(e.type)
            return low, high
        if e.flatten:
            raise Unsupported("nested comprehensions of numbers without a range")
        code = expr.code
        kept, allocas = len(code.lines), len(code.allocas)
        block, bounds = code.block, []
        assert isinstance(e.domain.type, t.Set)
        mask = scalar(expr.value(e.domain))
        expr.names[e.name] = self.member(e.domain.type.inner, code.add("%ctx_", "1"), mask)
        found = scalar(expr.value(e.body))
        bounds = [found.low, found.high]
        del code.lines[kept:]
        del code.allocas[allocas:]
        code.block = block
        if bounds[1] - bounds[0] > 255:
            raise Unsupported("a set of numbers without a range")
        return bounds[0], bounds[1]
