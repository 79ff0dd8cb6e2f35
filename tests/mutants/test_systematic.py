"""`conform mutate` on the examples: no mutant survives that was not reviewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter import api
from charter.api import mutate as mutation
from charter.formats.survivors import read_survivors, survivors_file

EXAMPLES = Path(__file__).resolve().parents[2] / "spec" / "examples"
REVIEWED = ("dining_philosophers", "paxos", "ring_election", "two_phase_commit")


def not_reviewed(example: str, *, sample: int = 0, instances: str = "*") -> set[str]:
    """The mutants of an example that survive, or are undecided, and are not on the list."""
    path = EXAMPLES / f"{example}.charter"
    model, limits = api.load(path), mutation.limits(50_000, 600)
    made = mutation.mutants_of(model, limit=sample, seed=7)
    assert made
    places = mutation.baselines(model, instances, limits, lambda _: None)
    found = list(mutation.try_mutants(model, places, made, limits, 1))
    unseen = {one.id for one in found if one.answer in ("survives", "undecided")}
    return unseen - {one.id for one in read_survivors(survivors_file(path)) if one.is_reviewed}


@pytest.mark.parametrize("example", REVIEWED)
def test_no_survivor_is_new_when_some_mutants_are_drawn(example: str) -> None:
    assert not not_reviewed(example, sample=3, instances="tiny")


@pytest.mark.slow
@pytest.mark.parametrize("example", REVIEWED)
def test_no_survivor_is_new_when_all_mutants_are_tried(example: str) -> None:
    assert not not_reviewed(example)


@pytest.mark.parametrize("example", REVIEWED)
def test_each_reviewed_survivor_is_a_mutant(example: str) -> None:
    path = EXAMPLES / f"{example}.charter"
    every = {one.id for one in mutation.mutants_of(api.load(path))}
    listed = read_survivors(survivors_file(path))
    assert listed and all(one.is_reviewed and one.id in every for one in listed)
