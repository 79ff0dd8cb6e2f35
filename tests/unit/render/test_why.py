"""Why a property is false: the part that decides, for whom, and the values in it."""

from __future__ import annotations

import pytest

from charter import api
from charter.render.story.why import Explanation, why
from charter.semantics.machine import Machine

CHARTER = """protocol desk
sort Clerk
record Sheet { copies: int 0..3, owner: option Clerk }
component desk {
  state on: map Clerk -> bool = [c in Clerk: c == c]
  state sheet: option Sheet = present(Sheet { copies: 2, owner: none })
  state least: int 0..3 = 3
  operation rest() -> bool cites silent { branch rested { reply true } }
  observe all { on sheet least }
}
fun enough(s: Sheet, least: int 0..3) -> bool cites silent = s.copies >= least
fun off(l: map Clerk -> bool, c: Clerk) -> bool cites silent = not l[c]
fun none_of(l: map Clerk -> bool) -> bool cites silent = forall d in Clerk: off(l, d)
fun few(least: int 0..3) -> bool cites silent = least >= 1 implies least < 2
-- Nothing of this is about the next one.

-- It says
-- this.
always claim of desk cites silent: BODY
witness rests of desk: least == 3
instance tiny of desk { Clerk = {a, b} }
"""


def reason(body: str) -> Explanation:
    model = api.load_text(CHARTER.replace("BODY", body))
    machine = Machine.of(model, model.instances[0])
    prop = next(p for p in model.properties if p.name == "claim")
    assert not machine.holds(prop, machine.scope(machine.initial()))
    return why(machine, prop, machine.scope(machine.initial()))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("least == 2", ("this is false: least == 2", "least is 3")),
        ("least == 3 and false", ("this is false: false",)),
        ("not (least == 3)", ("this is true, and must not be: least == 3", "least is 3")),
        (
            "forall c in Clerk: on[c] and not on[c]",
            ("this is true, and must not be for c = a: on[c]",),
        ),
        (
            "some c in Clerk: not on[c]",
            ("this is false: some c in Clerk: not on[c]",),
        ),
        (
            "not some c in Clerk: on[c]",
            ("this is true, and must not be for c = a: on[c]",),
        ),
        (
            "least > 1 implies least < 3",
            (
                "this is false: least < 3",
                "although this is true: least > 1",
                "least is 3",
            ),
        ),
        (
            "match sheet { none -> true, present(s) -> s.copies == 3 }",
            ("this is false: s.copies == 3", "s.copies is 2"),
        ),
        (
            "match sheet { none -> true, present(s) -> enough(s, least) }",
            (
                "this is false: enough(s, least)",
                "in enough, where s is Sheet { copies: 2, owner: none }, least is 3,"
                " this is false: s.copies >= least",
                "s.copies is 2",
            ),
        ),
        (
            "let few = least - 1 in if few < 2 then true else few == 3",
            ("this is false: few == 3", "few is 2"),
        ),
        ("least == 1 or least == 2", ("this is false: least == 1 or least == 2", "least is 3")),
        (
            "not (least == 1 or least == 3)",
            ("this is true, and must not be: least == 3", "least is 3"),
        ),
    ],
)
def test_the_part_that_decides_is_named(body: str, lines: tuple[str, ...]) -> None:
    assert reason(body).lines == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (  # the name of a parameter is another variable's outside
            "forall c in Clerk, d in Clerk: c != d implies off(on, d)",
            (
                "this is false for c = a, d = b: off(on, d)",
                "although this is true: c != d",
                "in off, where l is [a: true, b: true], c is b,"
                " this is true, and must not be: l[c]",
            ),
        ),
        (  # one text with two values
            "least == 3 implies few(2)",
            (
                "this is false: few(2)",
                "although this is true: least == 3",
                "least is 3",
                "in few, where least is 2, this is false: least < 2",
                "although this is true: least >= 1",
            ),
        ),
        (  # a call in a call
            "least == 3 and none_of(on)",
            (
                "this is false: none_of(on)",
                "in none_of, where l is [a: true, b: true], this is false for d = a: off(l, d)",
                "in off, where l is [a: true, b: true], c is a,"
                " this is true, and must not be: l[c]",
            ),
        ),
    ],
)
def test_names_are_those_of_the_call_that_is_entered(body: str, lines: tuple[str, ...]) -> None:
    assert reason(body).lines == lines


def test_a_name_whose_value_is_long_is_said_to_be_what_it_stands_for() -> None:
    found = reason(
        "let all = [c in Clerk: Sheet { copies: 2, owner: present(c) }] in"
        " forall c in Clerk: all[c].copies == 3"
    )
    assert found.lines == (
        "this is false for c = a: all[c].copies == 3",
        "all is [c in Clerk: Sheet { copies: 2, owner: present(c) }]",
        "all[c].copies is 2",
    )


def test_what_no_element_has_is_shown_where_it_is_the_same_for_all() -> None:
    found = reason("some c in Clerk: sheet == none and on[c] and least < 2")
    assert found.lines == (
        "this is false: some c in Clerk: sheet == none and on[c] and least < 2",
        "sheet is Sheet { copies: 2, owner: none }",
        "least is 3",
    )


def test_a_reason_as_json_has_its_parts_from_outside_to_inside() -> None:
    outer, inner = reason("least == 3 implies few(2)").parts
    assert outer.json() == {
        "function": "",
        "where": {},
        "given": {},
        "text": "few(2)",
        "has_to_be": True,
        "conditions": ["least == 3"],
        "values": {"least": "3"},
    }
    assert (inner.function, inner.where) == ("few", (("least", "2"),))


def test_a_reason_says_where_the_property_stands_and_what_its_comment_says() -> None:
    found = reason("least == 2")
    assert found.says == "It says this."
    assert found.where.endswith(":19:1") and found.source == "<text>:19:1"
