"""`exactly one` becomes a size, `the` the least of one."""

from __future__ import annotations

from charter.core import nodes as n
from charter.core import types as t
from charter.core.show import show_expr
from charter.passes.only import OnlyRule

S, BOOL = t.Sort("S"), t.Bool()
SET = t.Set(S)


def test_the_only_member_is_the_least_of_those_with_the_property() -> None:
    domain, x = n.Local("d", type=SET), n.Local("x", type=S)
    body = n.Binary("in", x, n.Local("e", type=SET), type=BOOL)
    the = n.Quantified("the", "x", domain, body, type=S)
    assert show_expr(OnlyRule()(the)) == (
        "(let found#1 = set{x for x in d if (x in e)} in"
        " (least!(found#1) checked (size!(found#1) eq 1)))"
    )


def test_exactly_one_asks_for_the_size() -> None:
    x = n.Local("x", type=S)
    body = n.Binary("in", x, n.Local("e", type=SET), type=BOOL)
    one = n.Quantified("exactly one", "x", n.Local("d", type=SET), body, type=BOOL)
    assert show_expr(OnlyRule()(one)) == "(size!(set{x for x in d if (x in e)}) eq 1)"


def test_other_quantifiers_stay() -> None:
    some = n.Quantified("some", "x", n.Local("d", type=SET), n.Literal(True, type=BOOL), type=BOOL)
    assert OnlyRule()(some) is some
