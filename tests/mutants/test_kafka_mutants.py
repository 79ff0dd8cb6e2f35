"""Hand-written mutants of the controller are caught by the property that each names: some in each
run, all in `make slow`. The committed table of verdicts says it of those whose row is current."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from tests.support import spec
from tests.support.comparing.sampled import sample
from tests.support.engines import natively

from charter import api
from charter.core import nodes as n
from charter.explore.result import CheckResult

SPEC = Path(__file__).resolve().parents[2] / "spec" / "kafka"
MUTANTS = spec.list_declared("mutant", "70-mutants.charter")
FIRST, MOST = 400, 2_000
"""How many states are searched at first, and where that is not enough."""


@cache
def open_charter() -> api.Charter:
    return api.Charter(api.read_sources(SPEC))


def instance_of(model: n.Model, name: str) -> n.Instance:
    return next(i for i in model.instances if i.name == name)


def findings(model: n.Model, instance: str, states: int = FIRST) -> dict[str, CheckResult]:
    found = natively(model, instance_of(model, instance), most_states=states)
    return {f.name: f for f in found.properties}


def mutants() -> list[n.Mutant]:
    model = spec.model("kafka")
    machines = {i.name: i.machine for i in model.instances}
    return [m for m in model.mutants if machines[m.instance] == "controller"]


def test_they_are_in_a_file_of_their_own_and_at_least_twelve() -> None:
    assert [mutant.name for mutant in mutants()] == MUTANTS
    assert len(MUTANTS) >= 12


@pytest.mark.parametrize("name", sample(MUTANTS, 2))
def test_the_property_catches_the_mutant_when_its_instance_is_searched(name: str) -> None:
    (mutant,) = (m for m in mutants() if m.name == name)
    edited = open_charter().model(api.Selection(mutant=name))
    caught = findings(edited, mutant.instance)[mutant.caught_by]
    if not caught.seen:
        caught = findings(edited, mutant.instance, MOST)[mutant.caught_by]
    assert caught.seen and caught.trace


@pytest.mark.parametrize("instance", ["tiny_elr", "tiny_reassignment"])
def test_no_property_fails_when_nothing_is_bent(instance: str) -> None:
    found = findings(spec.model("kafka"), instance)
    assert not [f.name for f in found.values() if f.kind != "witness" and f.seen]
