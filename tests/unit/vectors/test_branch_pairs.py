"""The small suite of a small charter takes each branch right after each other one."""

import re
from dataclasses import replace
from functools import cache

import pytest

from charter import api
from charter.diagnostics import Source
from charter.semantics.machine import Machine
from charter.suites import explored, pairs
from charter.suites.pairs import pairs_in
from charter.suites.search import search
from charter.suites.search_results import Found
from charter.suites.smoke import Smoke, smoke
from charter.suites.subject import Subject, subject
from charter.vectors.answer import Answers
from charter.vectors.kills import tells

SEATS = """protocol seats

sort Guest
sort Seat

opaque counter Token

record Hold { guest: Guest  token: Token }

union Held { given(token: Token)  taken  too_many }

component house {
  state held: map Seat -> option Hold = [s in Seat: none]
  state sold: set Seat = {}
  state newest: Token = 0
  state spare: option Token = none
  state buyer: map Seat -> option Guest = [s in Seat: none]

  operation hold(guest: Guest, seat: Seat) -> Held cites silent {
    branch taken when gone: held[seat] != none or seat in sold reply taken
    branch too_many when limit: holds_one(guest) reply too_many
    branch given {
      let token = bump(newest)
      newest' = token
      held[seat]' = present(Hold { guest: guest, token: token })
      reply given(token)
    }
  }
  operation cancel(seat: Seat, token: Token) -> bool cites silent {
    branch lost when not holds(seat, token) reply false
    branch cancelled { held[seat]' = none  reply true }
  }
  operation buy(seat: Seat, token: Token) -> bool cites silent {
    branch lost when not holds(seat, token) reply false
    branch bought {
      held[seat]' = none
      sold' = sold | {seat}
      reply true
    }
  }
  observe all { held  sold }
}

fun holds(seat: Seat, token: Token) of house -> bool cites silent =
  held[seat] is present(h) and h.token == token

fun holds_one(guest: Guest) of house -> bool cites silent =
  some s in Seat: held[s] is present(h) and h.guest == guest

witness sells of house: sold != {}
instance tiny of house { Guest = 1  Seat = 2 }
"""

AGAIN = (
    ("let token = bump(newest)", "let token = default(spare, bump(newest))"),
    ("newest' = token", "newest' = max(newest, token)  spare' = none"),
    (
        "branch cancelled { held[seat]' = none",
        "branch cancelled { held[seat]' = none  spare' = present(token)",
    ),
)
SOLD_COUNT = (
    ("sold' = sold | {seat}", "sold' = sold | {seat}  buyer[seat]' = buyer_of(seat)"),
    (
        "some s in Seat: held[s] is present(h) and h.guest == guest",
        "some s in Seat: buyer[s] == present(guest) or"
        " (held[s] is present(h) and h.guest == guest)",
    ),
    (
        "fun holds_one",
        "fun buyer_of(seat: Seat) of house -> option Guest cites silent =\n"
        "  match held[seat] { none -> none, present(h) -> present(h.guest) }\n\nfun holds_one",
    ),
)
BUGS = {"a token is handed out again": AGAIN, "sold seats count for the limit": SOLD_COUNT}


def house() -> Subject:
    return subject((Source("seats.charter", SEATS),), "")


@cache
def search_questions() -> Found:
    return search(house(), lambda *_: None, False)


@cache
def small() -> Smoke:
    return smoke(replace(house(), found=search_questions()))


@pytest.mark.parametrize("edits", BUGS.values(), ids=BUGS)
def test_a_bug_that_shows_after_two_branches_is_found(edits: tuple[tuple[str, str], ...]) -> None:
    text = SEATS
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    planted = api.load_text(text)
    machine = Machine.of(planted, replace(planted.instances[0], offers=(), only=()))
    answers = Answers(machine, machine.outcomes)
    vectors = [entry.vector for entry in small().entries]
    told = [v.why.title for v in vectors if tells(answers, v.question, v.answer) == "always"]
    assert any(", then " in title or "withdrawn" in title for title in told)


def test_every_pair_of_branches_that_can_follow_each_other_is_taken() -> None:
    taken = {pair for entry in small().entries for pair in pairs_in(entry.vector.answer)}
    assert ("cancel/cancelled", "hold/given") in taken
    assert ("buy/bought", "buy/lost") in taken
    # A cancelled seat is not held, so neither is it cancelled again; one guest holds one seat.
    assert not {("cancel/cancelled", "cancel/cancelled"), ("hold/given", "hold/given")} & taken
    assert search_questions().pairs == f"{len(taken)} pairs are taken"


def test_the_title_of_a_question_names_the_pair() -> None:
    titles = {asked.title for asked in search_questions().asked}
    assert "buy/bought, then hold/taken" in titles
    (pair,) = (a for a in search_questions().asked if a.title == "buy/bought, then hold/taken")
    assert [call.operation for call in pair.question.operations] == ["hold", "buy", "hold"]
    assert pair.purpose == ("buy/bought", "hold/taken")


def test_the_second_operation_is_about_the_same_things_as_the_first() -> None:
    """The seat that was sold is asked for again."""
    titled = {asked.title: asked.question.operations for asked in search_questions().asked}
    first, buy, again = titled["buy/bought, then hold/taken"]
    assert first.args["seat"] == buy.args["seat"] == again.args["seat"]


def test_where_pairs_are_many_those_that_change_the_state_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both bugs above show in a pair that changes the state twice."""
    every = {asked.purpose for asked in search_questions().asked if ", then " in asked.title}
    monkeypatch.setattr(pairs, "MOST_PAIRS", 40)
    many = search(house(), lambda *_: None, False)
    asked = {asked.purpose for asked in many.asked if ", then " in asked.title}
    assert asked < every
    entries = smoke(replace(house(), found=many)).entries
    taken = {pair for entry in entries for pair in pairs_in(entry.vector.answer)}
    assert ("cancel/cancelled", "hold/given") in taken
    assert not [pair for pair in asked if "refused" in pair[0] and "refused" in pair[1]]
    assert many.pairs.startswith("40 of ")
    assert many.pairs.endswith(" are taken, those in which both branches change the state first")


def test_instances_with_many_transitions_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_TRIED", 3)
    few = search(house(), lambda *_: None, False)
    assert not [asked for asked in few.asked if ", then " in asked.title]
    assert re.search(
        r" pairs are taken; not asked for where there are more than \d+ operations in all states:"
        r" `tiny` \([0-9,]+\)$",
        few.pairs,
    )


def test_a_search_again_keeps_the_pairs() -> None:
    again = search(replace(house(), found=search_questions()), lambda *_: None, False)
    assert (again.asked, again.pairs) == (search_questions().asked, search_questions().pairs)


ZERO = """protocol zero
sort Value
opaque counter Token
component store {
  state cell: option Value = none
  state issued: Token = 0
  operation grant() -> Token cites silent {
    branch granted { issued' = bump(issued) reply bump(issued) }
  }
  operation put(value: Value, token: Token) -> bool cites silent {
    branch bad_token when unknown: token > issued reply false
    branch stored { cell' = present(value) reply true }
  }
  observe all { cell }
}
witness w of store: took put/stored
instance tiny of store { Value = 1 }
"""


def test_question_for_a_pair_takes_it_where_a_value_was_shown_nowhere() -> None:
    """The token 0 is the newest before any was granted; a target cannot be asked for it."""
    about = subject((Source("zero.charter", ZERO),), "", "store")
    found = search(about, lambda *_: None, False)
    made = smoke(replace(about, found=found))
    for entry in made.entries:
        taken = {node.branch for step in entry.vector.answer.steps for node in step}
        assert taken >= {*entry.vector.why.purpose}, entry.vector.why.title
    assert len(made.entries) > 3


def test_the_cost_of_a_large_instance_is_told_before_and_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explored, "MANY", 3)
    monkeypatch.setattr(explored, "TOLD", 5)
    told: list[str] = []
    search(house(), lambda text, *_: told.append(text), False)
    before = next(i for i, text in enumerate(told) if "classes of transitions" in text)
    assert re.search(r"^tiny: \d+ states, with up to \d+ classes of transitions; ", told[before])
    assert "5 of some " in told[before + 1]
    assert told[before].endswith(f"; {explored.LESS}")
    assert told[before + 1].endswith(f"; {explored.LESS}")
