"""`conform mutate` on the examples, and on the rules of Kafka's controller: no mutant survives that
was not reviewed.

Most mutants of the controller are caught by a scenario, which takes less than a second. What the
instances tiny_* show of the others is in `seen_by_instances.json`, since it takes some ten seconds
for each; slow tests compute it again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest

from charter import api
from charter.api import mutate as mutation
from charter.core import nodes as n
from charter.formats.survivors import Survivor, read_survivors, survivors_file
from charter.mutate.mutants import MadeMutant, mutated
from charter.semantics.scenario import failures

EXAMPLES = Path(__file__).resolve().parents[2] / "spec" / "examples"
KAFKA = EXAMPLES.parent / "kafka"
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


@cache
def kafka() -> n.Model:
    return api.Charter(api.read_sources(KAFKA)).model()


@cache
def kafka_mutants() -> tuple[MadeMutant, ...]:
    return tuple(mutation.mutants_of(kafka(), "controller"))


def kafka_survivors() -> tuple[Survivor, ...]:
    return read_survivors(survivors_file(KAFKA))


def seen_by_instances() -> dict[str, str]:
    """What the instances tiny_* show of the mutants that no scenario catches, and that do not
    survive."""
    found = json.loads((Path(__file__).parent / "seen_by_instances.json").read_text())
    return {str(name): str(answer) for name, answer in found.items()}


def unexplained(drawn: Iterable[MadeMutant]) -> list[str]:
    """The mutants that are on no list, and that no scenario of the controller catches."""
    listed = {one.id for one in kafka_survivors()} | {*seen_by_instances()}
    asked = [one for one in drawn if one.id not in listed]
    return [one.id for one in asked if not seen_by_scenarios(mutated(kafka(), one))]


def seen_by_scenarios(model: n.Model) -> bool:
    """Whether a scenario of the controller fails. Those of three brokers first: they are quick."""
    quick, other = (
        tuple(s for s in model.scenarios if (size_of(s) <= 3) == small) for small in (True, False)
    )
    each = (failures(replace(model, scenarios=some), "controller") for some in (quick, other))
    return any(next(found, None) is not None for found in each)


def size_of(scenario: n.Scenario) -> int:
    """The number of brokers."""
    return len(dict(scenario.instance.sorts)["Broker"])


def test_each_mutant_of_the_controller_is_seen_or_listed_when_50_are_drawn() -> None:
    assert not unexplained(Random(7).sample(kafka_mutants(), 50))


@pytest.mark.slow
def test_each_mutant_of_the_controller_is_seen_or_listed_when_all_are_tried() -> None:
    assert not unexplained(kafka_mutants())


@pytest.mark.slow
def test_the_lists_of_the_controllers_mutants_say_what_instances_show() -> None:
    expected = seen_by_instances() | {one.id: "survives" for one in kafka_survivors()}
    made = [one for one in kafka_mutants() if one.id in expected]
    limits = mutation.limits(50_000, 600)
    places = mutation.baselines(kafka(), "tiny_*", limits, lambda _: None)
    found = mutation.try_mutants(kafka(), places, made, limits, 1)
    assert {one.id: one.answer for one in found} == expected


def test_each_listed_mutant_of_the_controller_is_one_and_is_listed_once() -> None:
    every = {one.id for one in kafka_mutants()}
    survivors = kafka_survivors()
    assert all(one.is_reviewed for one in survivors)
    listed = [*seen_by_instances(), *(one.id for one in survivors)]
    assert len({*listed}) == len(listed) and {*listed} <= every
