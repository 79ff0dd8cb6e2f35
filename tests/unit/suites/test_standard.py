"""A standard suite: triples of operations, and variables that are set, cleared and set again."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from charter import api
from charter.diagnostics import Source
from charter.formats.vector import Answer
from charter.project.sources import Missing
from charter.suites.make import LEDGER, Made, Profile, make
from charter.suites.standard.cost import estimate_cost
from charter.suites.standard.hunt import AGAIN_MIN
from charter.suites.standard.make_standard import Standard, make_standard
from charter.suites.standard.wanted import Wanted
from charter.suites.subject import Subject, subject

ROOM = """protocol room
sort Person
component room {
  state inside: set Person = {}
  state open: bool = false
  state bells: int 0..9 = 0
  ghost state opened: int 0..9 = 0
  operation unlock() -> bool {
    branch unlocked { open' = true  opened' = min(opened + 1, 9)  reply true }
  }
  operation lock() -> bool {
    branch crowded when inside != {} reply false
    branch locked { open' = false  reply true }
  }
  operation enter(p: Person) -> bool {
    branch closed when not open reply false
    branch entered { inside' = inside | {p}  reply true }
  }
  operation leave(p: Person) -> bool {
    branch stranger when not (p in inside) reply false
    branch left { inside' = inside - {p}  reply true }
  }
  operation ring() -> bool {
    branch rings { bells' = min(bells + 1, 9)  reply true }
  }
  operation read() -> int 0..9 { branch known reply bells }
  observe all { inside, open }
}
witness full of room: forall p in Person: p in inside
instance tiny of room { Person = {ann, bob} }
instance led of room {
  Person = {ann, bob, eve}
  start open = true
  start inside = {ann}
  prelude { do unlock() -> unlocked  do enter(ann) -> entered }
}
"""


def open_room(text: str = ROOM) -> Subject:
    return subject([Source("room.charter", text)], "")


def quiet(name: str, done: int, total: int) -> None:
    """Tells no progress."""


@cache
def standard() -> Standard:
    about = open_room()
    return make_standard(about.model, about.component, about.model.instances, quiet)


def test_triples_are_those_of_which_each_writes_what_the_next_reads_or_writes() -> None:
    about = open_room()
    wanted = Wanted.of(about.model, about.component)
    assert ("enter", "leave", "lock") in wanted.triples
    assert ("unlock", "enter", "leave") in wanted.triples
    assert ("ring", "ring", "read") in wanted.triples
    assert ("ring", "enter", "leave") not in wanted.triples  # nobody inside hears the bell
    assert ("unlock", "leave", "lock") not in wanted.triples
    assert wanted.variables == ("inside", "open", "bells")  # no ghost state
    assert wanted.mentions["enter"] == {"inside", "open"}


def test_each_triple_that_is_found_is_the_end_of_a_question_from_the_first_state() -> None:
    made = standard()
    found = {v.why.title: v for v in made.vectors if v.why.title.startswith("triple ")}
    names = [tuple(title.split()[1:]) for title in found]
    assert len(names) == len(made.wanted.triples) - len(made.triples) > 20
    assert not {*names} & {*made.triples}
    for title, vector in found.items():
        calls = [call.operation for call in vector.question.operations]
        assert calls[-3:] == title.split()[1:]
        assert vector.question.given is None
        assert vector.why.obligations == (title,)


def test_a_variable_is_set_cleared_and_set_again_in_twelve_operations() -> None:
    made = standard()
    again = [v for v in made.vectors if v.why.title.startswith("set again: ")]
    names = {name for v in again for name in v.why.title.removeprefix("set again: ").split(", ")}
    assert names == {"inside", "open"}
    assert made.variables == ("bells",)  # which are never silent again
    for vector in again:
        assert len(vector.question.operations) >= AGAIN_MIN
        for variable in vector.why.title.removeprefix("set again: ").split(", "):
            assert count_changes(vector.answer, variable) >= 3


def count_changes(answer: Answer, variable: str) -> int:
    """How often an observed variable is empty or false, and then not, or vice versa."""
    shown = (answer.observations[nodes[0].observation] for nodes in answer.steps)
    seen = [bool(one[variable]) for one in shown if isinstance(one, dict)]
    return sum(a != b for a, b in pairwise(seen))


def test_a_second_search_finds_the_same() -> None:
    about = open_room()
    again = make_standard(about.model, about.component, about.model.instances, quiet)
    assert [v.line() for v in again.vectors] == [v.line() for v in standard().vectors]


def test_no_question_breaks_an_assumption() -> None:
    text = ROOM.replace("operation ring() -> bool {", "operation ring() -> bool {\n assume open")
    about = open_room(text)
    made = make_standard(about.model, about.component, about.model.instances, quiet)
    rings = [v for v in made.vectors if "ring" in v.why.title]
    assert rings
    for vector in rings:
        calls = [call.operation for call in vector.question.operations]
        assert "unlock" in calls[: calls.index("ring")]


def test_the_ledger_says_what_was_not_found_and_within_which_bounds(tmp_path: Path) -> None:
    made = make(open_room(), "standard", tmp_path, quiet)
    ledger = (tmp_path / LEDGER).read_text(encoding="utf-8")
    counts = made.manifest.counts
    assert f"{counts['triples_found']} of {counts['triples']} were found by walks in tiny, led" in (
        ledger
    )
    assert "2 of 3 were found" in ledger
    assert "- bells\n" in ledger
    again = make(open_room(), "standard", tmp_path, quiet)
    assert again.manifest == made.manifest


def list_sizes(folder: Path) -> set[int]:
    lines = (folder / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    return {len(json.loads(line)["question"]["sorts"]["Person"]) for line in lines}


@pytest.mark.parametrize("profile", ["standard", "full"])
def test_a_suite_of_one_instance_has_nothing_of_the_others(
    profile: Profile, tmp_path: Path
) -> None:
    make(open_room(), profile, tmp_path / "led", quiet, "led")
    assert list_sizes(tmp_path / "led") == {3}
    whole: Made = make(open_room(), profile, tmp_path / "all", quiet)
    assert 2 in list_sizes(tmp_path / "all")
    assert whole.manifest.counts.get("variables", 3) == 3


def test_an_instance_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="room has no instance `huge`; there are: tiny, led"):
        make(open_room(), "standard", tmp_path, quiet, "huge")


@pytest.mark.parametrize("profile", ["smoke", "standard"])
def test_a_cost_is_an_upper_bound(profile: Profile, tmp_path: Path) -> None:
    about = open_room()
    cost = estimate_cost(about, profile)
    made = make(about, profile, tmp_path, quiet)
    lines = (tmp_path / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    steps = sum(len(json.loads(line)["question"]["operations"]) for line in lines)
    assert made.manifest.vectors <= cost.vectors
    assert steps <= cost.operations
    assert cost.seconds >= 0


def test_a_cost_of_one_instance_is_lower() -> None:
    about = open_room()
    one = estimate_cost(about, "full", "tiny")
    assert 0 < one.vectors < estimate_cost(about, "full").vectors


def test_a_cost_is_reported_before_the_suite_is_made(tmp_path: Path) -> None:
    charter, out = tmp_path / "room.charter", tmp_path / "out"
    charter.write_text(ROOM, encoding="utf-8")
    costs: list[tuple[int, int, float]] = []

    def note(vectors: int, operations: int, seconds: float) -> None:
        assert not (out / "manifest.json").exists()
        costs.append((vectors, operations, seconds))

    wanted = api.SuiteRequest(charter, profile="standard", instance="tiny", out=out)
    made = api.make_suite(wanted, quiet, note)
    assert [vectors for vectors, _, _ in costs] >= [made.manifest.vectors]
