"""A scenario has a title, and says something that must happen or hold."""

from __future__ import annotations

import pytest

from charter.diagnostics import Diagnostic, Source
from charter.project.pipeline import check_texts

ROOM = """protocol test.room
sort Person
component room {
  state inside: set Person = {}
  operation enter(p: Person) -> bool { branch entered { inside' = inside | {p}  reply true } }
}
witness somebody of room: inside != {}
fragment one_more(p: Person) of room { do enter(p) }
fragment nothing() of room { step "nothing" }
"""


def errors(text: str) -> tuple[Diagnostic, ...]:
    return check_texts((Source("x", ROOM + text),)).errors


@pytest.mark.parametrize("title", ["", " "])
def test_a_scenario_without_a_title_is_refused(title: str) -> None:
    (error,) = errors(f'scenario "{title}" of room {{ Person = {{a}}  do enter(a) }}')
    assert (error.code, error.message) == ("scenario/empty", "a scenario has a title")
    assert error.hint.startswith('write what it shows: scenario "')
    assert error.span.quote() == f'scenario "{title}" of room'


@pytest.mark.parametrize(
    "lines", ["", 'step "once"', "let who = inside", "include nothing()", "start inside = {a}"]
)
def test_a_scenario_that_does_and_expects_nothing_is_refused(lines: str) -> None:
    (error,) = errors(f'scenario "a" of room {{ Person = {{a}}  {lines} }}')
    told = 'the scenario "a" neither does nor expects anything'
    assert (error.code, error.message) == ("scenario/empty", told)
    assert "`do`" in error.hint and "`expect`" in error.hint
    assert error.span.quote() == 'scenario "a" of room'


@pytest.mark.parametrize(
    "lines",
    ["do enter(a)", "never expect a in inside", "expect inside == {}", "include one_more(a)"],
)
def test_a_scenario_is_accepted_when_it_does_or_expects_something(lines: str) -> None:
    assert errors(f'scenario "a" of room {{ Person = {{a}}  {lines} }}') == ()


@pytest.mark.parametrize("lines", ["do entr(a)", "include one_mor(a)", "expect insde == {}"])
def test_nothing_else_is_told_when_the_only_step_has_an_error(lines: str) -> None:
    (error,) = errors(f'scenario "a" of room {{ Person = {{a}}  {lines} }}')
    assert error.code == "name/unknown"
