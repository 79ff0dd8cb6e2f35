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
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from tests.support import spec
from tests.support.comparing.sampled import sample
from tests.support.counted import REFUSED, read_pinned
from tests.support.golden import Golden
from tests.support.walked_mutants import WalkedStates

from charter import api
from charter.analysis.shared_outcomes import SharedOutcomes
from charter.api.coverage import COVERAGE, with_walked
from charter.core import nodes as n
from charter.core.affected import find_affected
from charter.formats.charter_files.survivors import Survivor, read_survivors, survivors_file
from charter.mutate import run as mutation
from charter.mutate.baseline import InstanceBaseline, RuleCoverage
from charter.mutate.moments import MOMENTS
from charter.mutate.mutants import MadeMutant, mutate
from charter.mutate.run import WantedMutants
from charter.mutate.trial import Limits
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
    "pair_asked", "pair_deleted", "pair_feature_on", "pair_back_early", "pair_preferred",
    "pair_unclean_allowed", "pair_shut_down_failed_over", "pair_disk_lost", "pair_flushed_in_time",
)  # fmt: skip
INSTANCES = {("controller", "replica", "consumer"): ("tiny_*",), ("cluster",): CLUSTER}
"""The instances that are searched for the mutants of parts."""
MOST_STATES = 200_000
"""What is searched of one of them at most."""
TRIED = Path(__file__).parent / "tried.json"
"""A digest of each rule of which all mutants were tried: those of the others are tried in each
run."""
WALKED = {"controller": 4_000, "replica": 5_000, "cluster": 150_000}
"""How many states of the large instances of a machine are walked through: one state of a component
has some 20,000 outcomes."""


def not_seen(example: str, *, sample: int = 0, instances: str = "*") -> set[str]:
    """The mutants of an example that survive, or are undecided."""
    model, limits = spec.model(example), Limits(70_000, 600)
    made = mutation.select_mutants(model, WantedMutants(limit=sample, seed=7))
    assert made
    places = mutation.baselines(model, instances, limits, lambda *_: None)
    found = mutation.try_mutants(model, places, made, limits, 1)
    return {one.id for one in found if one.answer in ("survives", "undecided")}


@pytest.mark.parametrize("example", sample(spec.EXAMPLES, 3))
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
        for one in mutation.select_mutants(kafka(), WantedMutants(part)):
            if one.kind not in MOMENTS:
                found.setdefault(one.id, (part, one))
    return found


def kafka_survivors() -> tuple[Survivor, ...]:
    return read_survivors(survivors_file(KAFKA))


def read_instance_catches() -> dict[str, str]:
    """What instances show of the mutants that no scenario catches, and that do not survive."""
    found = json.loads((Path(__file__).parent / "seen_by_instances.json").read_text())
    return {str(name): str(answer) for name, answer in found.items()}


def list_unexplained(drawn: Iterable[str]) -> list[str]:
    """The mutants that are on no list, and that no scenario sees."""
    listed = {one.id for one in kafka_survivors()} | {*read_instance_catches()}
    return [one for one in drawn if one not in listed and not do_scenarios_see(one)]


@cache
def share_outcomes() -> SharedOutcomes:
    """Of all mutants: most steps of a scenario are not changed by one."""
    return SharedOutcomes()


def do_scenarios_see(mutant: str) -> bool:
    """Whether a scenario fails. Those of the part itself and of few brokers first: they are quick;
    of the system, those that a mistake in a step was the reason for (`X-S`)."""
    part, made = kafka_mutants()[mutant]
    model = mutate(kafka(), made)
    followed = find_affected(kafka(), model)
    ordered = sorted(followed, key=lambda s: (not s.title.startswith("X-S"), size_of(s)))
    changed = replace(model, scenarios=tuple(ordered))
    machine_of = share_outcomes().among(changed)
    found = (next(failures(changed, one, machine_of), None) for one in SCENARIOS[part])
    return any(failure is not None for failure in found)


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
    assert not list_unexplained({*drawn, *(one for rule in changed for one in by_rule()[rule])})


@pytest.mark.slow
def test_each_mutant_of_kafka_is_seen_or_listed_when_all_are_tried(golden: Golden) -> None:
    assert not list_unexplained(kafka_mutants())
    golden.matches(TRIED, json.dumps(digests(), indent=1, sort_keys=True) + "\n")


@pytest.mark.slow
def test_the_lists_of_kafkas_mutants_say_what_instances_show() -> None:
    expected = read_instance_catches() | {one.id: "survives" for one in kafka_survivors()}
    limits = Limits(MOST_STATES, 600)
    found: dict[str, str] = {}
    for parts, globs in INSTANCES.items():
        places = [
            place for each in globs
            for place in mutation.baselines(kafka(), each, limits, lambda *_: None)
        ]  # fmt: skip
        for here, made in group_searches(parts, expected, places):
            for tried in mutation.try_mutants(kafka(), here, made, limits, 1):
                found[tried.id] = tried.answer
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", spec.list_declared("instance", "coverage/walks.charter"))
def test_mutants_that_change_nothing_change_nothing_in_walks(name: str) -> None:
    model = with_walked(api.load_charter(KAFKA)[0], KAFKA / COVERAGE)
    instance = next(one for one in model.instances if one.name == name)
    walked = WalkedStates.of(model, instance, WALKED[instance.machine], 3_000)
    listed = (one for one, answer in read_instance_catches().items() if answer == "unchanged")
    found = {one: walked.difference(kafka_mutants()[one][1]) for one in listed}
    assert not {one: where for one, where in found.items() if where}


def list_pinned_baselines(glob: str) -> list[InstanceBaseline]:
    """What pinned searches say of instances: states, and the branches and steps that are taken."""
    nothing = frozenset[str]()
    found: list[InstanceBaseline] = []
    for one in (one for one in kafka().instances if fnmatchcase(one.name, glob)):
        distinct, seen = read_pinned(one.name)
        made = InstanceBaseline(one.name, one.machine, distinct, True, seen, nothing, ())
        found.append(made)
    return found


def test_each_step_of_the_system_is_taken_in_an_instance_that_is_searched_for_mutants() -> None:
    (system,) = (one for one in kafka().systems if one.name == "cluster")
    places = [place for name in CLUSTER for place in list_pinned_baselines(name)]
    taken = {name for place in places for name in place.taken}
    assert [one.name for one in system.steps if one.name not in taken] == sorted(REFUSED)
    assert all(place.distinct < MOST_STATES for place in places)


def test_each_listed_mutant_is_searched_where_its_rule_is_taken() -> None:
    listed = [*read_instance_catches(), *(one.id for one in kafka_survivors())]
    searched: set[str] = set()
    for parts, globs in INSTANCES.items():
        places = [place for each in globs for place in list_pinned_baselines(each)]
        for here, group in group_searches(parts, listed, places):
            searched |= {made.id for made in group if any(takes(place, made) for place in here)}
    assert [one for one in listed if one not in searched] == []


def group_searches(
    parts: Sequence[str], listed: Iterable[str], places: Sequence[InstanceBaseline]
) -> Iterable[tuple[Sequence[InstanceBaseline], list[MadeMutant]]]:
    """The listed mutants of parts, with the instances that are searched for them. Those with the
    same instances are together: what the charter does there is searched once for them."""
    found: dict[tuple[str, ...], list[MadeMutant]] = {}
    for part, made in (kafka_mutants()[one] for one in listed):
        if part in parts:
            here = smallest_that_take(made, places) if part == "cluster" else places
            found.setdefault(tuple(place.instance for place in here), []).append(made)
    for names, group in found.items():
        yield [place for place in places if place.instance in names], group


@cache
def coverage_of_rules() -> RuleCoverage:
    """Of all mutants: it remembers which functions a step calls."""
    return RuleCoverage(kafka())


def takes(place: InstanceBaseline, made: MadeMutant) -> bool:
    """Whether an instance takes a branch or step that reads the rule of a mutant."""
    labels = coverage_of_rules().labels(made.rule, place.machine)
    return not place.taken.isdisjoint(labels)


def smallest_that_take(
    made: MadeMutant, places: Sequence[InstanceBaseline]
) -> list[InstanceBaseline]:
    """The two smallest instances that take the step of a mutant, or of a function one of the steps
    that call it: each is compiled for it."""
    here = (one for one in places if not one.wrong and takes(one, made))
    return sorted(here, key=lambda one: one.distinct)[:2]


def test_each_mutant_that_changes_nothing_has_one_reason() -> None:
    groups = tomllib.loads((Path(__file__).parent / "unchanged.toml").read_text())["unchanged"]
    assert all(group["reason"] for group in groups)
    explained = sorted(one for group in groups for one in group["mutants"])
    unchanged = [one for one, answer in read_instance_catches().items() if answer == "unchanged"]
    assert explained == sorted(unchanged)


def test_each_listed_mutant_of_kafka_is_one_and_is_listed_once() -> None:
    survivors = kafka_survivors()
    sources = {name for name, _ in kafka().sources}
    assert all(one.is_reviewed(sources) for one in survivors)
    listed = [*read_instance_catches(), *(one.id for one in survivors)]
    assert len({*listed}) == len(listed) and {*listed} <= {*kafka_mutants()}
