"""Where the arguments of questions come from: observations, else replies."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter.formats.canonical import Json
from charter.formats.vector import Why
from charter.project.sources import read_sources
from charter.semantics.machine import Machine
from charter.suites import make
from charter.vectors.plan import Planner

LOCKER = """protocol locker

sort Client

opaque counter Token

union Taken { given(token: Token)  busy }

record Held { by: Client  token: Token }

component locker {
  state held: option Held = none
  state newest: Token = 0

  operation take(client: Client) -> Taken cites silent {
    branch busy when occupied: held != none reply busy
    branch given {
      newest' = bump(newest)
      held' = present(Held { by: client, token: bump(newest) })
      reply given(bump(newest))
    }
  }
  operation free(token: Token) -> bool cites silent {
    branch lost when other: not holds(token) reply false
    branch freed { held' = none  reply true }
  }
  observe all { SHOWN }
}

fun holds(token: Token) of locker -> bool = held is present(h) and h.token == token

witness frees of locker: took free/freed
instance tiny of locker { Client = 2 }
"""


def references(tmp_path: Path, shown: str) -> list[Json]:
    """The arguments of `take, free, take, free` with the newest token each time."""
    path = tmp_path / "locker.charter"
    path.write_text(LOCKER.replace("SHOWN", shown))
    about = make.open_subject(path, read_sources(path), "", "")
    machine = Machine.of(about.model, about.model.instances[0])
    acts = (("take", (0,)), ("free", (1,)), ("take", (1,)), ("free", (2,)))
    vector = Planner.of(about.model, machine).of_acts(acts, Why((), "test", "", ""))
    assert vector is not None
    taken = [nodes[0].branch for nodes in vector.answer.steps[1:]]
    assert taken == ["take/given", "free/freed"] * 2
    return [call.args["token"] for call in vector.question.operations[1::2]]


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("held  newest", [{"ref": [1, "held", "token"]}, {"ref": [3, "held", "token"]}]),
        ("newest", [{"ref": [1, "newest"]}, {"ref": [3, "newest"]}]),
        ("held.token", [{"ref": [1, "held", "token"]}, {"ref": [3, "held", "token"]}]),
        ("held.by", [{"ref": [n, "token"], "in": "reply"} for n in (1, 3)]),
        ("", [{"ref": [n, "token"], "in": "reply"} for n in (1, 3)]),
    ],
)
def test_a_token_comes_from_an_observation_else_from_a_reply(
    tmp_path: Path, shown: str, wanted: list[Json]
) -> None:
    assert references(tmp_path, shown) == wanted


SEATS = """protocol seats

sort Seat

opaque counter Token

union Held { given(seat: Seat, token: Token)  full }

component house {
  state seat: map Seat -> option Token = [s in Seat: none]
  state newest: Token = 0

  operation hold() -> HELD cites silent {
    let empty = { s in Seat if seat[s] == none }
    branch full when taken: empty == {} reply none_left
    branch given {
      pick s in empty
      let token = bump(newest)
      newest' = token
      seat[s]' = present(token)
      reply REPLY
    }
  }
  operation free(token: Token) -> bool cites silent {
    branch lost when unknown: forall s in Seat: seat[s] != present(token) reply false
    branch freed {
      seat' = [s in Seat: if seat[s] == present(token) then none else seat[s]]
      reply true
    }
  }
  observe all { SHOWN }
}

witness frees of house: took free/freed
instance tiny of house { Seat = 2 }
"""


def reference_after_a_choice(folder: Path, shown: str, reply: tuple[str, str, str]) -> Json | str:
    """The argument of the last of `hold, free`; why there is no question if there is none."""
    path = folder / "seats.charter"
    text = SEATS.replace("SHOWN", shown)
    for name, meant in zip(("none_left", "HELD", "REPLY"), reply, strict=True):
        text = text.replace(name, meant)
    path.write_text(text)
    about = make.open_subject(path, read_sources(path), "", "")
    planner = Planner.of(about.model, Machine.of(about.model, about.model.instances[0]))
    vector = planner.of_acts((("hold", ()), ("free", (1,))), Why((), "test", "", ""))
    if vector is None:
        (reason,) = planner.refused
        return reason
    assert not planner.refused
    assert {node.branch for node in vector.answer.steps[2]} == {"free/freed"}
    return vector.question.operations[1].args["token"]


WITH_TOKEN = ("full", "Held", "given(s, token)")
WITHOUT = ("none", "option Seat", "present(s)")


@pytest.mark.parametrize(
    ("shown", "reply", "wanted"),
    [
        ("seat  newest", WITHOUT, {"ref": [1, "newest"]}),
        ("newest  seat", WITHOUT, {"ref": [1, "newest"]}),
        ("seat", WITH_TOKEN, {"ref": [1, "token"], "in": "reply"}),
        ("seat", WITHOUT, "NoAnswer: free: nothing stands at 1.seat.s1"),
    ],
)
def test_a_token_that_stands_elsewhere_after_a_choice_comes_from_where_it_always_stands(
    tmp_path: Path, shown: str, reply: tuple[str, str, str], wanted: Json
) -> None:
    assert reference_after_a_choice(tmp_path, shown, reply) == wanted
