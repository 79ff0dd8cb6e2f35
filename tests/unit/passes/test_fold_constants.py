"""What the pass `fold` folds, what it leaves, and that it keeps where an expression has a value."""

from __future__ import annotations

from itertools import product

import pytest
from tests.support.charters import load

from charter.core import nodes as n
from charter.core import types as t
from charter.core.show import show_expr
from charter.core.walk import fold
from charter.diagnostics import Source, Span
from charter.passes import RICH, run
from charter.passes.fold_constants import simplify
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import Expressions, Scope
from charter.semantics.values import Universe

BOOL, INT = t.Bool(), t.Int()
TRUE, FALSE = n.Literal(True, type=BOOL), n.Literal(False, type=BOOL)
P, Q = n.Local("p", type=BOOL), n.Local("q", type=BOOL)
NONE = n.Literal(None, type=t.Option(BOOL))
ABSENT = n.Builtin("value", (NONE,), type=BOOL)
"""A condition without a value."""


def binary(op: n.RichOp, left: n.Expr, right: n.Expr) -> n.Expr:
    """A condition of two."""
    return n.Binary(op, left, right, type=BOOL)


def negate(operand: n.Expr) -> n.Expr:
    """`not operand`."""
    return n.Unary("not", operand, type=BOOL)


def choice(condition: n.Expr, then: n.Expr, otherwise: n.Expr) -> n.Expr:
    """`if`."""
    return n.If(condition, then, otherwise, type=BOOL)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (binary("and", TRUE, P), P),
        (binary("and", FALSE, P), FALSE),
        (binary("or", TRUE, P), TRUE),
        (binary("or", FALSE, P), P),
        (negate(FALSE), TRUE),
        (negate(TRUE), FALSE),
        (choice(TRUE, P, Q), P),
        (choice(FALSE, P, Q), Q),
    ],
    ids=show_expr,
)
def test_an_expression_is_folded_when_a_literal_decides(before: n.Expr, after: n.Expr) -> None:
    assert simplify(before) == after


@pytest.mark.parametrize(
    "expr",
    [
        # The left side may have no value.
        binary("and", P, FALSE),
        binary("and", P, TRUE),
        binary("or", P, TRUE),
        binary("or", P, FALSE),
        choice(P, TRUE, TRUE),
        choice(P, Q, Q),
        # No other operator is folded.
        binary("implies", FALSE, P),
        binary("implies", TRUE, P),
        binary("eq", TRUE, TRUE),
        binary("lt", n.Literal(0, type=INT), n.Literal(1, type=INT)),
        negate(negate(P)),
        n.Unary("neg", n.Literal(1, type=INT), type=INT),
        n.Quantified("some", "x", n.SetNew((), type=t.Set(BOOL)), TRUE, type=BOOL),
        TRUE,
        P,
    ],
    ids=show_expr,
)
def test_an_expression_stays_when_no_literal_decides(expr: n.Expr) -> None:
    assert simplify(expr) is expr


def test_an_expression_is_folded_when_its_parts_become_literals() -> None:
    inner = binary("and", negate(FALSE), choice(TRUE, FALSE, P))
    assert fold(binary("or", inner, Q), simplify) == Q
    assert fold(choice(negate(inner), P, Q), simplify) == P


def test_a_negation_keeps_its_place_when_it_becomes_a_literal() -> None:
    place = Span(Source("a.charter", "not false"), 0, 9)
    folded = simplify(n.Unary("not", FALSE, type=BOOL, span=place))
    assert folded == TRUE and folded.span is place


def outcome(expr: n.Expr, p: bool, q: bool) -> object:
    """The value of a condition, None where it has none."""
    try:
        return Expressions({}).value(expr, Scope(Universe({}, {}), {}), {"p": p, "q": q})
    except EvaluationError:
        return None


LEAVES = (TRUE, FALSE, P, Q, ABSENT)
OPERATORS: tuple[n.RichOp, ...] = ("and", "or", "implies")


def conditions(parts: tuple[n.Expr, ...]) -> list[n.Expr]:
    """All conditions made of these by one operator or choice."""
    pairs = [binary(op, *each) for op in OPERATORS for each in product(parts, repeat=2)]
    return [*map(negate, parts), *pairs, *(choice(*c) for c in product(parts, repeat=3))]


def test_a_condition_has_the_same_value_when_it_is_folded_or_none_as_before() -> None:
    shallow = conditions(LEAVES)
    deep = [each for part in shallow for each in (negate(part), binary("and", part, P))]
    deep += [each for part in shallow for each in (binary("or", ABSENT, part), choice(part, P, Q))]
    folded = 0
    for expr in (*shallow, *deep):
        after = fold(expr, simplify)
        folded += after is not expr
        for p, q in product((False, True), repeat=2):
            assert outcome(after, p, q) == outcome(expr, p, q), show_expr(expr)
    assert folded > 200
    assert {outcome(expr, True, False) for expr in shallow} == {True, False, None}


TOY = """
fun both(x: bool) -> bool = not false and x
component box {
  state full: bool = false
  operation fill(now: bool) -> bool {
    branch first when always: true or full and chosen: false or now {
      full' = if true then now else full
      reply not false
    }
    branch never when full and nobody: true and false reply true
    branch second reply false
  }
}
witness filled of box: false or both(full)
scenario "the toy" of box {
  expect true and not full
}
"""


def test_all_but_scenarios_is_folded_and_branches_and_conjuncts_stay() -> None:
    model = load(TOY)
    assert run(model, RICH) == model
    assert show_expr(model.functions[0].body) == "x"
    first, never, second = model.components[0].operations[0].branches
    assert [branch.name for branch in (first, never, second)] == ["first", "never", "second"]
    assert [(c.label, show_expr(c.condition)) for c in first.guard] == [
        ("always", "true"), ("chosen", "now"),
    ]  # fmt: skip
    assert [(c.label, show_expr(c.condition)) for c in never.guard][-1] == ("nobody", "false")
    (change,) = first.body
    assert isinstance(change, n.Assign) and show_expr(change.value) == "now"
    assert first.reply == TRUE
    assert show_expr(model.properties[0].body) == "both(@full)"
    (expect,) = model.scenarios[0].steps
    assert isinstance(expect, n.Expect) and show_expr(expect.condition) == "(true and not(@full))"
