"""Comparisons of options. Two options that are not equal are a value and none, or two values: an
implementation may be right for one of the two only."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal as OneOf

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value

Apart = OneOf["none", "another"]
"""How two options differ: one of them is none, or both have a value."""

APART: tuple[Apart, ...] = ("none", "another")


def may_differ(expr: n.Expr) -> bool:
    """Whether `expr` compares two options that can differ in both ways, as far as its text says."""
    if not isinstance(expr, n.Binary) or expr.op not in ("eq", "ne"):
        return False
    sides = (expr.left, expr.right)
    never = any(isinstance(side, n.Literal) for side in sides)
    always = all(isinstance(side, n.Present) for side in sides)
    return isinstance(expr.left.type, t.Option) and not never and not always


def comparison(atom: n.Expr) -> tuple[n.Binary, bool] | None:
    """The comparison of options that an atomic condition is, perhaps negated, and the truth of the
    atom where the two differ; None for other conditions."""
    compared, differ = _without_not(atom)
    if not isinstance(compared, n.Binary) or not may_differ(compared):
        return None
    return compared, differ == (compared.op == "ne")


def split_test(condition: n.Expr) -> tuple[n.Expr, bool] | None:
    """The option that a condition compares with none, and the truth of the condition for none; None
    for other conditions."""
    condition, truth = _without_not(condition)
    if not isinstance(condition, n.Binary) or condition.op not in ("eq", "ne"):
        return None
    sides = (condition.left, condition.right)
    absent = [isinstance(side, n.Literal) and side.value is None for side in sides]
    if absent.count(True) != 1:
        return None
    return sides[absent.index(False)], truth == (condition.op == "eq")


def _without_not(condition: n.Expr) -> tuple[n.Expr, bool]:
    """A condition without the negations around it, and its truth where the whole is true."""
    truth = True
    while isinstance(condition, n.Unary) and condition.op == "not":
        condition, truth = condition.operand, not truth
    return condition, truth


def list_differences(atom: n.Expr, known: Collection[n.Expr]) -> tuple[Apart, ...]:
    """The ways in which the options that `atom` compares should be seen to differ; those in `known`
    have a value wherever it decides."""
    compared = comparison(atom)
    assert compared is not None
    sides = [compared[0].left, compared[0].right]
    unsure = [side for side in sides if not isinstance(side, n.Present) and side not in known]
    return APART if unsure else ("another",)


def apart(left: Value, right: Value) -> Apart | None:
    """How the values of two options differ; None for equal ones."""
    if left == right:
        return None
    return "none" if left is None or right is None else "another"
