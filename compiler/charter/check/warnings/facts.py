"""Facts that guards establish (a set is not empty), used to check `pick`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from charter.core import nodes as ir
from charter.core.walk import locals_of, never_empty, operands, substitute


@dataclass(frozen=True, slots=True)
class Facts:
    """Conditions that hold, and the lets that they refer to."""

    conditions: tuple[ir.Expr, ...]
    lets: tuple[tuple[str, ir.Expr], ...] = ()

    def let(self, name: str, value: ir.Expr) -> Facts:
        """The facts after `let name = value`."""
        return replace(self, lets=(*self.lets, (name, value)))

    def holding(self, condition: ir.Expr) -> Facts:
        """The facts if `condition` is true."""
        return replace(self, conditions=(*self.conditions, condition))

    def expand(self, expr: ir.Expr) -> ir.Expr:
        """`expr` with all lets replaced by their values."""
        lets, values = dict(self.lets), dict[str, ir.Expr]()

        def expand(part: ir.Expr) -> ir.Expr:
            for name in locals_of(part):
                if name in lets and name not in values:
                    values[name] = expand(lets[name])
            return substitute(part, values)

        return expand(expr) if lets else expr


def can_pick(line: ir.Pick, facts: Facts, functions: Mapping[str, ir.Function]) -> bool:
    """Whether the facts show that the set to pick from is not empty, for every index."""
    wanted = facts.expand(line.domain)
    if never_empty(wanted, functions):
        return True
    for condition in facts.conditions:
        for part in operands(facts.expand(condition), "and"):
            inner = part if line.index is None else _for_all(part, line.index[0])
            if inner is not None and _says_nonempty(inner, wanted):
                return True
    return False


def _for_all(expr: ir.Expr, index: str) -> ir.Expr | None:
    """The body of `forall k in K` with `k` renamed to `index`."""
    if isinstance(expr, ir.Quantified) and expr.kind == "forall":
        if isinstance(expr.domain, ir.Domain):
            kind = expr.domain.type
            local = ir.Local(index, type=kind.inner if hasattr(kind, "inner") else kind)
            return substitute(expr.body, {expr.name: local})
        return None
    return expr


def _says_nonempty(condition: ir.Expr, wanted: ir.Expr) -> bool:
    """Whether the condition implies that `wanted` is not empty."""
    match condition:
        case ir.Unary(op="not"):
            return _says_empty(condition.operand, wanted)
        case ir.Binary(op="ne", left=ir.Builtin(name="size", args=(of,))):
            return of == wanted and _number(condition.right) == 0
        case ir.Binary(op="ne"):
            return _is_with_empty(condition, wanted)
        case ir.Binary(op="gt", left=ir.Builtin(name="size", args=(of,))):
            return of == wanted and _number(condition.right) >= 0
        case ir.Binary(op="ge", left=ir.Builtin(name="size", args=(of,))):
            return of == wanted and _number(condition.right) >= 1
        case ir.Binary(op="in"):
            return condition.right == wanted
        case ir.Quantified(kind="some" | "exactly one"):
            return condition.domain == wanted
        case _:
            return False


def _says_empty(condition: ir.Expr, wanted: ir.Expr) -> bool:
    """Whether the negated condition implies that `wanted` is not empty."""
    match condition:
        case ir.Unary(op="not"):
            return _says_nonempty(condition.operand, wanted)
        case ir.Binary(op="eq" | "le", left=ir.Builtin(name="size", args=(of,))):
            return of == wanted and _number(condition.right) == 0
        case ir.Binary(op="eq"):
            return _is_with_empty(condition, wanted)
        case ir.Binary(op="or"):
            return _says_empty(condition.left, wanted) or _says_empty(condition.right, wanted)
        case _:
            return False


def _is_with_empty(comparison: ir.Binary, wanted: ir.Expr) -> bool:
    """Whether `wanted` is compared with the empty set."""
    left, right = comparison.left, comparison.right
    return (left == wanted and _is_empty(right)) or (right == wanted and _is_empty(left))


def _is_empty(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.SetNew) and not expr.items


def _number(expr: ir.Expr) -> int:
    """The number of a literal, else one that no size has."""
    if isinstance(expr, ir.Literal) and isinstance(expr.value, int):
        return expr.value
    return -1
