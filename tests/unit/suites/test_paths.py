"""Every vector of an instance with a prelude begins in the component's own first state."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from charter.diagnostics import Source
from charter.suites.search import search
from charter.suites.search_results import Found, FoundQuestion
from charter.suites.smoke import smoke
from charter.suites.subject import Subject, subject
from charter.suites.walked import without
from charter.vectors.ledger import UNREACHED_NOTE

ROOM = """protocol room

sort Person
opaque ordered counter Ticket

component room {
  state inside: map Person -> option Ticket = [p in Person: none]
  state last: Ticket = 0
  state open: bool = false
  operation unlock() -> bool {
    branch unlocked when shut: not open { open' = true  reply true }
    branch already reply false
  }
  operation enter(p: Person) -> option Ticket {
    branch closed when shut: not open reply none
    branch in_already when present: inside[p] != none reply inside[p]
    branch entered {
      let ticket = bump(last)
      inside' = inside with [p: present(ticket)]
      last' = ticket
      reply present(ticket)
    }
  }
  operation leave(p: Person, ticket: Ticket) -> bool {
    branch left when right: inside[p] == present(ticket) {
      inside' = inside with [p: none]
      reply true
    }
    branch refused reply false
  }
  observe metadata { inside, open }
}
witness full of room: forall p in Person: inside[p] != none

instance tiny of room {
  Person = {ann, bob}
  start open = true
  start inside = [p in Person: if p == ann then present(7) else none]
  start last = 7
  PRELUDE
  offers enter, leave
}
scenario "bob follows" of room like tiny {
  do leave(bob, 7) -> refused
  do enter(bob) -> entered
  do leave(ann, 7) -> left
}
"""
LED = ROOM.replace("PRELUDE", "prelude { do unlock() -> unlocked  do enter(ann) -> entered }")
NOT_LED = ROOM.replace("PRELUDE", "")


def _search(text: str) -> Subject:
    about = subject([Source("room.charter", text)], "")
    return replace(about, found=search(about, lambda *_: None, solver=False))


@cache
def search_led() -> Subject:
    return _search(LED)


def test_all_vectors_of_an_instance_with_a_prelude_begin_in_the_first_state() -> None:
    small = smoke(search_led())
    assert small.ledger.count_rows("open") == 0
    assert [e.vector.why.title for e in small.entries if e.vector.question.given is not None] == []
    assert "unreached" not in small.counts()
    first = [e for e in small.entries if e.vector.why.source == "witness"]
    assert all(e.vector.question.operations[0].operation == "unlock" for e in first)


def test_what_the_prelude_passes_by_is_found_by_walks() -> None:
    entries = [e for e in smoke(search_led()).entries if "branch enter/closed" in e.meets]
    assert entries
    shortest = min(entries, key=lambda e: len(e.vector.question.operations)).vector.question
    assert [call.operation for call in shortest.operations] == ["enter"]


def test_arguments_of_a_scenario_are_those_of_the_state_that_the_prelude_reaches() -> None:
    (entry,) = (e for e in smoke(search_led()).entries if e.vector.why.source == "scenario")
    calls = entry.vector.question.operations
    assert [c.operation for c in calls] == ["unlock", "enter", "leave", "enter", "leave"]
    assert calls[-1].args["ticket"] == {"ref": [4, "inside", "ann"]}
    assert entry.vector.why.purpose == ("leave/refused", "enter/entered", "leave/left")


def test_a_vector_without_a_path_says_so_and_is_counted_apart() -> None:
    about = _search(NOT_LED)
    small = smoke(about)
    given = [e.vector for e in small.entries if e.vector.question.given is not None]
    assert given and all(v.why.unreached == about.found.paths for v in given)
    assert "200 walks of 24 operations" in about.found.paths
    assert small.counts()["unreached"] == len(given)
    assert all(not e.vector.why.unreached for e in small.entries if e.vector.question.given is None)


def test_a_question_by_hand_says_that_no_search_looked_for_its_path() -> None:
    about = _search(NOT_LED)
    entry = next(e for e in smoke(about).entries if e.vector.question.given is not None)
    by_hand = FoundQuestion(entry.vector.question, entry.instance.name, "finding", "by hand", ())
    small = smoke(replace(about, found=Found((by_hand,), paths=about.found.paths)))
    (entry,) = (e for e in small.entries if e.vector.why.source == "finding")
    assert entry.vector.why.unreached == (
        "no search looks for paths of the questions in findings.jsonl"
    )
    assert small.counts()["unreached"] > 0


def test_walks_reach_what_was_met_from_given_states_only() -> None:
    """The solver's or the instance's states need no `load` where the first state leads to them."""
    rows = smoke(_search(NOT_LED)).ledger.rows
    assert [row.name for row in rows if row.note.startswith(UNREACHED_NOTE)] == []


def test_a_row_that_only_unreached_states_meet_says_so() -> None:
    about = _search(NOT_LED)
    few = Found(paths=about.found.paths)
    small = smoke(replace(about, found=few))
    notes = {row.note for row in small.ledger.rows if row.status == "covered"}
    assert notes == {f"{UNREACHED_NOTE}: {about.found.paths}"}
    assert "## From unreached states only" in small.ledger.markdown("x")


def test_a_search_made_before_there_were_paths_marks_nothing() -> None:
    about = _search(NOT_LED)
    old = replace(about, found=replace(about.found, paths=""))
    assert all(not e.vector.why.unreached for e in smoke(old).entries)
    assert Found().unreached == "no search was made"


def test_a_question_without_an_operation_keeps_what_its_references_mean() -> None:
    (entry,) = (e for e in smoke(search_led()).entries if e.vector.why.source == "scenario")
    question = entry.vector.question
    shorter = without(question, 3)
    assert shorter is not None
    assert [c.operation for c in shorter.operations] == ["unlock", "enter", "enter", "leave"]
    assert shorter.operations[-1].args["ticket"] == {"ref": [3, "inside", "ann"]}
