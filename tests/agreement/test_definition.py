"""Compares the native engine with the definition: every transition of every tiny instance, up to
the names of elements and counters; of larger instances in the slow tests. To compare all of the
tiny ones takes about 80 s of processor time, half of it for tiny_elr and tiny_reassignment; what is
alike for many argument lists and in many states is evaluated once (`sharing` of tests/support),
without which it takes twice as long.

Optimized code is compared of the instances that `spec.OPTIMIZED` names, of the others code that is
not, which short searches run; the slow tests compare optimized code of all. The generated models
are compared with the definition on the way: of Kafka's components in some of the states, where the
slow tests compare all, of others in every state."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest
from tests.support import spec
from tests.support.comparing.exhaustive import Tally, compare
from tests.support.comparing.modelled import Compared
from tests.support.engines import natively

from charter.semantics.machine import Machine

KAFKA = "kafka"
TINY_CONTROLLERS = [
    "tiny_elr", "tiny_proposals", "tiny_shutdown", "tiny_configuration", "tiny_topics",
    "tiny_reassignment",
]  # fmt: skip
REPLICA = ["tiny_leader", "tiny_follower", "tiny_log", "tiny_storage", "tiny_consumer"]
"""Of replica and consumer."""
CONTROLLERS, REPLICAS = 13, 7
"""In one of so many states of a component of Kafka's its model is compared, too, at least once for
each branch that is taken; the slow tests do that in each state."""
OPTIMIZED = {"paxos", "two_phase_commit"}
"""Examples of which optimized code is compared."""
PAIRS = ["pair", "pair_of_one", "pair_stopped", "pair_unseen", "pair_of_two_records"]
PACKAGES = {
    KAFKA: "kafka_replication",
    "paxos": "examples_paxos",
    "ring_election": "examples_ring_election",
    "two_phase_commit": "examples_two_phase_commit",
}
"""Where the generated models of a charter are; of other charters none are committed."""
SMALL = ["pair_deleted", "tolerance_3_2"]
"""A topic that is created again, and three brokers."""
SAMPLE = 53
COUNTS = {
    "tiny_reassignment": (3_180, 101_016), "pair": (3_626, 14_491),
    "pair_deleted": (714, 3_223), "tolerance_3_2": (603, 1_976),
}  # fmt: skip
"""States and transitions of some instances, all compared."""


def modules(charter: str, machine: Machine) -> dict[str, ModuleType]:
    """The generated models of what a machine is or is made of."""
    parts = {part.component for s in machine.model.systems for part in s.parts}
    names = parts if machine.component is None else {machine.component.name}
    package = f"charter_models.{PACKAGES[charter]}"
    return {name: importlib.import_module(f"{package}.{name}_wire") for name in names}


def compare_instance(
    charter: str, name: str, every: int = 1, models: int = 1, *, optimized: bool = False
) -> Tally:
    """Compares one instance: every transition of so many states one, and in so many states of
    a component one with its model. The code is `optimized`, if that is so or
    `spec.OPTIMIZED` says so."""
    model, instance = spec.model(charter), spec.instance(charter, name)
    component = instance.machine in {c.name for c in model.components}
    found = (
        spec.graph(charter, name, optimized=optimized).found
        if component
        else natively(model, instance, optimized=optimized)
    )
    assert found.counts.complete
    machine = found.search.program.plan.machine
    if charter in PACKAGES:
        machine = Compared.beside(machine, modules(charter, machine), models)
    tally = compare(found, machine, every)
    if isinstance(machine.evaluator, Compared):
        assert machine.evaluator.compared
        taken = {branch.name for branch in found.branches if component and branch.seen}
        assert taken <= machine.evaluator.branches
    return tally


@pytest.mark.parametrize("name", spec.of_kafka(TINY_CONTROLLERS))
def test_transitions_of_a_tiny_controller_are_as_defined(name: str) -> None:
    tally = compare_instance(KAFKA, name, models=CONTROLLERS)
    assert tally.states > 250 and tally.moves > 12_000 and tally.noted > 50
    assert (tally.states, tally.moves) == COUNTS.get(name, (tally.states, tally.moves))


@pytest.mark.parametrize("name", spec.of_kafka(REPLICA))
def test_transitions_of_a_tiny_replica_are_as_defined(name: str) -> None:
    tally = compare_instance(KAFKA, name, models=REPLICAS)
    assert tally.moves > tally.states > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", REPLICA)
def test_every_transition_of_a_tiny_replica_is_as_defined(name: str) -> None:
    assert compare_instance(KAFKA, name, optimized=True).moves >= 8


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_every_transition_of_a_small_cluster_is_as_defined(name: str) -> None:
    tally = compare_instance(KAFKA, name)
    assert (tally.states, tally.moves) == COUNTS[name]


@pytest.mark.parametrize("name", spec.EXAMPLES)
def test_every_transition_of_a_tiny_example_is_as_defined(name: str) -> None:
    tally = compare_instance(name, "tiny", optimized=name in OPTIMIZED)
    assert tally.states >= 50 and tally.moves > 2 * tally.states - 20


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_a_sample_of_the_other_pairs_is_as_defined(name: str) -> None:
    assert compare_instance(KAFKA, name, every=SAMPLE).moves > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_every_transition_of_the_other_pairs_is_as_defined(name: str) -> None:
    tally = compare_instance(KAFKA, name, optimized=True)
    assert tally.moves > 7_000
    assert (tally.states, tally.moves) == COUNTS.get(name, (tally.states, tally.moves))


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY_CONTROLLERS)
def test_every_answer_of_the_model_to_a_tiny_controller_is_as_defined(name: str) -> None:
    tally = compare_instance(KAFKA, name, optimized=True)
    assert tally.states > 250 and tally.moves > 12_000
    assert (tally.states, tally.moves) == COUNTS.get(name, (tally.states, tally.moves))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dining_philosophers", "ring_election", "two_phase_commit"])
def test_every_transition_of_a_small_example_is_as_defined(name: str) -> None:
    tally = compare_instance(name, "small", optimized=True)
    assert tally.states > 150 and tally.moves > 2 * tally.states


@pytest.mark.slow
def test_a_sample_of_larger_instances_is_as_defined() -> None:
    assert compare_instance(KAFKA, "last_standing", every=SAMPLE).moves > 5_000
    assert compare_instance("primary_backup", "small", every=SAMPLE).moves > 5_000
