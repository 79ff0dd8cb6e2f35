"""How it is drawn that a step takes what another lane left in the state of the system."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.golden import Golden
from tests.support.stories import story_of_finding, story_of_steps

from charter import api
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.canonical import Json
from charter.render.story.handover import _find_taken
from charter.render.story.scene import scene
from charter.render.story.tell import Story

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path(__file__).parent / "story"
ITEM = t.Int(t.Limit(plus=0), t.Limit(plus=9))


def catch(mutant: str) -> Story:
    model = api.load(ROOT / "spec" / "kafka", api.Selection(mutant=mutant))
    (chosen,) = (m for m in model.mutants if m.name == mutant)
    return story_of_finding(model, chosen.instance, chosen.caught_by)


@pytest.mark.slow
def test_a_fetch_goes_from_the_follower_to_the_leader_and_back(golden: Golden) -> None:
    story = catch("joins_below_high_watermark")
    golden.matches(PLACE / "joins_below_high_watermark.txt", api.draw(story, "text"))


LEFT = """
protocol test.left
sort Node
component clerk {
  state newest: int 0..3 = 0
  operation note(n: int 0..3) -> bool { branch noted { newest' = n  reply true } }
}
system office {
  clerk: map Node -> clerk
  archive: clerk
  state desk: map Node -> option int 0..3 = [n in Node: none]
  state unread: map Node -> seq int 0..3 max 2 = [n in Node: <>]
  step put(from_it: Node, n: Node) {
    clerk[from_it].note(1)
    desk[n]' = present(1)
  }
  step take(n: Node) {
    require desk[n] is present(found)
    clerk[n].note(found)
    desk[n]' = none
  }
  step file(number: int 2..3) {
    archive.note(number)
    unread' = [n in Node: append(unread[n], number)]
  }
  step read(n: Node) {
    require unread[n] != <>
    clerk[n].note(unread[n][0])
    unread[n]' = drop(unread[n], 1)
  }
}
witness noted of office: some n in Node: clerk[n].newest > 0
instance tiny of office { Node = {ann, bob} }
"""


def test_who_takes_what_another_left_has_an_arrow_from_there() -> None:
    bob: dict[str, Json] = {"n": "bob"}
    steps = [
        ("put", {"from_it": "ann", "n": "bob"}), ("take", bob),
        ("file", {"number": 2}), ("file", {"number": 3}), ("read", bob),
    ]  # fmt: skip
    drawn = scene(story_of_steps(api.load_text(LEFT), steps))
    arrows = [
        (m.place[0], drawn.lanes[m.sender], drawn.lanes[m.receiver], m.sent, m.received)
        for m in drawn.messages
    ]
    assert ("desk", "ann", "bob", 0, 1) in arrows
    assert [arrow[:3] for arrow in arrows if arrow[0] == "unread"] == [("unread", "archive", "bob")]
    for message in drawn.messages:
        assert message.received is not None
        assert drawn.events[message.sent].lane == message.sender


@pytest.mark.parametrize(
    ("kind", "old", "new", "taken"),
    [
        (t.Seq(ITEM, t.Limit(plus=3)), (1, 2, 3), (2, 3), (1,)),
        (t.Seq(ITEM, t.Limit(plus=3)), (1, 1), (1,), (1,)),
        (t.Seq(ITEM, t.Limit(plus=3)), (1,), (1, 2), None),
        (t.Seq(ITEM, t.Limit(plus=3)), (1,), (2, 1), None),
        (t.Seq(ITEM, t.Limit(plus=3)), (1, 2), (3, 2), (1,)),
        (t.Set(ITEM), frozenset({1, 2}), frozenset({2, 3}), frozenset({1})),
        (t.Set(ITEM), frozenset({1}), frozenset({1, 3}), None),
        (t.Option(ITEM), 4, None, 4),
        (t.Option(ITEM), None, 4, None),
        (ITEM, 4, 5, None),
    ],
)
def test_what_is_gone_was_taken(kind: t.Type, old: Value, new: Value, taken: Value) -> None:
    assert _find_taken(kind, old, new) == taken
