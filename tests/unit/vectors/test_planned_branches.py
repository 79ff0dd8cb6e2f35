"""A question whose planned branch is not what its answer takes is not kept, and not counted."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from charter.diagnostics import Source
from charter.formats.vector import Vector, Why
from charter.suites.explored import ExploredInstance
from charter.suites.planning.random_walks import Walks
from charter.suites.question_search import EXPLORED, NO_PROOF, NO_VECTOR, QuestionSearch
from charter.suites.search import search
from charter.suites.search_results import Found, FoundQuestion
from charter.suites.smoke import smoke
from charter.suites.subject import Subject, subject
from charter.vectors.plan import OPEN

STORE = """protocol zero
sort Lock
opaque counter Token
component store {
  state held: map Lock -> option Token = [l in Lock: none]
  state issued: Token = 0
  state cell: Token = 0
  state empty: bool = true
  operation grant(lock: Lock) -> bool cites silent {
    branch taken when held[lock] != none reply false
    branch granted { issued' = bump(issued)  held[lock]' = present(bump(issued))  reply true }
  }
  operation close(lock: Lock) -> bool cites silent {
    branch closed { held[lock]' = none  reply true }
  }
  operation put(token: Token) -> bool cites silent {
    branch bad_token when unknown: token > issued reply false
    branch stale when old: token < cell reply false
    branch stored { cell' = token  empty' = false  reply true }
  }
  observe all { empty  held }
}
witness w of store: took put/stored
instance tiny of store { Lock = 2 }

scenario "nothing was granted" of store {
  Lock = {l}
  do put(0) -> stored
}
"""


@cache
def about() -> Subject:
    return subject((Source("zero.charter", STORE),), "", "store")


@cache
def search_questions() -> Found:
    return search(about(), lambda *_: None, False)


@cache
def explore() -> ExploredInstance:
    (tiny,) = (i for i in about().model.instances if i.name == "tiny")
    return ExploredInstance.of(about().model, tiny)


def untaken(vector: Vector) -> set[str]:
    """The branches that a vector says it takes, and that its answer never does."""
    taken = {node.branch for step in vector.answer.steps for node in step}
    named = {o.removeprefix("branch ") for o in vector.why.obligations if o.startswith("branch ")}
    return ({*vector.why.purpose} | named) - taken


def test_no_vector_of_the_small_suite_misses_its_purpose() -> None:
    """Scenarios, witnesses and pairs of branches among them: the token 0 is the newest before any
    was granted, and a target cannot be asked for it."""
    made = smoke(replace(about(), found=search_questions()))
    assert len(made.entries) > 5
    assert {e.vector.why.title: untaken(e.vector) for e in made.entries if untaken(e.vector)} == {}
    assert made.stale == ()


def test_no_vector_of_a_full_suite_claims_a_branch_that_it_does_not_take() -> None:
    (tiny,) = (i for i in about().model.instances if i.name == "tiny")
    one = explore()
    vectors = [
        *one.list_loaded(), *one.witnesses(), *one.paths(), *one.arrivals(), *one.list_followed(),
        *Walks.of(about().model, tiny).vectors(50),
    ]  # fmt: skip
    assert len(vectors) > 50
    assert [(v.why, untaken(v)) for v in vectors if untaken(v)] == []


def make_outdated() -> Found:
    """A question that an earlier version kept for a branch that it does not take."""
    one = next(asked for asked in search_questions().asked if asked.purpose == ("put/bad_token",))
    wrong = FoundQuestion(
        one.question, one.instance, "witness", "branch put/stored", ("put/stored",)
    )
    return replace(search_questions(), asked=(wrong,))


def test_question_of_earlier_rules_says_what_it_takes_now() -> None:
    """It still is a question, so an implementation that conforms is not inconclusive for ever."""
    made = smoke(replace(about(), found=make_outdated()))
    (why,) = (e.vector.why for e in made.entries if e.vector.why.source == "witness")
    assert (why.title, why.purpose) == ("put/bad_token", ())


def test_search_again_leaves_out_questions_that_miss_their_purpose() -> None:
    again = search(replace(about(), found=make_outdated()), lambda *_: None, False)
    assert "branch put/stored" not in [
        asked.title for asked in again.asked if asked.question == make_outdated().asked[0].question
    ]


def test_planner_refuses_a_walk_that_takes_another_branch_than_its_purpose() -> None:
    planner = explore().opened.planner
    why = Why((), "witness", "", OPEN, ("put/stored",))
    assert planner.of_acts([("put", (0,))], why) is None
    assert planner.of_acts([("put", (0,))], replace(why, purpose=("put/bad_token",))) is not None
    assert any("takes another branch" in reason for reason in planner.refused)


def test_note_of_an_open_obligation_says_each_thing_once() -> None:
    """How many classes were looked at in all; and no more than two instances by name."""
    made = QuestionSearch.of(about())
    tiny = next(i for i in about().model.instances if i.name == "tiny")
    row, other = sorted(made.left)[:2]
    made.left = {row, other}
    for number in range(3):
        one = replace(tiny, name=f"tiny{number}")
        made.looked[one.name] = 10, 1000 + number
        made.note(row, EXPLORED, one)
        made.note(row, f"a run {NO_VECTOR}", one)
    made.note(row, f"{NO_PROOF}a step from a state that no lemma excludes meets it", tiny)
    made.note(other, EXPLORED, replace(tiny, name="tiny1"))
    made.note(other, f"{NO_PROOF}the solver gave up, timeout", tiny)
    assert made.explain_open() == {
        row: "not met by 30 of 3,003 classes of transitions (3 instances);"
        " a run meets it, but makes no vector (3 instances)",
        other: "not met by 10 of 1,001 classes of transitions (tiny1);"
        " no proof: the solver gave up, timeout (tiny)",
    }
