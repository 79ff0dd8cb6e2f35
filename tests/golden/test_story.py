"""Counterexamples as they are drawn, word for word, and as ITF."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.golden import Golden
from tests.support.stories import story_of_finding, story_of_steps

from charter import api
from charter.formats.canonical import Json
from charter.render.story.itf import itf
from charter.render.story.scene import scene
from charter.render.story.tell import Story
from conform.cli.output.story import show_story

FOLDER = Path(__file__).parent / "story"
EXAMPLES = Path(__file__).resolve().parents[2] / "spec" / "examples"
CASES = [
    ("two_phase_commit", "gives_up_after_voting", "consistency"),
    ("dining_philosophers", "no_order", "deadlock"),
    ("dining_philosophers", "steals_forks", "nobody_starves"),
    ("paxos", "forgets_its_promise", "promises_are_kept"),
]


pytestmark = pytest.mark.xdist_group("stories")


@cache
def story_of(name: str, mutant: str, found: str) -> Story:
    model = api.load(EXAMPLES / f"{name}.charter", api.Selection(mutant=mutant))
    return story_of_finding(model, "tiny", found)


@pytest.mark.parametrize(("name", "mutant", "found"), CASES)
def test_picture_in_a_terminal_is_as_before(
    name: str, mutant: str, found: str, golden: Golden
) -> None:
    golden.matches(FOLDER / f"{mutant}.txt", api.draw(story_of(name, mutant, found), "text"))


@pytest.mark.parametrize(("name", "mutant", "found"), CASES)
def test_svg_is_xml_that_says_each_step_and_where_it_goes_wrong(
    name: str, mutant: str, found: str
) -> None:
    story = story_of(name, mutant, found)
    root = ElementTree.fromstring(api.draw(story, "svg"))
    text = " ".join("".join(node.itertext()) for node in root.iter())
    assert all(f"{step.operation}(" in text for step in story.steps)
    assert len([node for node in root.iter() if node.tag.endswith("circle")]) == len(story.steps)


@pytest.mark.slow  # the same drawing, of examples, is above
def test_picture_in_the_readme_is_what_an_unclean_replica_in_the_elr_looks_like(
    golden: Golden,
) -> None:
    root = Path(__file__).resolve().parents[2]
    model = api.load(root / "spec" / "kafka", api.Selection(mutant="elr_trusts_unclean"))
    drawn = api.draw(story_of_finding(model, "tiny_elr", "unclean_exclusion"), "svg")
    golden.matches(root / "docs" / "images" / "counterexample.svg", drawn)


def test_a_message_goes_from_who_sent_it_to_who_received_it() -> None:
    drawn = api.draw(story_of(*CASES[0]), "text").splitlines()
    assert any(line.startswith("   3  ○────PREPARE───▶●") for line in drawn)
    assert any(line.startswith("   5  ●───PREPARED") or "◀" in line for line in drawn)


def states_of(trace: dict[str, Json]) -> list[dict[str, Json]]:
    states = trace["states"]
    assert isinstance(states, list)
    return [state for state in states if isinstance(state, dict)]


def test_itf_has_every_variable_in_every_state_and_the_loop() -> None:
    trace = itf(story_of("dining_philosophers", "steals_forks", "nobody_starves"))
    assert trace["vars"] == ["doing", "queue"] and trace["loop"] == 1
    states = states_of(trace)
    assert len(states) == 5
    assert all({"#meta", "doing", "queue"} == set(state) for state in states)
    assert states[1]["doing"] == {"#map": [[0, "HUNGRY"], [1, "THINKING"], [2, "THINKING"]]}
    assert states[1]["queue"] == {"#map": [[0, [0]], [1, []], [2, []]]}


def test_itf_writes_options_records_and_sets_as_the_format_has_them() -> None:
    states = states_of(itf(story_of(*CASES[3])))
    assert {"#set": []} in [entry[1] for entry in entries(states[0]["acceptor.votes"])]
    shown = [entry[1] for entry in entries(states[-1]["acceptor.vote"])]
    assert {"tag": "None", "value": {"#tup": []}} in shown
    assert {"tag": "Some", "value": {"ballot": 1, "value": "v1"}} in shown


def entries(value: Json) -> list[list[Json]]:
    assert isinstance(value, dict)
    found = value["#map"]
    assert isinstance(found, list)
    return [entry for entry in found if isinstance(entry, list)]


LINE = """
protocol test.line
enum End { LEFT, RIGHT }
record Frame { bit: bool }
component l {
  state got: bool = false
  operation go() -> bool {
    branch went { got' = true  reply true }
  }
}
system line {
  a: l
  b: l
  channel m: End carries Frame slot
  channel own: End carries bool slot
  step send_it() {
    require not a.got
    send m[RIGHT] Frame { bit: true }
    send own[LEFT] true
  }
  step take() {
    receive x from m[RIGHT]
    require x.bit
    b.go()
  }
  step keep() {
    receive x from own[LEFT]
    require x and b.got
    a.go()
  }
}
instance tiny of line {}
witness served of line: b.got
"""


def line(prop: str, name: str) -> Story:
    """The story of a system of two single parts, whose channels end at members of an enum."""
    model = api.load_text(LINE + prop)
    return story_of_finding(model, "tiny", name)


def test_an_end_that_no_lane_stands_for_is_where_the_message_is_taken() -> None:
    messages = scene(line("always apart of line: not a.got", "apart")).messages
    ways = [(m.text, m.sender, m.sent, m.receiver, m.received) for m in messages]
    assert ways == [("true", 0, 0, 0, 2), ("bit: true", 0, 0, 1, 1)]


def test_a_message_that_no_lane_is_known_for_stays_on_the_way() -> None:
    messages = scene(line("always early of line: not b.got", "early")).messages
    ways = [(m.text, m.sender, m.receiver, m.received) for m in messages]
    assert ways == [("true", 0, 0, None), ("bit: true", 0, 1, 1)]


def test_where_no_arrow_can_be_drawn_the_text_says_what_changed_in_the_channel() -> None:
    drawn = api.draw(line("always apart of line: not a.got", "apart"), "text")
    assert "○───bit: true──▶●" in drawn
    assert drawn.count("own[LEFT]: none → true") == drawn.count("own[LEFT]: true → none") == 1
    assert "m[RIGHT]" not in drawn


def test_a_deadlock_is_named_once() -> None:
    assert story_of(*CASES[1]).title == "deadlock of table"


def test_a_lasso_without_a_stem_says_once_that_it_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    story = story_of("dining_philosophers", "steals_forks", "nobody_starves")
    show_story(replace(story, found=replace(story.found, loop=0)))
    assert "again and again" not in capsys.readouterr().out
    show_story(replace(story, found=replace(story.found, loop=1)))
    assert capsys.readouterr().out.count("and these steps repeat for ever:") == 1


def test_a_message_that_is_lost_before_anyone_took_it_is_shown_at_its_sender() -> None:
    text = LINE.replace("own: End carries bool slot", "own: End carries bool slot lossy")
    model = api.load_text(text.replace("  a: l\n  b: l\n", "  b: l\n  a: l\n"))
    steps: list[tuple[str, dict[str, Json]]] = [
        ("send_it", {}), ("take", {}), ("lose_own", {"receiver": "LEFT"}),
    ]  # fmt: skip
    lost = next(m for m in scene(story_of_steps(model, steps)).messages if m.is_lost)
    assert (lost.text, lost.sender, lost.receiver, lost.received) == ("true", 1, 1, 2)


def svg_of(story: Story) -> ElementTree.Element:
    return ElementTree.fromstring(api.draw(story, "svg"))


def test_labels_are_legible_where_a_stroke_is_painted_above_its_letters() -> None:
    """Few programs know `paint-order`: what is white and wide is an element of its own, below."""
    root = svg_of(story_of(*CASES[0]))
    texts = [node for node in root.iter() if node.tag.endswith("text")]
    assert not any("stroke" in node.attrib or "paint-order" in node.attrib for node in texts)
    halo = next(node for node in root if node.get("stroke") == "#ffffff")
    assert halo.get("aria-hidden") == "true"
    below = [(n.text, n.get("x"), n.get("y"), n.get("font-weight")) for n in halo]
    rest = list(root)[list(root).index(halo) + 1 :]
    above = [(n.text, n.get("x"), n.get("y"), n.get("font-weight")) for n in rest]
    assert below == above[: len(below)] and "PREPARE" in {text for text, *_ in below}
    assert not any(node.tag.endswith("circle") or list(node) for node in rest)


LONG = """
protocol test.long
sort Client
enum Kind { REQUEST, RELEASE }
record Where { shelf: int 0..9, place: int 0..9 }
record Message { kind: Kind, urgent: bool, nonce: int 0..9, where: option Where }
component server {
  state got: bool = false
  operation take() -> bool { branch took { got' = true  reply true } }
}
component client {
  state asked: bool = false
  operation ask() -> bool { branch asked { asked' = true  reply true } }
}
system shop {
  server: server
  client: map Client -> client
  channel m: Client carries Message set
  step ask(c: Client) {
    require not client[c].asked
    client[c].ask()
    send m[c] Message {
      kind: REQUEST, urgent: false, nonce: 1, where: present(Where { shelf: 2, place: 3 })
    }
  }
  step take(c: Client) {
    receive x from m[c]
    server.take()
  }
}
instance tiny of shop { Client = 1 }
witness served of shop: server.got
always unserved of shop: not server.got
"""


def story_of_long(text: str) -> Story:
    client: dict[str, Json] = {"c": "c1"}
    steps = [("ask", client), ("take", client)]
    return story_of_steps(api.load_text(text), steps, violated="unserved")


def test_a_message_that_is_too_long_for_its_arrow_is_told_on_several_lines_and_never_cut() -> None:
    story = story_of_long(LONG)
    [message] = scene(story).messages
    assert message.text.startswith("kind: REQUEST, urgent: false, nonce: 1, where: ")
    assert message.values == "REQUEST not urgent 1 (2 3)"
    texts = ["".join(node.itertext()) for node in svg_of(story).iter()]
    lines = ["kind: REQUEST, urgent: false, nonce:", "1, where: Where { shelf: 2, place: 3", "}"]
    assert set(lines) <= set(texts)
    drawn = api.draw(story, "text")
    assert not any("…" in text for text in [*texts, drawn])
    assert "REQUEST not urgent 1 (2 3)" in drawn
    narrow = api.draw(story_of_long(LONG.replace("Client = 1", "Client = 5")), "text")
    assert f"receives {message.text}" in narrow


def test_values_alone_stand_where_only_they_have_room_for_all_messages_of_a_channel() -> None:
    text = LONG.replace("nonce: int 0..9, where: option Where", "nonce: int 0..9")
    told = story_of_long(text.replace(", where: present(Where { shelf: 2, place: 3 })", ""))
    assert "●◀─REQUEST not urgent 1─○" in api.draw(told, "text")
