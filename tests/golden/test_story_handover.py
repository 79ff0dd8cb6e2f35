"""How it is drawn that a step takes what another lane left in the state of the system."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.golden import Golden
from tests.support.stories import story_of_finding

from charter import api
from charter.core import types as t
from charter.core.nodes import Value
from charter.render.story.handover import _taken
from charter.render.story.scene import scene
from charter.render.story.tell import Story

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path(__file__).parent / "story"
ITEM = t.Int(t.Limit(plus=0), t.Limit(plus=9))


def caught(mutant: str) -> Story:
    model = api.load(ROOT / "spec" / "kafka", api.Selection(mutant=mutant))
    (chosen,) = (m for m in model.mutants if m.name == mutant)
    return story_of_finding(model, chosen.instance, chosen.caught_by)


def test_a_fetch_goes_from_the_follower_to_the_leader_and_back(golden: Golden) -> None:
    story = caught("joins_below_high_watermark")
    golden.matches(PLACE / "joins_below_high_watermark.txt", api.draw(story, "text"))


def test_who_takes_what_another_left_has_an_arrow_from_there() -> None:
    drawn = scene(caught("joins_below_epoch_start"))
    fetches = [m for m in drawn.messages if m.place[0] == "fetch"]
    assert [(drawn.lanes[m.sender], drawn.lanes[m.receiver]) for m in fetches] == [
        ("b2", "b1"), ("b1", "b2"), ("b2", "b1"), ("b1", "b2"),
    ]  # fmt: skip
    for message in fetches:
        assert message.received is not None
        senders = drawn.events[message.sent].lane, drawn.events[message.received].lane
        assert senders == (message.sender, message.receiver)
    read = [m for m in drawn.messages if m.place[0] == "unread"]
    assert {drawn.lanes[m.sender] for m in read} == {"controller"}
    assert {m.text for m in read} == {"unread"}


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
    assert _taken(kind, old, new) == taken
