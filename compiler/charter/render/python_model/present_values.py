"""Derives what conditions imply about values that may be missing, as far as Python's type checkers
see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.core.walk import locals_of, nodes, operands

Exprs = tuple[n.Expr, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known where an expression is printed: `present` values are not `none`; in each pair
    of `inside` the first is a member of the second; `named` values are held by a local variable."""

    present: Exprs = ()
    inside: tuple[tuple[n.Expr, n.Expr], ...] = ()
    named: tuple[tuple[n.Expr, str], ...] = ()

    def where(self, condition: n.Expr, *, holds: bool) -> Known:
        """The same, and what follows if a condition is true (or false)."""
        found = member(condition) if holds else None
        inside = tuple((found[0], group) for group in found[1]) if found else ()
        present = present_where(condition, holds=holds)
        return replace(self, present=self.present + present, inside=self.inside + inside)

    def with_name(self, e: n.Expr, name: str) -> Known:
        """The same, and that a local variable has the value of `e`."""
        return replace(self, named=(*self.named, (e, name)))

    def name(self, e: n.Expr) -> str | None:
        """The local variable that holds the value of `e`."""
        return next((name for held, name in self.named if held == e), None)


def present_where(condition: n.Expr, *, holds: bool) -> Exprs:
    """The values that are not `none` if a condition is true (or false)."""
    match condition:
        case n.Unary(op="not"):
            return present_where(condition.operand, holds=not holds)
        case n.Binary(op="ne" | "eq", right=n.Literal(value=None)):
            return (condition.left,) if (condition.op == "ne") == holds else ()
        case n.Binary(op="and") if holds:
            first = present_where(condition.left, holds=True)
            return first + present_where(condition.right, holds=True)
        case n.Binary(op="or" | "implies") if not holds:
            first = present_where(condition.left, holds=condition.op == "implies")
            return first + present_where(condition.right, holds=False)
        case n.Quantified() if holds and (found := member(condition)):
            return (found[0],)
        case _:
            return ()


def member(e: n.Expr) -> tuple[n.Expr, Exprs] | None:
    """For `some x in S: y == present(x) and x in T ...`: `y`, and the sets that it is in."""
    if not isinstance(e, n.Quantified) or e.kind != "some":
        return None
    sets: list[n.Expr] = [] if isinstance(e.domain, n.Domain) else [e.domain]
    found: list[n.Expr] = []
    for part in operands(e.body, "and"):
        match part:
            case n.Binary(op="in", left=n.Local(name=e.name)):
                sets.append(part.right)
            case n.Binary(op="eq", right=n.Present(inner=n.Local(name=e.name))):
                found.append(part.left)
            case _:
                return None
    free = [*found, *sets]
    if len(found) != 1 or any(e.name in locals_of(part) for part in free):
        return None
    return found[0], tuple(sets)


def only_member(e: n.Comprehend, known: Known) -> n.Expr | None:
    """For `{x in S if y == present(x)}`: `y`, if it is known to be in `S`."""
    tested = member(n.Quantified("some", e.name, e.domain, e.condition, type=e.condition.type))
    if tested is None or e.flatten or e.body != n.Local(e.name, type=e.body.type):
        return None
    item, sets = tested
    return item if sets and all((item, group) in known.inside for group in sets) else None


def asks_value(e: n.Expr, places: Iterable[n.Expr]) -> bool:
    """Whether one of `places` has `value(e)` inside."""
    return any(
        isinstance(part, n.Builtin) and part.name == "value" and part.args == (e,)
        for place in places
        for part in nodes(place)
    )


def bound(places: Iterable[n.Expr]) -> frozenset[str]:
    """The names of all locals that expressions read or bind."""
    found: set[str] = set()
    for node in (node for place in places for node in nodes(place)):
        if isinstance(node, n.Local | n.Let | n.MapNew | n.Quantified | n.Comprehend):
            found.add(node.name)
        elif isinstance(node, n.Match):
            found.update(name for case in node.cases for name in case.names)
    return frozenset(found)
