"""Exact counts of Kafka's tiny instances, pinned in kafka/*.txt (`pytest --accept` rewrites them),
and a check on raw runs that equal keys mean equal behaviour."""

from __future__ import annotations

import random

import pytest
from tests.support import spec
from tests.support.counted import PINS, branches_of, summary
from tests.support.golden import Golden

from charter.analysis.environment import Arguments, offers
from charter.explore.native.program.compiled import CompiledMachine
from charter.semantics.expressions import State

TINY = [
    "tiny_elr", "tiny_reassignment", "tiny_proposals", "tiny_shutdown", "tiny_configuration",
    "tiny_topics", "tiny_both_topics", "tiny_snapshot", "tiny_unclean_task", "tiny_lapsed",
]  # fmt: skip
SEVERAL = [
    "both_topics_led", "both_topics_shut_down", "both_topics_moved", "shutdown_among_joins",
    "changed_of_three", "reassigned_of_three", "cancelled_uncleanly", "both_topics_balanced",
]  # fmt: skip
"""Of two topics, and of a minimum of three."""
REPLICA = ["tiny_leader", "tiny_follower", "tiny_log", "tiny_storage", "tiny_consumer"]
"""Of the components that brokers and clients have."""
MOST_TRANSITIONS = 200_000


@pytest.mark.parametrize("name", spec.of_kafka([*TINY, *SEVERAL, *REPLICA, "upgraded"]))
def test_counts_are_the_pinned_ones_when_a_tiny_instance_is_explored(
    name: str, golden: Golden
) -> None:
    graph = spec.graph("kafka", name)
    branches = branches_of(graph)
    assert graph.found.fine and sum(one.seen for one, _ in branches) <= MOST_TRANSITIONS
    golden.matches(PINS / f"{name}.txt", summary(graph, branches))


def test_every_tiny_instance_is_pinned() -> None:
    found = (i.name for i in spec.model("kafka").instances if i.name.startswith("tiny"))
    assert sorted([*TINY, *REPLICA]) == sorted(found)


def behaviour(compiled: CompiledMachine, state: State) -> set[tuple[object, ...]]:
    """What can be seen of a state up to renaming: branches, and the forms that they lead to.
    Foreign counters are left out: which ones there are depends on how much room there is below."""
    seen: set[tuple[object, ...]] = set()
    for name, operation in compiled.machine.operations.items():
        kinds = [param.type for param in operation.params]
        arguments = Arguments.at(compiled.machine, state)
        for args, foreign in arguments.together(kinds, frozenset()):
            if not foreign and offers(compiled.machine, state, name, args):
                for outcome in compiled.outcomes(state, name, args):
                    seen.add((outcome.branch, compiled.form(outcome.state)))
    return seen


@pytest.mark.parametrize("name", spec.of_kafka(["tiny_elr", "tiny_configuration", "tiny_topics"]))
def test_equal_forms_behave_alike_when_raw_runs_are_sampled(name: str) -> None:
    graph = spec.graph("kafka", name)
    compiled, chance = graph.successors, random.Random(7)
    numbers = {compiled.form(state): i for i, state in enumerate(graph.states)}
    machine = compiled.machine
    compared: list[State] = []
    for _ in range(20):
        state = machine.initial()
        for _ in range(15):
            operation = chance.choice(sorted(machine.operations))
            params = machine.operations[operation].params
            args = chance.choice(Arguments.at(machine, state).of(params))
            if not offers(machine, state, operation, args):
                continue
            state = chance.choice(compiled.outcomes(state, operation, args)).state
            kept = graph.states[numbers[compiled.form(state)]]
            if kept != state and state not in compared and len(compared) < 25:
                assert behaviour(compiled, state) == behaviour(compiled, kept)
                compared.append(state)
    assert len(compared) >= 5
