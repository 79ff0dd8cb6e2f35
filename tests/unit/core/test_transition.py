"""What is of a transition: `stepwise`, the state after, the branch that was taken."""

from __future__ import annotations

import pytest

from charter import api
from charter.core.transition import is_of_transition

CHARTER = """protocol desk
component desk {
  state least: int 0..3 = 3
  operation rest() -> bool cites silent { branch rested { reply true } }
  observe all { least }
}
fun same(a: int 0..3, b: int 0..3) -> bool cites silent = a == b
PROPERTY
witness rests of desk: least == 3
instance tiny of desk {}
"""


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("always claim of desk cites silent: same(least, 3)", False),
        ("stepwise claim of desk cites silent: true", True),
        ("witness claim of desk: least == 2", False),
        ("witness claim of desk: least == 3 and least' == 3", True),
        ("witness claim of desk: same(least, least')", True),
        ("witness claim of desk: least == 3 and took rest/rested", True),
    ],
)
def test_a_property_of_a_transition_is_told_from_one_of_a_state(text: str, is_one: bool) -> None:
    model = api.load_text(CHARTER.replace("PROPERTY", text))
    prop = next(p for p in model.properties if p.name == "claim")
    assert is_of_transition(prop) is is_one
