"""Types of arguments whose values look like references."""

from __future__ import annotations

import pytest

from charter import api

TEXT = """
protocol test.pointers
sort Node
enum Part {{ ref, plus }}
enum Lone {{ never_issued }}
record Both {{ ref: seq Node max 2, plus: int 0..3 }}
record Named {{ ref: Node, plus: int 0..3 }}
record More {{ ref: set Node, kind: bool }}
record Odd {{ never_issued: bool }}
record Even {{ never_issued: Node }}
record Box {{ held: Both }}
component store {{
  state seen: bool = false
  operation follow(to: {kind}) -> bool cites silent {{
    branch followed {{ seen' = true  reply true }}
  }}
}}
witness some_seen of store: seen
"""


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ("Both", True), ("option Both", True), ("Box", True), ("Odd", True),
        ("map Part -> set Node", True), ("map Lone -> bool", True),
        ("Named", False), ("More", False), ("Even", False),
        ("map Part -> bool", False), ("map Node -> set Node", False),
    ],
)  # fmt: skip
def test_a_type_is_refused_when_its_values_look_like_references(kind: str, refused: bool) -> None:
    found = api.check_texts((api.Source("x.charter", TEXT.format(kind=kind)),))
    assert [item.code for item in found.items] == ["type/reference"] * refused
