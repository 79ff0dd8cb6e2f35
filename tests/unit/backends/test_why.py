"""Why a property is false: the part that decides, for whom, and the values in it."""

from __future__ import annotations

import pytest

from charter import api
from charter.backends.story.why import Why, why
from charter.semantics.evaluate import Scope
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
-- Nothing of this is about the next one.

-- It says
-- this.
always claim of desk cites silent: BODY
witness rests of desk: least == 3
instance tiny of desk { Clerk = {a, b} }
"""


def reason(body: str) -> Why:
    model = api.load_text(CHARTER.replace("BODY", body))
    machine = Machine.of(model, model.instances[0])
    prop = next(p for p in model.properties if p.name == "claim")
    assert not machine.holds(prop, Scope(machine.initial()))
    return why(machine, prop, Scope(machine.initial()))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("least == 2", ("this is false: least == 2", "least is 3")),
        ("least == 3 and false", ("this is false: false",)),
        ("not (least == 3)", ("this is true, and must not be: least == 3", "least is 3")),
        (
            "forall c in Clerk: on[c] and not on[c]",
            ("this is true, and must not be for c = a: on[c]", "on[c] is true"),
        ),
        (
            "some c in Clerk: not on[c]",
            ("this is false: some c in Clerk: not on[c]",),
        ),
        (
            "not some c in Clerk: on[c]",
            ("this is true, and must not be for c = a: on[c]", "on[c] is true"),
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
            ("this is false: s.copies >= least", "s.copies is 2", "least is 3"),
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


def test_a_reason_says_where_the_property_stands_and_what_its_comment_says() -> None:
    found = reason("least == 2")
    assert found.says == "It says this."
    assert found.where.endswith(":16:1") and found.source == "<text>:16:1"
