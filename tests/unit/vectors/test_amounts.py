"""The small suite shows what happens to none, one and several members of a map or set that an
operation changes as a whole."""

from dataclasses import replace
from functools import cache

import pytest

from charter import api
from charter.core.obligations import obligations
from charter.diagnostics import Source
from charter.prove import Infeasible, SingleStep, StepQuestion, single_step
from charter.semantics.machine import Machine
from charter.suites.search import search
from charter.suites.smoke import Smoke, smoke
from charter.suites.subject import subject
from charter.vectors.answer import Answers
from charter.vectors.kills import tells

ROOMS = """protocol rooms

sort Guest

component rooms {
  state left: map Guest -> int 0..2 = [g in Guest: 0]
  state late: set Guest = {}
  state keys: map Guest -> bool = [g in Guest: false]

  operation book(guest: Guest, nights: int 1..2) -> bool cites silent {
    branch taken when left[guest] > 0 reply false
    branch booked { left[guest]' = nights  keys[guest]' = true  reply true }
  }
  operation leave(guest: Guest) -> bool cites silent {
    branch left {
      let fewer = late - {guest}
      left' = left with [guest: 0]
      late' = fewer
      reply true
    }
  }
  operation night() -> set Guest cites silent {
    branch slept {
      let over = ending()
      left' = [g in Guest: max(0, left[g] - 1)]
      late' = late | { g in over if keys[g] }
      reply over
    }
  }
  observe all { left, late }
}

fun ending() of rooms -> set Guest cites silent = { g in Guest if left[g] == 1 }

witness somebody_late of rooms: late != {}

instance tiny of rooms { Guest = 3 }
"""

SWEPT = "left' = [g in Guest: max(0, left[g] - 1)]"
SWEEPS = {
    "one at most": "if size(ending()) > 1 and left[g] == 1 then 1 else max(0, left[g] - 1)",
    "two at most": "if size(ending()) > 2 and left[g] == 1 then 1 else max(0, left[g] - 1)",
}
REPLIES = {
    "one is told": "if size(over) > 1 then {} else over",
    "nobody is everybody": "if over == {} then { g in Guest if true } else over",
}


@cache
def small() -> Smoke:
    """The small suite, searched without the solver."""
    about = subject((Source("rooms.charter", ROOMS),), "")
    return smoke(replace(about, found=search(about, lambda *_: None, False)))


def can_tell(text: str) -> bool:
    """Whether a vector of the small suite tells a model in all of its runs."""
    planted = api.load_text(text)
    machine = Machine.of(planted, replace(planted.instances[0], offers=(), only=()))
    answers = Answers(machine, machine.outcomes)
    vectors = [entry.vector for entry in small().entries]
    return any(tells(answers, v.question, v.answer) == "always" for v in vectors)


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_the_small_suite_tells_a_mistake_with_several_members(sweep: str) -> None:
    assert SWEPT in ROOMS
    assert can_tell(ROOMS.replace(SWEPT, f"left' = [g in Guest: {sweep}]"))


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_the_small_suite_tells_a_mistake_in_a_reply_with_several_members(reply: str) -> None:
    assert "reply over\n" in ROOMS
    assert can_tell(ROOMS.replace("reply over\n", f"reply {reply}\n"))


def test_only_what_may_change_by_several_members_is_asked_for() -> None:
    """Not what is changed by its key (also behind `let`), nor variables that nobody sees."""
    asked = [row for row in small().ledger.rows if row.kind == "amount"]
    parts = [f"amount night/slept {part}" for part in ("left", "late", "reply")]
    wants = ("none", "one", "several")
    assert [row.name for row in asked] == [f"{part} {want}" for part in parts for want in wants]
    assert {row.status for row in asked} == {"covered"}
    assert {row.branch for row in asked} == {"night/slept"}


def test_the_solver_finds_the_same_amounts() -> None:
    """Every step is replayed on the definition. With one guest nothing happens to several."""
    model = api.load_text(ROOMS)
    wanted = tuple(o for o in obligations(model, model.components[0]) if o.kind == "amount")
    there = model.instances[0]
    found = single_step(Machine.of(model, there), StepQuestion(wanted, ()))
    assert all(isinstance(answer, SingleStep) for answer in found)
    alone = replace(there, sorts=(("Guest", ("g1",)),))
    found = single_step(Machine.of(model, alone), StepQuestion(wanted, ()))
    several = {o.name for o in wanted if o.want == "several"}
    assert {a.obligation for a in found if isinstance(a, Infeasible)} == several
