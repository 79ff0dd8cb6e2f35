"""A match becomes tests of the case."""

from __future__ import annotations

from charter.core import nodes as n
from charter.core import types as t
from charter.core.show import show_expr
from charter.passes.match import Matches

COLOUR = t.Enum("Colour", ("RED", "GREEN", "BLUE"))
REPLY = t.Union("Reply", (("done", (("at", t.Int()), ("by", t.Int()))), ("refused", ())))
MAYBE = t.Option(t.Int())


def number(value: int) -> n.Expr:
    """A literal."""
    return n.Literal(value, type=t.Int())


def make_local(name: str) -> n.Expr:
    """A local of the type that all of these names have."""
    return n.Local(name, type=t.Int())


def test_an_enum_is_tested_in_the_order_of_the_author() -> None:
    cases = tuple(n.Case(tag, (), number(i)) for i, tag in enumerate(("GREEN", "RED", "BLUE")))
    match = n.Match(n.Local("c", type=COLOUR), cases, type=t.Int())
    assert (
        show_expr(Matches()(match)) == "(if (c is GREEN) then 0 else (if (c is RED) then 1 else 2))"
    )


def test_what_a_case_names_is_bound_in_it_alone() -> None:
    sum_ = n.Binary("add", make_local("x"), make_local("y"), type=t.Int())
    cases = (n.Case("done", ("x", "y"), sum_), n.Case("refused", (), number(0)))
    match = n.Match(n.StateRef("last", type=REPLY), cases, type=t.Int())
    assert show_expr(Matches()(match)) == (
        "(if (@last is done) then (let x = @last.done.0 in (let y = @last.done.1 in (x add y)))"
        " else 0)"
    )


def test_what_a_case_names_and_does_not_read_is_not_bound() -> None:
    cases = (n.Case("done", ("_", "y"), make_local("y")), n.Case("refused", (), number(0)))
    match = n.Match(n.StateRef("last", type=REPLY), cases, type=t.Int())
    assert show_expr(Matches()(match)) == (
        "(if (@last is done) then (let y = @last.done.1 in y) else 0)"
    )


def test_a_subject_that_is_more_than_a_path_is_evaluated_once() -> None:
    cases = (n.Case("none", (), number(0)), n.Case("present", ("x",), make_local("x")))
    match = n.Match(n.Call("f", (), type=MAYBE), cases, type=t.Int())
    assert show_expr(Matches()(match)) == (
        "(let subject#1 = f() in (if (subject#1 is none) then 0"
        " else (let x = subject#1.present.0 in x)))"
    )
