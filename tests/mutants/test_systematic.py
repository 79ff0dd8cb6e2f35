"""`conform mutate` on the examples, and on the rules of Kafka's replication: of the examples no
mutant survives, of Kafka's replication none that was not reviewed.

Most mutants of Kafka's replication are caught by a scenario, which takes less than a second. What
instances show of the others is in `seen_by_instances.json`, since it takes some ten seconds for
each; slow tests compute it again. `unchanged.toml` says why some of them change nothing."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from tests.support import spec
from tests.support.golden import Golden
from tests.support.walked_mutants import WalkedStates

from charter import api
from charter.api import mutate as mutation
from charter.api.coverage import COVERAGE, with_walked
from charter.core import nodes as n
from charter.core.affected import affected
from charter.formats.survivors import Survivor, read_survivors, survivors_file
from charter.mutate.baseline import InstanceBaseline, RuleCoverage
from charter.mutate.mutants import MadeMutant, mutated
from charter.semantics.scenario import failures

KAFKA = spec.SPEC / "kafka"
SCENARIOS = {
    "controller": ("controller",),
    "replica": ("replica", "cluster"),
    "consumer": ("consumer", "cluster"),
    "cluster": ("cluster",),
}
"""Whose scenarios can see the mutants of a part of Kafka's replication, the quick ones first."""
CLUSTER = (
    "pair_shut_down", "pair_of_one", "pair_preferred_of_two", "pair_answer_lost",
    "pair_unregistered", "pair_failed_start", "pair_late_heartbeat", "pair_asked_of_one",
    "pair_unclean", "pair_proactive", "pair_produced", "pair_raised", "pair_reassigned",
    "pair_asked", "pair_deleted", "pair_feature_on",
)  # fmt: skip
INSTANCES = {("controller", "replica", "consumer"): ("tiny_*",), ("cluster",): CLUSTER}
"""The instances that are searched for the mutants of parts."""
TRIED = Path(__file__).parent / "tried.json"
"""A digest of each rule of which all mutants were tried: those of the others are tried in each
run."""
WALKED = {"controller": 4_000, "replica": 5_000, "cluster": 150_000}
"""How many states of the large instances of a machine are walked through: one state of a component
has some 20,000 outcomes."""


def not_seen(example: str, *, sample: int = 0, instances: str = "*") -> set[str]:
    """The mutants of an example that survive, or are undecided."""
    model, limits = spec.model(example), mutation.limits(70_000, 600)
    made = mutation.mutants_of(model, limit=sample, seed=7)
    assert made
    places = mutation.baselines(model, instances, limits, lambda _: None)
    found = mutation.try_mutants(model, places, made, limits, 1)
    return {one.id for one in found if one.answer in ("survives", "undecided")}


@pytest.mark.parametrize("example", spec.EXAMPLES)
def test_no_mutant_of_an_example_survives_when_some_are_drawn(example: str) -> None:
    assert not not_seen(example, sample=3, instances="tiny")


@pytest.mark.slow
@pytest.mark.parametrize("example", spec.EXAMPLES)
def test_no_mutant_of_an_example_survives_when_all_are_tried(example: str) -> None:
    assert not not_seen(example)


@pytest.mark.parametrize("example", spec.EXAMPLES)
def test_an_example_has_no_list_of_survivors(example: str) -> None:
    assert not survivors_file(spec.SPEC / "examples" / f"{example}.charter").exists()


def kafka() -> n.Model:
    return spec.model("kafka")


@cache
def kafka_mutants() -> Mapping[str, tuple[str, MadeMutant]]:
    """The part that each mutant is of, and the mutant. A function that several parts call counts to
    the first."""
    found: dict[str, tuple[str, MadeMutant]] = {}
    for part in SCENARIOS:
        for one in mutation.mutants_of(kafka(), part):
            found.setdefault(one.id, (part, one))
    return found


def kafka_survivors() -> tuple[Survivor, ...]:
    return read_survivors(survivors_file(KAFKA))


def seen_by_instances() -> dict[str, str]:
    """What instances show of the mutants that no scenario catches, and that do not survive."""
    found = json.loads((Path(__file__).parent / "seen_by_instances.json").read_text())
    return {str(name): str(answer) for name, answer in found.items()}


def unexplained(drawn: Iterable[str]) -> list[str]:
    """The mutants that are on no list, and that no scenario sees."""
    listed = {one.id for one in kafka_survivors()} | {*seen_by_instances()}
    return [one for one in drawn if one not in listed and not seen_by_scenarios(one)]


def seen_by_scenarios(mutant: str) -> bool:
    """Whether a scenario fails. Those of the part itself and of few brokers first: they are quick;
    of the system, those that a mistake in a step was the reason for (`X-S`)."""
    part, made = kafka_mutants()[mutant]
    model = mutated(kafka(), made)
    followed = affected(kafka(), model)
    ordered = sorted(followed, key=lambda s: (not s.title.startswith("X-S"), size_of(s)))
    changed = replace(model, scenarios=tuple(ordered))
    return any(next(failures(changed, one), None) is not None for one in SCENARIOS[part])


def size_of(scenario: n.Scenario) -> int:
    """The number of brokers."""
    return len(dict(scenario.instance.sorts).get("Broker", ()))


def by_rule() -> dict[str, list[str]]:
    """The mutants of each branch, step and function."""
    found: dict[str, list[str]] = {}
    for one in kafka_mutants():
        found.setdefault(one.partition(":")[0], []).append(one)
    return found


def digests() -> dict[str, str]:
    """A digest of the mutants of each rule: another one if the rule has changed."""
    texts = {rule: " ".join(sorted(made)) for rule, made in by_rule().items()}
    return {rule: sha256(text.encode()).hexdigest()[:12] for rule, text in texts.items()}


def test_each_mutant_of_kafka_is_seen_or_listed_of_50_and_of_rules_that_changed() -> None:
    tried, now = json.loads(TRIED.read_text()), digests()
    changed = [rule for rule, digest in now.items() if tried.get(rule) != digest]
    drawn = Random(repr(now)).sample([*kafka_mutants()], 50)
    assert not unexplained({*drawn, *(one for rule in changed for one in by_rule()[rule])})


@pytest.mark.slow
def test_each_mutant_of_kafka_is_seen_or_listed_when_all_are_tried(golden: Golden) -> None:
    assert not unexplained(kafka_mutants())
    golden.matches(TRIED, json.dumps(digests(), indent=1, sort_keys=True) + "\n")


@pytest.mark.slow
def test_the_lists_of_kafkas_mutants_say_what_instances_show() -> None:
    expected = seen_by_instances() | {one.id: "survives" for one in kafka_survivors()}
    limits = mutation.limits(120_000, 600)
    found: dict[str, str] = {}
    for parts, globs in INSTANCES.items():
        places = [
            place for each in globs
            for place in mutation.baselines(kafka(), each, limits, lambda _: None)
        ]  # fmt: skip
        for part, made in (kafka_mutants()[one] for one in expected):
            if part in parts:
                here = smallest_that_take(made, places) if part == "cluster" else places
                (tried,) = mutation.try_mutants(kafka(), here, [made], limits, 1)
                found[tried.id] = tried.answer
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", spec.declared("instance", "coverage/walks.charter"))
def test_mutants_that_change_nothing_change_nothing_in_walks(name: str) -> None:
    model = with_walked(api.load_charter(KAFKA)[0], KAFKA / COVERAGE)
    instance = next(one for one in model.instances if one.name == name)
    walked = WalkedStates.of(model, instance, WALKED[instance.machine], 3_000)
    listed = (one for one, answer in seen_by_instances().items() if answer == "unchanged")
    found = {one: walked.difference(kafka_mutants()[one][1]) for one in listed}
    assert not {one: where for one, where in found.items() if where}


def smallest_that_take(
    made: MadeMutant, places: Sequence[InstanceBaseline]
) -> list[InstanceBaseline]:
    """The two smallest instances that take the step of a mutant: each is compiled for it."""
    taken = replace(made.rule, branch=made.rule.name) if made.rule.kind == "step" else made.rule
    coverage = RuleCoverage(kafka())
    here = (one for one in places if not one.wrong and coverage.may_differ(taken, one))
    return sorted(here, key=lambda one: one.distinct)[:2]


def test_each_mutant_that_changes_nothing_has_one_reason() -> None:
    groups = tomllib.loads((Path(__file__).parent / "unchanged.toml").read_text())["unchanged"]
    assert all(group["reason"] for group in groups)
    explained = sorted(one for group in groups for one in group["mutants"])
    unchanged = [one for one, answer in seen_by_instances().items() if answer == "unchanged"]
    assert explained == sorted(unchanged)


def test_each_listed_mutant_of_kafka_is_one_and_is_listed_once() -> None:
    survivors = kafka_survivors()
    assert all(one.is_reviewed for one in survivors)
    listed = [*seen_by_instances(), *(one.id for one in survivors)]
    assert len({*listed}) == len(listed) and {*listed} <= {*kafka_mutants()}
