"""Prints guards and, if requested, a record of each atomic condition: two bits in the context,
whether it was evaluated and whether it was true."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from charter.core import nodes as n
from charter.core import small as s
from charter.core.conditions import Functions, find_counted, joins
from charter.explore.native.emit.code import Truth
from charter.explore.native.emit.expr import Expr
from charter.explore.native.emit.functions import CTX

PER_WORD = 31


def trail_words(functions: Functions, operations: Iterable[s.Operation | s.Step]) -> int:
    """The most words for the conditions in the guards of one operation."""
    counts = (
        sum(_size(functions, c.condition) for branch in o.branches for c in branch.guard)
        for o in operations
        if isinstance(o, n.Operation)
    )
    return -(-max(counts, default=0) // PER_WORD)


def _size(functions: Functions, e: n.Expr) -> int:
    """How many atomic conditions `Guards.truth` notes."""
    match e:
        case n.Unary(op="not"):
            return _size(functions, e.operand)
        case n.Let():
            return _size(functions, e.body)
        case n.If() if joins(functions, e):
            ways = zip((e.condition, e.then, e.otherwise), find_counted(e), strict=True)
            return sum(_size(functions, way) for way, counts in ways if counts)
        case n.Binary(op="and" | "or" | "implies"):
            return _size(functions, e.left) + _size(functions, e.right)
        case n.Call(function=name) if joins(functions, e):
            return _size(functions, functions[name].body)
        case _:
            return 1


@dataclass(slots=True)
class Guards:
    """Prints the guards of one operation; the bits of the first condition are at `place` in the
    context (-1: no record). Conditions are evaluated only where the definition does."""

    expr: Expr
    place: int
    atom: int = 0

    def truth(self, e: s.Expr) -> Truth:
        """A guard, or a part of one."""
        expr = self.expr
        if self.place < 0:
            return expr.truth(e)
        match e:
            case n.Unary(op="not"):
                return expr.code.negation(self.truth(e.operand))
            case n.Let(name=name):
                expr.names[name] = expr.value(e.value)
                return self.truth(e.body)
            case n.If() if joins(expr.unit.declared, e):
                return self._choose(e)
            case n.Binary(op="and"):
                return self._decide(self.truth(e.left), e.right, goes_on=True)
            case n.Binary(op="or"):
                return self._decide(self.truth(e.left), e.right, goes_on=False)
            case n.Binary(op="implies"):
                left_ = expr.code.negation(self.truth(e.left))
                return self._decide(left_, e.right, goes_on=False)
            case n.Call(function=name, args=args) if joins(expr.unit.declared, e):
                function, outer = expr.unit.declared[name], expr.names
                values = [expr.value(arg) for arg in args]
                expr.names = {p.name: v for p, v in zip(function.params, values, strict=True)}
                found = self.truth(function.body)
                expr.names = outer
                return found
            case _:
                return self._atom(expr.truth(e))

    def _decide(self, left: Truth, right: s.Expr, *, goes_on: bool) -> Truth:
        """The left side, or the right one if the left one equals `goes_on`."""
        code = self.expr.code
        place = code.memory(1)
        code.store(code.widen(left), place)
        with code.when(left if goes_on else code.negation(left)):
            code.store(code.widen(self.truth(right)), place)
        return code.nonzero(code.load(place))

    def _choose(self, e: n.If[s.Expr]) -> Truth:
        """One of two ways; only that one is computed."""
        code, place = self.expr.code, self.expr.code.memory(1)
        parts = (e.condition, e.then, e.otherwise)
        test, then, otherwise = (
            partial(self.truth if counts else self.expr.truth, part)
            for part, counts in zip(parts, find_counted(e), strict=True)
        )
        condition = test()
        with code.when(condition):
            code.store(code.widen(then()), place)
        with code.unless(condition):
            code.store(code.widen(otherwise()), place)
        return code.nonzero(code.load(place))

    def _atom(self, truth: Truth) -> Truth:
        code = self.expr.code
        word, at = divmod(self.atom, PER_WORD)
        self.atom += 1
        bits = code.binary("shl", code.add(code.widen(truth), 2), 2 * at)
        place = code.at(CTX, self.place + word)
        code.store(code.binary("or", code.load(place), bits), place)
        return truth
