"""Whether a question tells a mutant is said without its answer where nothing that is performed was
changed; it must be the same as with the answer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from charter import api
from charter.core import nodes as n
from charter.core.affected import ComponentChange
from charter.semantics.machine import Machine
from charter.suites.smoke import SmokeVector, kills, smoke
from charter.suites.subject import Subject, subject
from charter.vectors.answer import Answers
from charter.vectors.kills import Told, tells
from charter.vectors.mutant_instance import MutantInstance

LAMPS = """protocol test.lamps
fun begins() -> bool = false
fun lit(on: bool) -> bool = on
component lamp {
  state on: bool = begins()
  volatile state warm: bool = false
  operation press() -> bool {
    branch pressed { on' = not on  warm' = true  reply true }
  }
  operation flicker() -> bool {
    branch flickered { pick to in {false, true}  on' = to  reply true }
  }
  operation look() -> bool { branch looked { reply lit(on) } }
  operation touch() -> bool { branch touched { reply warm } }
  operation failover() -> bool { branch over { warm' = false  reply true } }
  observe all { on }
}
witness lights of lamp: on
scenario "look" of lamp { do look() }
scenario "press" of lamp { do press()  do look()  do touch() }
scenario "flicker" of lamp { do flicker()  do look() }
scenario "failover" of lamp { do press()  do failover()  do touch() }
scenario "given" of lamp { start on = true  do look()  do touch() }
"""
EDITS = {
    "nothing": ("", ""),
    "what it begins with": ("begins() -> bool = false", "begins() -> bool = true"),
    "a function": ("= on\n", "= not on\n"),
    "a failover, of what is volatile": ("warm' = false", "warm' = true"),
    "a failover, of what is durable": ("warm' = false", "warm' = false  on' = false"),
    "an update": ("on' = not on", "on' = on"),
    "a choice": ("{false, true}", "{false}"),
    "what is observed": ("observe all { on }", "observe all { on, warm }"),
    "a reply": ("-> bool { branch touched { reply warm", "-> int 0..1 { branch touched { reply 1"),
    "a rule without a value": ("reply lit(on)", "reply value(if on then present(on) else none)"),
}


def compile_text(text: str) -> Subject:
    return subject((api.Source("lamps", text),), "", "lamp")


@cache
def entries() -> tuple[SmokeVector, ...]:
    return smoke(compile_text(LAMPS)).entries


def answers(mutated: n.Model, entry: SmokeVector) -> Answers:
    machine = Machine.of(mutated, replace(entry.instance, offers=(), only=()))
    return Answers(machine, machine.outcomes)


def tell(edit: str) -> list[tuple[Told, Told, bool]]:
    """For each question whether it tells the edited lamp, with its answer and as a mutant's
    instance says, and whether the latter found its answer."""
    model, mutated = compile_text(LAMPS).model, compile_text(LAMPS.replace(*EDITS[edit])).model
    change = ComponentChange.of(model, mutated, "lamp")
    found: list[tuple[Told, Told, bool]] = []
    for entry in entries():
        question, allowed = entry.vector.question, entry.vector.answer
        inside = MutantInstance(answers(mutated, entry), change)
        said = inside.tells(question, allowed, entry.performed)
        looked = bool(inside.answers.memory)
        found.append((tells(answers(mutated, entry), question, allowed), said, looked))
    return found


@pytest.mark.parametrize("edit", EDITS)
def test_the_same_is_told_when_answers_are_not_found(edit: str) -> None:
    assert [said for _, said, _ in tell(edit)] == [wanted for wanted, _, _ in tell(edit)]


def test_edits_are_told_so_that_there_is_something_to_compare() -> None:
    always = {edit for edit in EDITS if any(said == "always" for _, said, _ in tell(edit))}
    assert always == EDITS.keys() - {"nothing", "a choice", "a rule without a value"}


def test_no_answer_is_found_when_nothing_that_is_performed_was_changed() -> None:
    assert len(entries()) == 5
    assert sum(looked for _, _, looked in tell("nothing")) == 0
    assert sum(looked for _, _, looked in tell("an update")) < 5


UNASKABLE = """always fine of lamp: on or not on
instance tiny of lamp {}
mutant asks_more in tiny {
  replace in lamp operation look(far: bool) -> bool { branch looked { reply far } }
} caught by fine
mutant looks_away in tiny { drop operation lamp/look } caught by fine
"""


def test_no_question_tells_a_mutant_when_it_cannot_be_asked_of_it() -> None:
    about = compile_text(LAMPS + UNASKABLE)
    found = kills(about, smoke(about).entries)
    assert [(one.mutant, one.outcome) for one in found] == [
        ("asks_more", "survives"),
        ("looks_away", "survives"),
    ]
