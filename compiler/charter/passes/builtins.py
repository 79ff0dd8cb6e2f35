"""Lowers built-in functions to primitives; partial ones get their condition explicitly (`Checked`).

Changes: `value`, `default`, `bump`, `min`, `max`, and the functions of lists.
Keeps: values, where they are defined, and what is evaluated.
Leaves none of: Builtin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from charter.core import nodes as n
from charter.core import types as t
from charter.passes.names import Fresh

BOOL, INT = t.Bool(), t.Int()
ONCE = ("size", "set", "keep", "take", "drop", "bump")
"""Functions whose replacement uses each argument once, as that of a longer sequence does."""


@dataclass(frozen=True, slots=True)
class Builtins:
    """The rule, for one declaration."""

    fresh: Fresh = field(default_factory=lambda: Fresh("held"))

    def __call__(self, expr: n.Expr) -> n.Expr:
        """Rewrite one node whose children are rewritten."""
        if not isinstance(expr, n.Builtin):
            return expr
        maker = _Maker(expr)
        if expr.name in ONCE or (expr.traits.grows and isinstance(expr.type, t.Seq)):
            return maker.make(*expr.args)
        return self.fresh.hold(expr.args, maker.make)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the replacement of one call; it may use arguments several times."""

    expr: n.Builtin

    def make(self, *args: n.Expr) -> n.Expr:
        """The replacement of the call."""
        match self.expr.name:
            case "size" | "set" | "keep" | "take" | "drop" as name:
                return self.primitive(name, *args)
            case "bump":
                kind, span = self.expr.type, self.expr.span
                one = n.Literal(1, type=kind, span=span)
                return n.Binary("add", args[0], one, type=kind, span=span)
            case "value":
                return self.value(*args)
            case "default":
                return self.default(*args)
            case "first":
                return self.first(*args)
            case "last":
                return self.last(*args)
            case "at":
                return self.at(*args)
            case "item":
                return self.item(*args)
            case "starts_with":
                return self.starts_with(*args)
            case "append":
                return self.append(*args)
            case "remove":
                return self.remove(*args)
            case "concat":
                return self.concat(*args)
            case "min" | "max":
                return self.extreme(*args)
            case _:
                assert_never(self.expr.name)

    def value(self, option: n.Expr) -> n.Expr:
        inner = n.CaseArg(option, "present", 0, type=self.expr.type, span=self.expr.span)
        return self.check(self.present(option), inner, "value(none)")

    def default(self, option: n.Expr, otherwise: n.Expr) -> n.Expr:
        inner = n.CaseArg(option, "present", 0, type=self.expr.type, span=self.expr.span)
        return self.choice(self.present(option), inner, otherwise)

    def first(self, line: n.Expr) -> n.Expr:
        zero = self.number(0)
        return self.option(self.test("lt", zero, self.size(line)), line, zero)

    def last(self, line: n.Expr) -> n.Expr:
        size = self.size(line)
        end = n.Binary("sub", size, self.number(1), type=INT, span=self.expr.span)
        return self.option(self.test("lt", self.number(0), size), line, end)

    def at(self, line: n.Expr, position: n.Expr) -> n.Expr:
        return self.option(self.inside(line, position), line, position)

    def item(self, line: n.Expr, position: n.Expr) -> n.Expr:
        found = self.primitive("nth", line, position)
        why = "a position outside of the sequence"
        return self.check(self.inside(line, position), found, why)

    def starts_with(self, line: n.Expr, start: n.Expr) -> n.Expr:
        # `start` may be a sequence that is watched by its span, and this part is another one.
        parts, span = (line, self.size(start)), self.expr.span
        return self.test("eq", n.Primitive("take", parts, type=line.type, span=span), start)

    def append(self, line: n.Expr, item: n.Expr) -> n.Expr:
        one = n.SeqNew((item,), type=self.expr.type, span=self.expr.span)
        others = self.remove(line, item) if isinstance(self.expr.type, t.Ranking) else line
        return self.primitive("join", others, one)

    def remove(self, line: n.Expr, item: n.Expr) -> n.Expr:
        one = n.SetNew((item,), type=t.Set(item.type), span=self.expr.span)
        return self.without(line, one)

    def concat(self, line: n.Expr, other: n.Expr) -> n.Expr:
        if isinstance(self.expr.type, t.Ranking):
            other = self.without(other, self.members(line))
        return self.primitive("join", line, other)

    def extreme(self, first: n.Expr, second: n.Expr | None = None) -> n.Expr:
        smallest = self.expr.name == "min"
        if second is not None:
            pair = (second, first) if smallest else (first, second)
            return self.choice(self.test("lt", *pair), second, first)
        found = self.primitive("least" if smallest else "greatest", first)
        empty = n.SetNew((), type=first.type, span=self.expr.span)
        why = f"{self.expr.name} of an empty set"
        return self.check(self.test("ne", first, empty), found, why)

    # --- parts -----------------------------------------------------------------------------------

    def primitive(self, name: n.PrimitiveName, *args: n.Expr) -> n.Expr:
        return n.Primitive(name, args, type=self.expr.type, span=self.expr.span)

    def check(self, condition: n.Expr, value: n.Expr, why: str) -> n.Expr:
        return n.Checked(condition, value, why, type=self.expr.type, span=self.expr.span)

    def choice(self, condition: n.Expr, then: n.Expr, otherwise: n.Expr) -> n.Expr:
        return n.If(condition, then, otherwise, type=self.expr.type, span=self.expr.span)

    def test(self, op: n.RichOp, left: n.Expr, right: n.Expr) -> n.Expr:
        return n.Binary(op, left, right, type=BOOL, span=self.expr.span)

    def number(self, value: int) -> n.Expr:
        return n.Literal(value, type=INT, span=self.expr.span)

    def size(self, line: n.Expr) -> n.Expr:
        return n.Primitive("size", (line,), type=INT, span=self.expr.span)

    def present(self, option: n.Expr) -> n.Expr:
        return n.IsCase(option, "present", type=BOOL, span=self.expr.span)

    def inside(self, line: n.Expr, position: n.Expr) -> n.Expr:
        low = self.test("le", self.number(0), position)
        return self.test("and", low, self.test("lt", position, self.size(line)))

    def option(self, condition: n.Expr, line: n.Expr, position: n.Expr) -> n.Expr:
        """An option of the item at a position: none where the condition is false."""
        kind, span = self.expr.type, self.expr.span
        assert isinstance(kind, t.Option)
        item = n.Primitive("nth", (line, position), type=kind.inner, span=span)
        some = n.Present(item, type=kind, span=span)
        return self.choice(condition, some, n.Literal(None, type=kind, span=span))

    def members(self, line: n.Expr) -> n.Expr:
        assert isinstance(line.type, t.Seq | t.Ranking)
        kind = t.Set(line.type.inner)
        return n.Primitive("set", (line,), type=kind, span=self.expr.span)

    def without(self, line: n.Expr, gone: n.Expr) -> n.Expr:
        """A list without the items of a set."""
        members = self.members(line)
        rest = n.Binary("difference", members, gone, type=members.type, span=self.expr.span)
        return self.primitive("keep", line, rest)
