"""An expression asked about states: what it may say, and where its errors stand."""

from __future__ import annotations

import pytest

from charter import api
from charter.check.state_condition import ASKED
from charter.core import nodes as n

TEXT = """protocol test.asked
sort Node
const most: int 0..9
const other: int 0..9

component box {
  state held: set Node = {}
  state n2: int 0..most = 0
  operation put(node: Node) -> bool cites silent {
    branch full when crowded: size(held) == 2 reply false
    branch kept { held' = held | {node} reply true }
  }
}
always small of box cites silent: size(held) <= 2
witness some_held of box: held != {}
instance tiny of box { Node = 3 most = 2 }
mutant forgets in tiny { replace conjunct crowded of box.put/full with false } caught by small
"""


def ask(expression: str, selection: api.Selection = api.PLAIN) -> n.Model:
    opened = api.Charter((api.Source("<text>", TEXT),))
    return opened.with_state_condition(opened.model(selection), selection, "", expression)


@pytest.mark.parametrize(
    "expression",
    ["held == {}", "n1 in held", "n2 == most", "(some a in Node: a in held)\n  and true  -- all"],
)
def test_an_expression_becomes_a_witness(expression: str) -> None:
    for mutant in ("", "forgets"):
        *others, prop = ask(expression, api.Selection(mutant=mutant)).properties
        assert (prop.kind, prop.name, prop.machine) == ("witness", ASKED, "box")
        assert [other.name for other in others] == ["small", "some_held"]
        span = prop.span
        assert span.source.text[span.start : span.end] == expression


@pytest.mark.parametrize(
    ("expression", "code", "place"),
    [
        ("", "syntax/unexpected", "--where:1:1"),
        ("held == ", "syntax/unexpected", "--where:1:8"),
        ("true\n witness more of box: true", "syntax/unexpected", "--where:2:2"),
        ("size(held)", "type/mismatch", "--where:1:1"),
        ("true and\n  helt == {}", "name/unknown", "--where:2:3"),
        ("n4 in held", "name/unknown", "--where:1:1"),
        ("held' == {}", "effect/reads-after", "--where:1:1"),
        ("other == 1", "instance/missing-bound", "<text>:16:1"),
    ],
)
@pytest.mark.parametrize("mutant", ["", "forgets"])
def test_an_expression_is_refused_at_its_place(
    expression: str, code: str, place: str, mutant: str
) -> None:
    with pytest.raises(api.Refused) as refused:
        ask(expression, api.Selection(mutant=mutant))
    (found,) = refused.value.diagnostics.errors
    assert (found.code, found.span.where()) == (code, place)
    assert found.show()


def test_a_branch_that_was_taken_is_no_part_of_a_state() -> None:
    with pytest.raises(api.Refused) as refused:
        ask("took put/kept")
    assert refused.value.diagnostics.errors
