"""Types of arguments whose values look like references, and of replies that look like faults."""

from __future__ import annotations

import pytest

from charter import api
from charter.project.pipeline import check_texts

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
    found = check_texts((api.Source("x.charter", TEXT.format(kind=kind)),))
    assert [item.code for item in found.items] == ["type/reference"] * refused


REPLIES = """
protocol test.faults
sort Node
counter Epoch
enum Cause {{ disk, power }}
enum Key {{ {members} }}
record Lone {{ fault: Cause }}
record Both {{ fault: Cause, message: Cause }}
record Named {{ fault: Node, message: bool }}
record Counted {{ fault: Epoch }}
record Perhaps {{ fault: option Cause }}
record Truth {{ fault: bool, message: Cause }}
record More {{ fault: Cause, epoch: int 0..3 }}
record Told {{ message: Cause }}
record Holder {{ held: Lone }}
union Either {{ failed(fault: Cause), fine }}
component store {{
  operation ask(seen: {kind}) -> {kind} cites silent {{
    branch answered reply seen
  }}
}}
witness asked of store: took ask/answered
"""


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ("Lone", True), ("Both", True), ("Named", True), ("Counted", True), ("Perhaps", True),
        ("option Both", True), ("map Key -> Cause", True), ("map Key -> bool", False),
        ("Truth", False), ("More", False), ("Told", False), ("Holder", False), ("Cause", False),
        ("Either", False), ("set Cause", False),
    ],
)  # fmt: skip
def test_a_reply_is_refused_when_its_values_look_like_faults(kind: str, refused: bool) -> None:
    assert of_replies(kind, "fault, message") == ["type/fault"] * refused


def test_a_map_is_a_reply_when_its_keys_are_not_those_of_a_fault() -> None:
    assert of_replies("map Key -> Cause", "fault") == ["type/fault"]
    assert not of_replies("map Key -> Cause", "fault, message, epoch")
    assert not of_replies("map Key -> Cause", "message")


def of_replies(kind: str, members: str) -> list[str]:
    text = REPLIES.format(kind=kind, members=members)
    return [item.code for item in check_texts((api.Source("x.charter", text),)).items]


CASES = """
protocol test.cases
sort Job
union Taken {{ taken({name}: Job), nothing }}
component store {{
  state last: {state} = {initial}
  operation take({params}) -> {result} cites silent {{
    branch none_left reply {reply}
  }}
}}
witness some_taken of store: took take/none_left
"""
PLACES = [
    ("bool", "false", "", "Taken", "nothing"),
    ("bool", "false", "what: option Taken", "bool", "true"),
    ("Taken", "nothing", "", "bool", "true"),
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "refused"), [("case", True), ("file", False)])
def test_a_parameter_that_overwrites_the_name_of_its_case_is_refused(
    place: tuple[str, str, str, str, str], name: str, refused: bool
) -> None:
    parts = dict(zip(("state", "initial", "params", "result", "reply"), place, strict=True))
    text = CASES.format(name=name, **parts)
    found = check_texts((api.Source("x.charter", text),)).errors
    assert [item.code for item in found] == ["type/case"] * refused
