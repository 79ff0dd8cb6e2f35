"""The small suite of a small charter uses a counter value again after it was withdrawn."""

from dataclasses import replace
from functools import cache

import pytest

from charter import api
from charter.diagnostics import Source
from charter.semantics.machine import Machine
from charter.suites.search import search
from charter.suites.search_results import Found
from charter.suites.smoke import Smoke, smoke
from charter.suites.subject import Subject, subject
from charter.vectors.answer import Answers
from charter.vectors.kills import tells

LEASES = """protocol leases

sort Worker
sort Job

opaque counter Token

record Lease { worker: Worker  token: Token }

component leases {
  state lease: map Job -> option Lease = [j in Job: none]
  state newest: Token = 0
  state first: map Job -> option Token = [j in Job: none]

  operation take(worker: Worker, job: Job) -> option Token cites silent {
    branch taken when lease[job] != none reply none
    branch given {
      let token = bump(newest)
      newest' = token
      lease[job]' = present(Lease { worker: worker, token: token })
      reply present(token)
    }
  }
  operation finish(job: Job, token: Token) -> bool cites silent {
    branch lost when not holds(job, token) reply false
    branch finished { lease[job]' = none  reply true }
  }
  operation expire(job: Job) -> bool cites silent {
    branch free when lease[job] == none reply false
    branch expired { lease[job]' = none  reply true }
  }
  observe all { lease }
}

fun holds(job: Job, token: Token) of leases -> bool cites silent =
  lease[job] is present(l) and l.token == token

witness taken_again of leases: newest > 1
instance tiny of leases { Worker = 1  Job = 1 }
"""

HOLDS = "lease[job] is present(l) and l.token == token"
NOTED = "first[job] == present(token)"
BUGS = {
    "replaced": f"({HOLDS}) or (lease[job] != none and {NOTED})",
    "gone": f"({HOLDS}) or (lease[job] == none and {NOTED})",
}
"""A wrong implementation accepts the token that it noted."""

GIVEN = "lease[job]' = present(Lease { worker: worker, token: token })"
NOTES = {
    "the first": (GIVEN, f"{GIVEN}  first[job]' = present(default(first[job], token))"),
    "the last that finished": ("finished {", "finished { first[job]' = present(token) "),
    "the last that expired": (
        "branch expired {",
        "branch expired { first[job]' = present(value(lease[job]).token) ",
    ),
}
"""Which token it notes."""

CHARTERS = {
    "with order": LEASES,
    "without order": LEASES.replace("opaque counter", "opaque").replace(
        "newest > 1", "newest != 0"
    ),
}


def leases(kind: str) -> Subject:
    return subject((Source("leases.charter", CHARTERS[kind]),), "")


@cache
def search_questions(kind: str) -> Found:
    return search(leases(kind), lambda *_: None, False)


@cache
def small(kind: str) -> Smoke:
    return smoke(replace(leases(kind), found=search_questions(kind)))


@pytest.mark.parametrize("kind", CHARTERS)
@pytest.mark.parametrize("note", NOTES.values(), ids=NOTES)
@pytest.mark.parametrize("rule", BUGS.values(), ids=BUGS)
def test_a_bug_with_a_withdrawn_token_is_found(rule: str, note: tuple[str, str], kind: str) -> None:
    """Of a given state nobody knows which tokens there were."""
    assert list_told(kind, note, (HOLDS, rule))


@pytest.mark.parametrize("note", ["the first", "the last that expired"])
def test_a_bug_with_a_token_of_long_ago_is_found(note: str) -> None:
    older = f"({HOLDS}) or (lease[job] != none and {NOTED} and newest > 2)"
    assert list_told("with order", NOTES[note], (HOLDS, older))


def list_told(kind: str, *edits: tuple[str, str]) -> list[str]:
    """The titles of the vectors that tell an edited charter from the charter."""
    text = CHARTERS[kind]
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    planted = api.load_text(text)
    machine = Machine.of(planted, replace(planted.instances[0], offers=(), only=()))
    answers = Answers(machine, machine.outcomes)
    vectors = [entry.vector for entry in small(kind).entries]
    return [v.why.title for v in vectors if tells(answers, v.question, v.answer) == "always"]


@pytest.mark.parametrize("kind", CHARTERS)
def test_the_title_says_how_the_value_was_withdrawn_and_what_there_is_instead(kind: str) -> None:
    titles = {a.title: a.question for a in search_questions(kind).asked if "withdrawn" in a.title}
    by = [f"finish/lost, token withdrawn by {how}" for how in ("expire/expired", "finish/finished")]
    nows = "", " and replaced", " and replaced twice"
    assert sorted(titles) == [f"{use}{now}" for use in by for now in nows]
    replaced = titles[f"{by[1]} and replaced"].operations
    assert [call.operation for call in replaced] == ["take", "finish", "take", "finish"]
    assert replaced[-1].args["token"] == {"ref": [1, "lease", "j1", "token"]}


@pytest.mark.parametrize("kind", CHARTERS)
def test_a_search_again_keeps_them(kind: str) -> None:
    again = search(replace(leases(kind), found=search_questions(kind)), lambda *_: None, False)
    assert again.asked == search_questions(kind).asked


SLOTS = """protocol slots

sort Job

opaque Token

record Slot { token: Token  taken: bool }

component slots {
  state slot: map Job -> Slot = [j in Job: Slot { token: 0, taken: false }]

  operation take(job: Job) -> option Token cites silent {
    branch taken when slot[job].taken reply none
    branch given {
      let token = bump(slot[job].token)
      slot[job]' = Slot { token: token, taken: true }
      reply present(token)
    }
  }
  operation finish(job: Job, token: Token) -> bool cites silent {
    branch lost when not slot[job].taken or slot[job].token != token reply false
    branch finished { slot[job].taken' = false  reply true }
  }
  operation expire(job: Job) -> bool cites silent {
    branch free when not slot[job].taken reply false
    branch expired { slot[job].taken' = false  reply true }
  }
  observe all { slot }
}

witness taken of slots: some j in Job: slot[j].taken
instance tiny of slots { Job = 1 }
"""


def test_a_value_that_stays_until_it_is_replaced_is_withdrawn_by_what_changes_its_entry() -> None:
    slots = subject((Source("slots.charter", SLOTS),), "")
    asked = search(slots, lambda *_: None, False).asked
    titles = {a.title: [c.operation for c in a.question.operations] for a in asked}
    for branch in ("finish/finished", "expire/expired"):
        used = titles[f"finish/lost, token withdrawn by {branch} and replaced"]
        assert used == ["take", branch.partition("/")[0], "take", "finish"]
