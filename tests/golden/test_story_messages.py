"""How messages are drawn that are received twice, or by nobody."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.golden.test_story import story_of
from tests.support.golden import Golden
from tests.support.stories import story_of_steps

from charter import api
from charter.formats.canonical import Json
from charter.render.story.scene import Message, scene
from charter.render.story.tell import Story
from conform.cli.output.story import show_story

FOLDER = Path(__file__).parent / "story"

SHOP = """
protocol test.shop

sort Client
enum Kind { ORDER, CANCEL }
record Wish { kind: Kind, number: int 0..2 }
record Goods { number: int 0..2 }

component shop {
  state sold: int 0..2 = 0

  operation sell() -> bool {
    branch out when sold == 2 reply false
    branch sold { sold' = sold + 1  reply true }
  }
}

component client {
  state wants: int 0..2 = 0
  state has: int 0..3 = 0

  operation wish() -> int 0..2 {
    branch wished { wants' = min(wants + 1, 2)  reply min(wants + 1, 2) }
  }

  operation take() -> bool { branch took { has' = min(has + 1, 3)  reply true } }
}

system trade {
  shop: shop
  client: map Client -> client
  channel wish: Client carries Wish set
  channel goods: Client carries Goods set duplicating
  channel bell: Client carries bool set

  step order(c: Client) {
    let number = client[c].wish()
    send wish[c] Wish { kind: ORDER, number: number }
  }

  step sell(c: Client) {
    receive w from wish[c]
    require w.kind == ORDER
    let done = shop.sell()
    require done
    send goods[c] Goods { number: w.number }
  }

  step get(c: Client) {
    receive g from goods[c]
    client[c].take()
  }

  step ring(c: Client) {
    send bell[c] true
  }

  step hear(c: Client) {
    receive b from bell[c]
    require b
  }
}

instance tiny of trade { Client = {ann, bob} }

witness served of trade: some c in Client: client[c].has > 0

always paid_for of trade:
  forall c in Client: client[c].has <= shop.sold
"""
ORDER_TWICE = [("order", "ann"), ("order", "ann"), ("sell", "ann"), ("get", "ann"), ("get", "ann")]


def walk(*acts: tuple[str, str], prop: str = "") -> Story:
    """The story of a walk; with `prop`, of its way to where that is false."""
    steps: list[tuple[str, dict[str, Json]]] = [(name, {"c": who}) for name, who in acts]
    return story_of_steps(api.load_text(SHOP), steps, violated=prop)


def list_arrows(story: Story) -> list[tuple[str, int, int, int | None, bool]]:
    def row(m: Message) -> tuple[str, int, int, int | None, bool]:
        return m.values, m.sent, m.receiver, m.received, m.is_copy

    return [row(message) for message in scene(story).messages]


def test_each_receipt_has_an_arrow_and_what_nobody_receives_goes_towards_its_taker() -> None:
    rows = list_arrows(walk(*ORDER_TWICE, prop="paid_for"))
    assert sorted(rows, key=str) == [
        ("1", 2, 1, 3, False),
        ("1", 2, 1, 4, True),
        ("ORDER 1", 0, 0, 2, False),
        ("ORDER 2", 1, 0, None, False),
    ]


def test_a_duplicate_in_a_terminal(golden: Golden) -> None:
    story = walk(*ORDER_TWICE, prop="paid_for")
    golden.matches(FOLDER / "received_twice.txt", api.draw(story, "text"))


def test_a_duplicate_as_svg_has_two_arrows_one_of_which_is_the_copy() -> None:
    root = ElementTree.fromstring(api.draw(walk(*ORDER_TWICE, prop="paid_for"), "svg"))
    titles = [n.text for n in root.iter() if n.tag.endswith("title")]
    assert titles.count("number: 1") == 2
    texts = {n.text for n in root.iter() if n.tag.endswith("text")}
    assert {"number: 1", "number: 1 (copy)"} <= texts


def test_the_numbered_story_says_what_was_received_though_it_stays(
    capsys: pytest.CaptureFixture[str],
) -> None:
    story = walk(*ORDER_TWICE, prop="paid_for")
    steps = story.steps_json()
    show_story(story)
    said = capsys.readouterr().out
    assert said.count("receives Goods { number: 1 } from goods[ann] (a copy stays)") >= 1
    mail = {"what": "sent", "place": "wish[ann]", "stays": False}
    assert isinstance(steps[0], dict)
    assert steps[0]["mail"] == [mail | {"message": "Wish { kind: ORDER, number: 1 }"}]


def test_who_only_sends_to_an_element_is_the_part_that_is_alone() -> None:
    story = walk(("ring", "bob"), ("ring", "bob"), ("hear", "bob"))
    seen = scene(story)
    assert [seen.lanes[event.lane] for event in seen.events] == ["shop", "shop", "bob"]
    assert "sends true (it is there already)" in seen.events[1].notes
    assert list_arrows(story) == [("true", 0, 2, 2, False)]


@pytest.mark.parametrize("name", ["lose_goods", "lose_sight"])
def test_a_step_of_a_charter_may_be_called_as_if_it_lost_a_message(name: str) -> None:
    def draw(text: str, last: str) -> list[object]:
        ann: dict[str, Json] = {"c": "ann"}
        steps = [(step, ann) for step in ("order", "sell", last)]
        seen = scene(story_of_steps(api.load_text(text), steps))
        return [*(event.lane for event in seen.events), *seen.messages]

    assert draw(SHOP.replace("step get(", f"step {name}("), name) == draw(SHOP, "get")


@pytest.mark.parametrize("name", ["x" * size for size in range(8, 16)])
def test_the_text_of_a_message_on_the_way_is_never_cut_in_a_terminal(name: str) -> None:
    text = SHOP.replace("ORDER", name)
    ann: dict[str, Json] = {"c": "ann"}
    steps = [("order", ann), ("order", ann), ("sell", ann)]
    drawn = api.draw(story_of_steps(api.load_text(text), steps), "text")
    assert drawn.count("▸") + drawn.count("◂") == 2  # the second order, and what was sold
    assert all(f"{name} {number}" in drawn for number in (1, 2)), drawn


def test_a_sending_that_was_received_is_not_the_one_that_is_received_next() -> None:
    sold = ("order", "ann"), ("sell", "ann"), ("get", "ann")
    rows = list_arrows(walk(*sold, ("order", "ann"), ("sell", "ann"), ("get", "ann")))
    assert [row for row in rows if row[0] in ("1", "2")] == [
        ("1", 1, 1, 2, False),
        ("2", 4, 1, 5, False),
    ]


def test_two_arrows_of_one_step_stand_on_rows_of_their_own() -> None:
    text = SHOP.replace(
        "receive g from goods[c]", "receive g from goods[c]  receive b from bell[c]"
    )
    bob: dict[str, Json] = {"c": "bob"}
    steps = [(name, bob) for name in ("ring", "order", "sell", "get")]
    drawn = api.draw(story_of_steps(api.load_text(text), steps), "text")
    lines = drawn.splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("   4"))
    assert "true" in lines[row] + lines[row + 1] and "number: 1" in lines[row] + lines[row + 1]
    assert lines[row].count("▶") == lines[row + 1].count("▶") == 1


def test_an_arrow_goes_past_the_dots_of_others_and_its_text_past_other_texts() -> None:
    """The first vote of Paxos would go straight through the dot of the second promise."""
    story = story_of("paxos", "forgets_its_promise", "promises_are_kept")
    root = ElementTree.fromstring(api.draw(story, "svg"))
    dots = [(float(n.attrib["cx"]), float(n.attrib["cy"])) for n in root.iter() if "cx" in n.attrib]
    lines = [n.attrib["d"] for n in root.iter() if " Q" in n.get("d", "")]
    assert len(lines) == 3
    for line in lines:
        start, bend, end = (tuple(map(float, p)) for p in points(line))
        ends = {start, end}
        for x, y in dots:
            if (x, y) not in ends and min(start[0], end[0]) <= x <= max(start[0], end[0]):
                part = (x - start[0]) / (end[0] - start[0])
                shares = (1 - part) ** 2, 2 * part * (1 - part), part**2
                at = sum(s * p[1] for s, p in zip(shares, (start, bend, end), strict=True))
                assert abs(at - y) > 5


def points(line: str) -> list[list[str]]:
    """The three points of a curve: `M x y Q a b u v`."""
    numbers = line.replace("M", "").replace("Q", "").split()
    return [numbers[:2], numbers[2:4], numbers[4:]]


def test_each_message_that_arrives_has_a_head_of_its_own_at_its_dot() -> None:
    root = ElementTree.fromstring(api.draw(walk(*ORDER_TWICE, prop="paid_for"), "svg"))
    heads = [n.attrib["points"].split() for n in root.iter() if n.tag.endswith("polygon")]
    assert len(heads) == 3
    dots = [(float(n.attrib["cx"]), float(n.attrib["cy"])) for n in root.iter() if "cx" in n.attrib]
    for head in heads:
        x, y = map(float, head[0].split(","))
        assert any(abs((x - a) ** 2 + (y - b) ** 2 - 25) < 2 for a, b in dots)


def test_a_message_is_lost_where_it_would_have_arrived() -> None:
    text = SHOP.replace("Wish set", "Wish set lossy")
    steps: list[tuple[str, dict[str, Json]]] = [
        ("order", {"c": "bob"}), ("lose_wish", {"receiver": "bob"}),
    ]  # fmt: skip
    seen = scene(story_of_steps(api.load_text(text), steps))
    [message] = seen.messages
    assert message.is_lost and seen.lanes[message.receiver] == "shop"
    assert seen.lanes[seen.events[1].lane] == "shop"


def test_what_a_step_clears_is_lost_and_a_batch_has_an_arrow_for_each_message() -> None:
    text = SHOP.replace("Wish set", "Wish fifo max 3").replace(
        "  step ring(",
        """  step call_all(least: int 1..2) {
    send wish[c] Wish { kind: ORDER, number: least } for c in Client
  }
  step sell_all(c: Client) {
    receive all_wishes[2] from wish[c]
    let done = shop.sell()
    require done and all_wishes[0].kind == ORDER
  }
  step close(c: Client) { clear wish[x] for x in Client if x != c }
  step ring(""",
    )
    model = api.load_text(text)
    first, second = {"least": 1}, {"least": 2}
    story = story_of_steps(
        model,
        [("call_all", first), ("call_all", second), ("sell_all", {"c": "ann"}),
         ("close", {"c": "ann"})],
    )  # fmt: skip
    assert sorted(list_arrows(story), key=str) == [
        ("ORDER 1", 0, 0, 2, False),
        ("ORDER 1", 0, 0, 3, False),
        ("ORDER 2", 1, 0, 2, False),
        ("ORDER 2", 1, 0, 3, False),
    ]
    messages = scene(story).messages
    assert {m.received: m.is_lost for m in messages} == {2: False, 3: True}
    [*_, sold, closed] = story.steps_json()
    assert isinstance(sold, dict) and isinstance(closed, dict)
    assert [(m["what"], m["place"]) for m in sold["mail"]] == [("received", "wish[ann]")] * 2
    assert [(m["what"], m["place"]) for m in closed["mail"]] == [("lost", "wish[bob]")] * 2
