"""A state cover: every state of the smallest instance, and there what only answers."""

from __future__ import annotations

import json
from collections import deque
from functools import cache
from pathlib import Path

import pytest

from charter.diagnostics import Source
from charter.formats.canonical import Json, text
from charter.formats.vector import Vector, Why
from charter.suites.make import LEDGER, make
from charter.suites.standard.cost import estimate_cost
from charter.suites.subject import Subject, subject
from charter.suites.touring import state_cover
from charter.suites.touring.answering import list_answering
from charter.suites.touring.state_cover import StateCover, cover_states
from charter.vectors.plan import Planner, Trace

SHELF = """protocol shelf
sort Book
component shelf {
  state here: set Book = {}
  state lent: int 0..2 = 0
  operation put(b: Book) -> bool {
    branch there when b in here reply false
    branch put { here' = here | {b}  reply true }
  }
  operation lend(b: Book) -> bool {
    branch absent when not (b in here) reply false
    branch lent { here' = here - {b}  lent' = min(lent + 1, 2)  reply true }
  }
  operation count() -> int 0..2 { branch known reply lent }
  operation has(b: Book) -> bool {
    branch yes when b in here reply true
    branch no reply false
  }
  observe all { here, lent }
}
witness all_are_here of shelf: forall b in Book: b in here
instance tiny of shelf { Book = {a, b} }
instance tiny_single of shelf { Book = {a} }
instance large of shelf { Book = {a, b, c} }
"""
STATES = {(here, lent) for here in range(3) for lent in range(3)}
"""The states of `tiny` up to renaming: how many books are here, and how many were lent."""


def quiet(name: str, done: int, total: int) -> None:
    """Tells no progress."""


def open_shelf(content: str = SHELF) -> Subject:
    return subject([Source("shelf.charter", content)], "")


def cover(content: str = SHELF) -> StateCover:
    about = open_shelf(content)
    return cover_states(about.model, about.component, about.model.instances, quiet)


def without_single(content: str = SHELF) -> str:
    return content.replace("instance tiny_single of shelf { Book = {a} }\n", "")


@cache
def cover_tiny() -> StateCover:
    return cover(without_single())


def list_distances() -> dict[tuple[int, int], int]:
    """How many operations lead to each state at least."""
    found, waiting = {(0, 0): 0}, deque([(0, 0)])
    while waiting:
        here, lent = waiting.popleft()
        nexts = [(here + 1, lent)] if here < 2 else []
        nexts += [(here - 1, min(lent + 1, 2))] if here else []
        for after in nexts:
            if after not in found:
                found[after] = found[here, lent] + 1
                waiting.append(after)
    return found


def read_state(observed: Json) -> tuple[int, int]:
    assert isinstance(observed, dict)
    here, lent = observed["here"], observed["lent"]
    assert isinstance(here, list) and isinstance(lent, int)
    return len(here), lent


def test_operations_that_only_answer_are_those_that_assign_nothing() -> None:
    about = open_shelf()
    assert list_answering(about.component) == ("count", "has")


def test_an_operation_that_counts_in_ghost_state_is_not_one_that_only_answers() -> None:
    counts = SHELF.replace(
        "operation put", "ghost state seen: int 0..2 = 0\n  operation put", 1
    ).replace("branch known reply lent", "branch known { seen' = min(seen + 1, 2)  reply lent }")
    assert list_answering(open_shelf(counts).component) == ("has",)
    made = cover(without_single(counts))
    assert (made.answering, made.states, made.left) == (("has",), 27, 0)


def test_each_state_answers_everything_after_a_shortest_path() -> None:
    answers: dict[tuple[int, int], set[str]] = {}
    distances = list_distances()
    assert {*distances} == STATES
    for vector in cover_tiny().vectors:
        assert vector.question.given is None
        moves = 0
        for call, nodes in zip(vector.question.operations, vector.answer.steps[1:], strict=True):
            state = read_state(vector.answer.observations[nodes[0].observation])
            if call.operation in ("put", "lend"):
                moves += 1
            else:
                assert moves == distances[state]
                answers.setdefault(state, set()).add(f"{call.operation} {text(dict(call.args))}")
    assert {*answers} == STATES
    assert {len(calls) for calls in answers.values()} == {3}  # count, and has of each book
    assert (cover_tiny().states, cover_tiny().left) == (9, 0)


def test_a_path_is_walked_once_and_answers_once_on_its_way() -> None:
    calls = [call.operation for v in cover_tiny().vectors for call in v.question.operations]
    assert calls.count("count") == len(STATES)
    assert len(cover_tiny().vectors) < len(STATES)
    assert cover_tiny().operations == len(calls)


def test_the_smallest_instance_that_is_searched_is_covered() -> None:
    assert (cover().instance, cover().states) == ("tiny_single", 6)
    assert cover_tiny().instance == "tiny"  # not `large`, which nothing searches


def test_a_second_cover_is_the_same() -> None:
    again = cover(without_single())
    assert [v.line() for v in again.vectors] == [v.line() for v in cover_tiny().vectors]


def test_states_that_only_a_choice_leads_to_are_counted_and_left_out() -> None:
    old = "branch put { here' = here | {b}  reply true }"
    new = (
        "branch put { pick kept in {true, false}  here' = if kept then {b} else here  reply true }"
    )
    made = cover(without_single(SHELF.replace(old, new)))
    assert made.left == made.states - 1 > 1
    assert f"{made.left} others are reached by a choice of the target alone" in made.tell()


def test_a_charter_whose_operations_all_change_the_state_has_no_cover() -> None:
    text_of = SHELF.replace("reply lent }", "{ lent' = 0  reply lent } }").replace(
        "branch yes when b in here reply true",
        "branch yes when b in here { here' = {}  reply true }",
    )
    made = cover(text_of)
    assert (made.vectors, made.counts()) == ((), {})
    assert made.tell() == "no state cover: each operation may change the state"


def test_an_instance_with_too_many_states_is_not_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_cover, "STATES_MAX", 5)
    made = cover()
    assert not made.vectors
    assert made.tell() == (
        "no state cover: no instance that begins in the first state has at most 5 states and"
        " 100,000 operations in them"
    )


def test_an_instance_that_starts_elsewhere_is_covered_only_behind_its_prelude() -> None:
    start = "instance tiny of shelf { Book = {a, b}  start here = {a} "
    elsewhere = without_single(SHELF.replace("instance tiny of shelf { Book = {a, b} ", start))
    assert not cover(elsewhere).vectors
    led = cover(elsewhere.replace("here = {a} ", "here = {a}  prelude { do put(a) -> put } "))
    assert led.vectors
    for vector in led.vectors:
        assert vector.question.given is None
        assert vector.question.operations[0].operation == "put"


def test_no_question_breaks_an_assumption() -> None:
    made = cover(
        SHELF.replace(
            "operation count() -> int 0..2 {", "operation count() -> int 0..2 { assume here != {}"
        )
    )
    assert made.vectors
    for vector in made.vectors:
        for call, nodes in zip(vector.question.operations, vector.answer.steps[1:], strict=True):
            here, _ = read_state(vector.answer.observations[nodes[0].observation])
            assert here or call.operation != "count"


def test_what_is_possible_in_no_state_is_not_said_to_answer() -> None:
    never = SHELF.replace("count() -> int 0..2 {", "count() -> int 0..2 { assume lent > 2")
    assert cover(never).answering == ("has",)
    made = cover(never.replace("has(b: Book) -> bool {", "has(b: Book) -> bool { assume lent > 2"))
    assert not made.vectors
    assert made.tell() == (
        "no state cover: no operation that only answers is possible in tiny_single"
    )


def test_a_suite_with_a_cover_has_the_small_suite_and_says_how_far_it_goes(tmp_path: Path) -> None:
    about = open_shelf(without_single())
    small = make(about, "smoke", tmp_path / "small", quiet)
    made = make(about, "cover", tmp_path / "cover", quiet)
    ids = [
        {line["answer"]["question"] for line in map(json.loads, path.open(encoding="utf-8"))}
        for path in (tmp_path / "small" / "vectors.jsonl", tmp_path / "cover" / "vectors.jsonl")
    ]
    assert ids[0] < ids[1]
    counts = dict(made.manifest.counts)
    assert (counts.pop("cover_states"), counts.pop("cover_states_left")) == (9, 0)
    assert counts == dict(small.manifest.counts) and made.manifest.small
    ledger = (tmp_path / "cover" / LEDGER).read_text(encoding="utf-8")
    assert "9 of the 9 states of tiny, each after a shortest path, answer count, has" in ledger


def test_a_cost_is_an_upper_bound(tmp_path: Path) -> None:
    about = open_shelf()
    cost = estimate_cost(about, "cover")
    made = make(about, "cover", tmp_path, quiet)
    lines = (tmp_path / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    steps = sum(len(json.loads(line)["question"]["operations"]) for line in lines)
    assert made.manifest.vectors <= cost.vectors and steps <= cost.operations


GATE = """protocol gate
opaque counter Token
component gate {
  state newest: Token = 0
  state open: bool = false
  operation grant() -> bool {
    branch spent when open reply false
    branch given { newest' = bump(bump(newest))  open' = true  reply true }
  }
  operation check(t: Token) -> bool {
    branch same when t == newest reply true
    branch other reply false
  }
  observe all { open, newest }
}
witness opens of gate: open
instance tiny of gate { }
"""


def list_checks(made: StateCover) -> list[list[str]]:
    """The arguments of `check` in each vector."""
    return [
        [text(dict(call.args)) for call in v.question.operations if call.operation == "check"]
        for v in made.vectors
    ]


def test_arguments_that_nothing_shows_are_asked_once_in_a_state() -> None:
    made = cover(GATE.replace("{ open, newest }", "{ open }"))
    assert list_checks(made) == [['{"t":{"never_issued":true}}'] * 2]  # in each of two states
    assert (made.states, made.left) == (2, 0)
    assert "answer check with all arguments that can be named: 1 vectors" in made.tell()


def test_a_question_that_cannot_be_made_is_left_out_alone() -> None:
    made = cover(GATE)
    assert (made.states, made.left) == (2, 0)
    assert made.refused == {"NoQuestion: no observation and no reply shows Token 1": 1}
    (checks,) = list_checks(made)
    assert len(checks) == 4  # in each state the newest, and one that was never issued


def test_a_state_whose_path_is_refused_is_not_said_to_be_a_choice_of_the_target(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = Planner.plan_trace

    def refuse(self: Planner, trace: Trace, given: Json, why: Why) -> Vector | None:
        calls = [act[0] for _, act in trace]
        return None if "lend" in calls else plan(self, trace, given, why)

    monkeypatch.setattr(Planner, "plan_trace", refuse)
    made = cover(without_single())
    assert (made.states, made.left, made.unnamed) == (9, 6, 6)
    assert made.vectors and made.tell().endswith("; of 6 others no question can be made")
    assert "choice of the target" not in made.tell()
