"""Which steps follow each other, by the native engine and by the definition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, given, reject, settings
from tests.support.drawn_models import systems

from charter import api
from charter.core import nodes as n
from charter.explore.model_checker import EngineUnsupported, ExploreOptions, Problem
from charter.explore.native import checker as native
from charter.explore.reference import checker as reference

SPEC = Path(__file__).resolve().parents[2] / "spec"
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


def test_no_pair_is_known_of_a_search_that_gave_up() -> None:
    model = api.load(SPEC / "examples" / "two_phase_commit.charter")
    asked = problem(model, next(i for i in model.instances if i.name == "tiny"))
    for engine in (native, reference):
        found = engine.step_pairs(asked, ExploreOptions(most_states=100), no_progress)
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
