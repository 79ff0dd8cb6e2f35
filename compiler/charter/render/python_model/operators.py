"""Operators and functions of Python, and expressions that are printed with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.core.operators import StrictOp
from charter.render.python_model.line_breaks import Doc

ATOM, UNARY, TIMES, PLUS, AND_SET, OR_SET, COMPARE, NOT, AND, OR, CHOICE = range(16, 5, -1)
"""Precedence of Python's operators. A part with less precedence than its context needs
parentheses."""


@dataclass(frozen=True, slots=True)
class InfixSign:
    """An infix operator: how tightly it binds, and how tightly its operands must."""

    text: str
    level: int = COMPARE
    left: int = OR_SET
    right: int = OR_SET
    takes_set: bool = False
    """Listed items on the right are printed as a `set`, which is shorter than a `frozenset`."""


INFIX: Mapping[StrictOp, InfixSign] = {
    "eq": InfixSign("=="), "ne": InfixSign("!="), "lt": InfixSign("<"), "le": InfixSign("<="),
    "gt": InfixSign(">"), "ge": InfixSign(">="), "in": InfixSign("in"), "subset": InfixSign("<="),
    "add": InfixSign("+", PLUS, PLUS, TIMES), "sub": InfixSign("-", PLUS, PLUS, TIMES),
    "mul": InfixSign("*", TIMES, TIMES, UNARY), "union": InfixSign("|", OR_SET, ATOM, ATOM, True),
    "intersection": InfixSign("&", AND_SET, ATOM, ATOM),
    "difference": InfixSign("-", PLUS, ATOM, ATOM, True),
}  # fmt: skip
FUNCTIONS: Mapping[str, str] = {"size": "len", "set": "frozenset", "remove": "without"}
TRUE = n.Literal(True, type=t.Bool())
FALSE = n.Literal(False, type=t.Bool())


@dataclass(frozen=True, slots=True)
class Piece:
    """A printed expression and how tightly its outermost operator binds."""

    doc: Doc
    level: int = ATOM


@dataclass(frozen=True, slots=True)
class Assignment:
    """A line that an expression needs before it: `name: hint = value`."""

    name: str
    hint: str
    value: Doc


def function_of(e: n.Builtin) -> str:
    """Python's function for a built-in one, or that of the prelude; most have their own names."""
    match e.name, e.type:
        case "append", t.Ranking():
            return "place_last"
        case "concat", t.Ranking():
            return "join"
        case "bump", t.Counter(ordered=False):
            return "fresh"
        case _:
            return FUNCTIONS.get(e.name, e.name)
