"""The traits of infix operators, held against the definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import cast, get_args

import pytest

from charter.core import nodes as n
from charter.core import types as t
from charter.core.operators import OPERATORS, RichOp, SmallOp
from charter.core.walk import nodes
from charter.passes.order import lower_expr
from charter.render.python_model.operators import INFIX
from charter.semantics.expressions import Expressions, Scope
from charter.semantics.values import Universe
from charter.syntax.nodes import BinaryOp

NUMBERS: Sequence[n.Value] = [-1, 0, 1, 2]
SETS: Sequence[n.Value] = [frozenset(c) for size in range(4) for c in combinations(range(3), size)]
SIDES: Mapping[str, tuple[t.Type, Sequence[n.Value]]] = {
    "connective": (t.Bool(), [False, True]),
    "equality": (t.Int(), NUMBERS),
    "order": (t.Int(), NUMBERS),
    "arithmetic": (t.Int(), NUMBERS),
    "membership": (t.Set(t.Sort("S")), SETS),
    "sets": (t.Set(t.Sort("S")), SETS),
}
SAME_SIDES = [op for op in OPERATORS if op != "in"]


def define(op: RichOp, left: n.Value, right: n.Value) -> frozenset[n.Value]:
    """What the definition says of two values."""
    kind = SIDES[OPERATORS[op].kind][0]
    sides = (n.Local(name, type=kind) for name in ("left", "right"))
    expr = n.Binary(op, *sides, type=kind)
    scope = Scope(Universe({}, {}), {})
    value = Expressions({}).value(expr, scope, {"left": left, "right": right})
    return cast("frozenset[n.Value]", value)  # or a number, or a truth value


def test_each_operator_has_its_traits_in_the_order_of_the_names() -> None:
    assert tuple(OPERATORS) == get_args(RichOp)


def test_each_sign_is_one_of_the_grammar() -> None:
    assert {traits.sign for traits in OPERATORS.values()} == {*get_args(BinaryOp)} - {"not in"}


def test_python_prints_each_operator_that_evaluates_both_sides() -> None:
    assert {*INFIX} == {op for op, traits in OPERATORS.items() if traits.kind != "connective"}


@pytest.mark.parametrize("op", SAME_SIDES)
def test_traits_are_true_of_the_values_that_the_definition_gives(op: RichOp) -> None:
    traits, values = OPERATORS[op], SIDES[OPERATORS[op].kind][1]
    for left, right in product(values, values):
        result = define(op, left, right)
        if traits.opposite:
            assert define(traits.opposite, left, right) is not result
        if traits.kind == "sets":
            sides = {"left": left, "right": right}
            from_: frozenset[n.Value] = frozenset()
            assert result <= from_.union(*(sides[side] for side in traits.members_from))
            assert all(sides[side] <= result for side in traits.keeps)
        assert not traits.is_reflexive or define(op, left, left)
        if traits.is_associative:
            ways = [
                (define(op, result, other), define(op, left, define(op, right, other)))
                for other in values
            ]
            assert all(one == other for one, other in ways)


def test_mistakes_are_other_operators_of_the_same_kind() -> None:
    for op, traits in OPERATORS.items():
        assert traits.mistake != op
        assert traits.mistake is None or OPERATORS[traits.mistake].kind == traits.kind
        assert bool(traits.members_from) == (traits.kind == "sets")


@pytest.mark.parametrize("op", get_args(RichOp))
def test_an_operator_of_rich_core_is_lowered_to_small_core(op: RichOp) -> None:
    kind = SIDES[OPERATORS[op].kind][0]
    sides = (n.Local(name, type=kind) for name in ("left", "right"))
    lowered = lower_expr(n.Binary(op, *sides, type=kind))
    used = {node.op for node in nodes(lowered) if isinstance(node, n.Binary)}
    assert used <= {*get_args(SmallOp)}
