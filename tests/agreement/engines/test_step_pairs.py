"""Which steps follow each other, by the native engine and by the definition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, given, reject, settings
from tests.support.drawn.drawn_models import systems

from charter import api
from charter.core import nodes as n
from charter.explore.model_checker import EngineUnsupported, ExploreOptions, Problem
from charter.explore.native import checker as native
from charter.explore.native.states.walked_pairs import PairWalks, find_walked_pairs
from charter.explore.reference import checker as reference

SPEC = Path(__file__).resolve().parents[3] / "spec"
PLACES = [
    (SPEC / "examples" / "dining_philosophers.charter", "tiny"),
    (SPEC / "examples" / "two_phase_commit.charter", "tiny"),
    (SPEC / "examples" / "ring_election.charter", "tiny"),
    *(
        pytest.param(SPEC / "kafka", name, marks=pytest.mark.slow)
        for name in ("tiny_shutdown", "pair_deleted")
    ),
]


def problem(model: n.Model, instance: n.Instance) -> Problem:
    return Problem.of(replace(model, properties=(), liveness=()), instance)


def no_progress(*_: object) -> None:
    pass


@pytest.mark.parametrize(("path", "name"), PLACES, ids=lambda value: getattr(value, "stem", value))
def test_both_engines_know_the_same_pairs(path: Path, name: str) -> None:
    model = api.load(path)
    asked = problem(model, next(i for i in model.instances if i.name == name))
    found = native.step_pairs(asked, ExploreOptions(), no_progress)
    assert found == reference.step_pairs(asked, ExploreOptions(), no_progress)
    assert found.complete and found.followed


@pytest.mark.parametrize(("path", "name"), PLACES, ids=lambda value: getattr(value, "stem", value))
def test_walks_see_pairs_of_an_instance_that_is_too_large(path: Path, name: str) -> None:
    """The definition says which there are; of so small an instance walks see each."""
    model = api.load(path)
    asked = problem(model, next(i for i in model.instances if i.name == name))
    every = native.step_pairs(asked, ExploreOptions(), no_progress)
    walked = native.step_pairs(asked, ExploreOptions(most_states=2), no_progress)
    assert walked == replace(every, complete=False)


def test_walks_end_when_they_have_looked_at_enough() -> None:
    model = api.load(SPEC / "examples" / "two_phase_commit.charter")
    instance = next(i for i in model.instances if i.name == "tiny")
    done: list[int] = []
    plan = PairWalks(walks=50, outcomes=30)
    found = find_walked_pairs(model, instance, plan, None, lambda number, _: done.append(number))
    assert found.followed and not found.complete and 0 < len(done) < 50


def test_the_reference_engine_walks_nowhere() -> None:
    model = api.load(SPEC / "examples" / "two_phase_commit.charter")
    asked = problem(model, next(i for i in model.instances if i.name == "tiny"))
    found = reference.step_pairs(asked, ExploreOptions(most_states=100), no_progress)
    assert not found.complete and not found.followed and "tell" in found.steps


@pytest.mark.slow
@settings(
    max_examples=20, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
@given(systems())
def test_both_engines_know_the_same_pairs_of_drawn_systems(model: n.Model) -> None:
    asked = problem(model, model.instances[0])
    options = ExploreOptions(most_states=2_000)
    try:
        found = native.step_pairs(asked, options, no_progress)
    except EngineUnsupported:
        reject()
    expected = reference.step_pairs(asked, options, no_progress)
    assume(found.complete and expected.complete)
    assert found == expected
