"""Defines what the modules that print calls, loops, operators and primitives need of
`expr.Expr`."""

from __future__ import annotations

from typing import Protocol

from charter.core import small as s
from charter.core import types as t
from charter.diagnostics import Span
from charter.explore.native.emit.code import Code, Number, Truth
from charter.explore.native.emit.unit import Unit
from charter.explore.native.emit.values import Held, Keeper, Scalar
from charter.explore.native.memory.layout import Layout


class ExprEmitter(Protocol):
    """Prints expressions into `code`. `names` holds the values of the local names."""

    unit: Unit
    code: Code
    names: dict[str, Held]
    keep: Keeper

    @property
    def layout(self) -> Layout:
        """The memory layout."""

    def in_function(self, code: Code, names: dict[str, Held]) -> ExprEmitter:
        """An emitter for the body of a function, which reads only its parameters."""

    def fatal(self, why: int) -> None:
        """Note that the engine gives up."""

    def demand(self, truth: Truth, why: str, span: Span) -> None:
        """Fail unless `truth`."""

    def truth(self, e: s.Expr) -> Truth:
        """A boolean expression."""

    def value(self, e: s.Expr) -> Held:
        """The value of `e`."""

    def bit(self, kind: t.Type, value: Held) -> Number:
        """The position of a value in the domain of its type."""

    def within(self, number: Scalar, low: int, high: int) -> Number:
        """The distance of a number from `low`; above `high` the engine gives up."""

    def member(self, kind: t.Type, at: Number, mask: Scalar) -> Held:
        """The member for a bit of a mask."""
