"""The small suite of a small charter uses a counter value again after it was withdrawn."""

from dataclasses import replace
from functools import cache

import pytest

from charter import api
from charter.diagnostics import Source
from charter.semantics.machine import Machine
from charter.suites.found import Found
from charter.suites.search import search
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

REMEMBERS = (
    "lease[job]' = present(Lease { worker: worker, token: token })",
    "lease[job]' = present(Lease { worker: worker, token: token })"
    "  first[job]' = present(default(first[job], token))",
)
HOLDS = "lease[job] is present(l) and l.token == token"
BUGS = {
    "an old token ends the lease of another": f"({HOLDS}) or (lease[job] != none and {{}})",
    "an old token is good while nobody has one": f"({HOLDS}) or (lease[job] == none and {{}})",
}


def leases() -> Subject:
    return subject((Source("leases.charter", LEASES),), "")


@cache
def found() -> Found:
    return search(leases(), lambda *_: None, False)


@cache
def small() -> Smoke:
    return smoke(replace(leases(), found=found()))


@pytest.mark.parametrize("rule", BUGS.values(), ids=BUGS)
def test_a_bug_with_a_withdrawn_token_is_found(rule: str) -> None:
    """Of a given state nobody knows which tokens there were."""
    text = LEASES
    for before, after in (REMEMBERS, (HOLDS, rule.format("first[job] == present(token)"))):
        assert before in text
        text = text.replace(before, after)
    planted = api.load_text(text)
    machine = Machine.of(planted, replace(planted.instances[0], offers=(), only=()))
    answers = Answers(machine, machine.outcomes)
    vectors = [entry.vector for entry in small().entries]
    told = [v for v in vectors if tells(answers, v.question, v.answer) == "always"]
    assert told


def test_the_title_says_what_there_is_instead_of_the_value() -> None:
    titles = {asked.title: asked.question for asked in found().asked if "withdrawn" in asked.title}
    uses = [f"finish/lost, token withdrawn{now}" for now in ("", " and replaced")]
    assert sorted(titles) == uses
    called = [call.operation for call in titles[uses[1]].operations]
    assert called == ["take", "finish", "take", "finish"]
    first = {"ref": [1, "lease", "j1", "token"]}
    assert titles[uses[1]].operations[-1].args["token"] == first


def test_a_search_again_keeps_them() -> None:
    again = search(replace(leases(), found=found()), lambda *_: None, False)
    assert again.asked == found().asked
