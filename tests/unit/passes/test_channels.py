"""Channels become state: what a step requires, picks and changes."""

from __future__ import annotations

import pytest
from tests.unit.semantics.test_messages import machine

from charter.core.show import show_statement
from charter.passes import channels


def lines(kind: str, name: str) -> list[str]:
    """The statements of a step after the pass."""
    (system,) = channels.run(machine(kind).model).systems
    step = next(step for step in system.steps if step.name == name)
    return [show_statement(line) for line in step.body]


@pytest.mark.parametrize(
    ("kind", "room", "put"),
    [
        ("slot", ["require (@box[n] eq none)"], "present(m)"),
        ("set", [], "(@box[n] union {m})"),
        ("fifo", ["require (size!(@box[n]) lt 4)"], "append!(@box[n], m)"),
    ],
)
def test_sending_needs_room(kind: str, room: list[str], put: str) -> None:
    assert lines(kind, "put")[:-1] == [*room, f"@box' = (@box with [n: {put}])"]


@pytest.mark.parametrize(
    ("kind", "bound", "rest"),
    [
        ("slot lossy", "let lost: int 0..3 = value!(@box[receiver])", "none"),
        (
            "set lossy",
            "pick lost: int 0..3 in @box[receiver]",
            "(@box[receiver] difference {lost})",
        ),
        ("fifo lossy", "let lost: int 0..3 = item!(@box[receiver], 0)", "drop!(@box[receiver], 1)"),
    ],
)
def test_what_is_lost_is_gone(kind: str, bound: str, rest: str) -> None:
    require, *others = lines(kind, "lose_box")
    assert require.startswith("require (@box[receiver] ne ")
    assert others == [bound, f"@box' = (@box with [receiver: {rest}])"]


def test_what_may_stay_stays_or_goes() -> None:
    found = lines("slot duplicating", "get")
    assert "pick stays#m: bool in bool" in found
    assert "@box' = (@box with [n: (if stays#m then @box[n] else none)])" in found


def test_a_second_use_of_a_channel_sees_the_first() -> None:
    first = "let channel#1: map Node -> map Node -> option int 0..3 = "
    assert lines("slot", "both")[1:] == [
        "require (@wire[a][b] eq none)",
        first + "(@wire with [a: (@wire[a] with [b: present(1)])])",
        "require (channel#1[b][a] eq none)",
        "@wire' = (channel#1 with [b: (channel#1[b] with [a: present(2)])])",
    ]


def test_what_is_done_for_each_member_is_one_update_with_room_in_all_places() -> None:
    require, update = lines("fifo", "cry")
    some = "set{o for o in Node if (all or (o eq n))}"
    room = "((@box[x] eq <>) implies (size!(@wire[x][n]) lt 4))"
    assert require == f"require (forall x in {some}: {room})"
    sent = "(if (@box[x] eq <>) then append!(@wire[x][n], 1) else @wire[x][n])"
    one = f"(if (x in {some}) then (@wire[x] with [n: {sent}]) else @wire[x])"
    assert update == f"@wire' = [x in Node: {one}]"


@pytest.mark.parametrize(("kind", "empty"), [("slot", "none"), ("set", "{}"), ("fifo", "<>")])
def test_what_is_cleared_is_empty(kind: str, empty: str) -> None:
    assert lines(kind, "hang_up") == [
        f"@wire' = (@wire with [n: [x in Node: {empty}]])",
        f"@box' = (@box with [n: {empty}])",
    ]
