"""What a step receives and sends, read back from core, for every kind of channel."""

from __future__ import annotations

from typing import cast

import pytest

from charter import api
from charter.analysis.retell import RetoldStep, retell
from charter.core.nodes import Value
from charter.semantics.machine import Machine

POST = """
protocol test.post
sort Node
component node {
  state seen: int 0..3 = 0
  operation see(n: int 0..3) -> bool { branch saw { seen' = n  reply true } }
}
system post {
  node: map Node -> node
  channel box: Node carries int 0..3 KIND
  channel wire: Node -> Node carries int 0..3 KIND
  state word: map Node -> int 0..3 = [n in Node: 0]
  step put(n: Node, m: int 0..3) { send box[n] m  word[n]' = m }
  step both(a: Node, b: Node) { require a != b  send wire[a][b] 1  send wire[b][a] 2 }
  step get(n: Node) { receive m from box[n]  node[n].see(m) }
  step pass_on(a: Node, b: Node) {
    send wire[b][b] word[a]
    receive m from box[a]
    receive w from wire[a][b]
    node[b].see(w)
  }
  step twice(a: Node, b: Node) { send box[a] 1  send box[b] 2 }
  step take(a: Node, b: Node) { receive m from box[a]  receive w from box[b]  node[b].see(w) }
  step swap(a: Node, b: Node) { receive m from box[a]  send box[b] 2 }
  step loop(a: Node, b: Node) { send box[a] 1  receive m from box[b]  node[b].see(m) }
  step cry(n: Node, all: bool) {
    send wire[x][n] 1 for x in { o in Node if all or o == n } if box[x] == EMPTY
  }
  step hang_up(n: Node) { clear wire[n][x] for x in Node  clear box[n] }
  step look(n: Node) { require some m in {0, 3}: box[n] != EMPTY and m == 3  node[n].see(3) }
}
instance tiny of post { Node = 2 }
witness seen of post: some n in Node: node[n].seen > 0
"""
EMPTY = {"slot": "none", "set": "{}", "fifo": "<>"}


def machine(kind: str) -> Machine:
    text = POST.replace("KIND", kind).replace("EMPTY", EMPTY[kind.split(maxsplit=1)[0]])
    model = api.load_text(text)
    return Machine.of(model, model.instances[0])


def after(machine: Machine, *acts: tuple[str, tuple[Value, ...]]) -> list[RetoldStep]:
    """The last of some steps, in each of its ways; the others go the first of theirs."""
    state = machine.initial()
    for name, args in acts[:-1]:
        state = machine.outcomes(state, name, args)[0].state
    ways = (outcome.state for outcome in machine.outcomes(state, *acts[-1]))
    return [retell(machine, acts[-1:], [state, way])[0] for way in ways]


def words(step: RetoldStep) -> list[tuple[str, str, tuple[Value, ...], Value]]:
    return [("sent" if m.is_sent else "received", m.channel, m.ends, m.message) for m in step.mail]


@pytest.mark.parametrize("kind", ["slot", "set", "fifo", "slot lossy", "fifo duplicating"])
def test_mail_is_what_was_received_and_then_what_was_sent(kind: str) -> None:
    post = machine(kind)
    [both] = after(post, ("both", (0, 1)))
    assert words(both) == [("sent", "wire", (0, 1), 1), ("sent", "wire", (1, 0), 2)]
    for step in after(post, ("put", (0, 3)), ("both", (0, 1)), ("pass_on", (0, 1))):
        received = [("received", "box", (0,), 3), ("received", "wire", (0, 1), 1)]
        assert sorted(words(step)[:2]) == received
        assert words(step)[2:] == [("sent", "wire", (1, 1), 3)]
    [looked] = after(post, ("put", (0, 3)), ("look", (0,)))
    assert looked.mail == ()


@pytest.mark.parametrize("kind", ["slot duplicating", "set duplicating", "fifo duplicating"])
def test_what_is_received_stays_or_is_gone(kind: str) -> None:
    ways = after(machine(kind), ("put", (0, 3)), ("get", (0,)))
    assert [words(step) for step in ways] == [[("received", "box", (0,), 3)]] * 2
    for step in ways:
        changed = {change.variable for change in step.changes}
        assert step.mail[0].stays is ("box" not in changed)
    assert {step.mail[0].stays for step in ways} == {True, False}


def test_of_a_set_any_message_is_received_of_a_fifo_the_first() -> None:
    acts = ("put", (0, 3)), ("put", (0, 1)), ("get", (0,))
    assert {step.mail[0].message for step in after(machine("set"), *acts)} == {1, 3}
    assert {step.mail[0].message for step in after(machine("fifo"), *acts)} == {3}


def test_what_is_sent_again_to_a_set_lies_there_already() -> None:
    acts = ("put", (0, 3)), ("put", (0, 3))
    assert [step.mail[0].stays for step in after(machine("set"), *acts)] == [True]
    assert [step.mail[0].stays for step in after(machine("fifo"), *acts)] == [False]


def test_a_message_that_is_lost_is_taken_out() -> None:
    acts = ("put", (1, 2)), ("lose_box", (1,))
    [lost] = after(machine("fifo lossy"), *acts)
    assert words(lost) == [("received", "box", (1,), 2)]


HOLDING: dict[str, dict[tuple[int, ...], Value]] = {
    "slot": {(): None, (1,): 1, (2,): 2},
    "set": {(): frozenset(), (1,): frozenset({1}), (2,): frozenset({2}), (1, 2): frozenset({1, 2})},
    "fifo": {(): (), (1,): (1,), (2,): (2,), (1, 2): (1, 2)},
}
"""What lies in a place that holds some messages."""


def boxes(machine: Machine, *acts: tuple[str, tuple[Value, ...]]) -> list[tuple[Value, Value]]:
    """The boxes and what the first node has seen, after each way of the last of some steps."""
    ways = [step.state for step in after(machine, *acts)]
    seen = [cast(tuple[Value, ...], way["node.seen"])[0] for way in ways]
    return list(zip([cast(tuple[Value, ...], way["box"])[0] for way in ways], seen, strict=True))


@pytest.mark.parametrize("kind", ["slot", "set", "fifo"])
def test_a_second_use_of_a_place_sees_the_first(kind: str) -> None:
    post, holding, here = machine(kind), HOLDING[kind], (0, 0)
    both = [holding[1, 2]] if kind != "slot" else []
    assert boxes(post, ("twice", here)) == [(lies, 0) for lies in both]
    assert boxes(post, ("put", (0, 3)), ("take", here)) == []
    assert boxes(post, ("put", (0, 3)), ("swap", here)) == [(holding[(2,)], 0)]
    assert boxes(post, ("loop", here)) == [(holding[()], 1)]
    assert boxes(post, ("loop", (0, 1))) == []
    assert boxes(post, ("put", (1, 3)), ("loop", (0, 1))) == [(holding[(1,)], 0)]


def test_two_messages_are_received_in_one_step() -> None:
    acts = ("put", (0, 3)), ("put", (0, 2)), ("take", (0, 0))
    assert boxes(machine("fifo"), *acts) == [((), 2)]
    assert boxes(machine("set"), *acts) == [(frozenset(), 3), (frozenset(), 2)]


def test_four_messages_fill_a_fifo_within_a_step_too() -> None:
    put = ("put", (0, 3))
    [(lies, _)] = boxes(machine("fifo"), put, put, ("twice", (0, 0)))
    assert lies == (3, 3, 1, 2)
    assert boxes(machine("fifo"), put, put, put, ("twice", (0, 0))) == []


@pytest.mark.parametrize("kind", ["slot", "set", "fifo"])
def test_what_a_step_sends_and_receives_itself_is_told_in_its_order(kind: str) -> None:
    [step] = after(machine(kind), ("loop", (0, 0)))
    assert words(step) == [("sent", "box", (0,), 1), ("received", "box", (0,), 1)]
