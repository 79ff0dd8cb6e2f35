"""Exact counts of Kafka's tiny instances, pinned in kafka/*.txt (`pytest --accept` rewrites them),
and a check on raw runs that equal keys mean equal behaviour."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.support import plain
from tests.support.counted import summary
from tests.support.golden import Golden

from charter.explore.reference.load import FlatMachine, FlatState

PINS = Path(__file__).parent / "kafka"
TINY = [
    "tiny_elr", "tiny_reassignment", "tiny_proposals", "tiny_shutdown", "tiny_configuration",
    "tiny_topics",
]  # fmt: skip
LONG = "tiny_reassignment"
"""It takes as long as all others together: `make slow` searches it. The native engine is held to
its pins by tests/agreement/test_engine.py in every run."""
EVERY = [
    *plain.of_kafka(name for name in TINY if name != LONG),
    pytest.param(LONG, marks=pytest.mark.slow),
]
MOST_TRANSITIONS = 200_000


@pytest.mark.parametrize("name", EVERY)
def test_counts_are_the_pinned_ones_when_a_tiny_instance_is_explored(
    name: str, golden: Golden
) -> None:
    found = plain.explored("kafka", name)
    assert found.fine and found.classes <= MOST_TRANSITIONS
    golden.matches(PINS / f"{name}.txt", summary(found))


def test_every_tiny_instance_is_pinned() -> None:
    mine = (i.name for i in plain.model("kafka").instances if i.machine == "controller")
    assert sorted(TINY) == sorted(name for name in mine if name.startswith("tiny"))


def behaviour(flat: FlatMachine, state: FlatState) -> set[tuple[object, ...]]:
    """What can be seen of a state up to renaming: branches, and the keys that they lead to. Foreign
    counters are left out: which ones there are depends on how much room there is below."""
    seen: set[tuple[object, ...]] = set()
    for name, operation in flat.machine.operations.items():
        kinds = [param.type for param in operation.params]
        for args, foreign in flat.arguments(state).together(kinds, frozenset()):
            if not foreign:
                for branch, _, after in flat.operations[name](state, args, None):
                    seen.add((branch, flat.key(after)))
    return seen


@pytest.mark.parametrize("name", plain.of_kafka(["tiny_elr", "tiny_configuration", "tiny_topics"]))
def test_equal_keys_behave_alike_when_raw_runs_are_sampled(name: str) -> None:
    found = plain.explored("kafka", name)
    flat, graph = found.graph.flat, found.graph
    chance = random.Random(7)
    compared: set[FlatState] = set()
    for _ in range(20):
        state = flat.initial()
        for _ in range(15):
            operation = chance.choice(sorted(flat.machine.operations))
            params = flat.machine.operations[operation].params
            args = chance.choice(flat.arguments(state).of(params))
            only = flat.only.get(operation)
            if only is not None and not only(state, args, None)[0][1]:
                continue
            _, _, state = chance.choice(flat.operations[operation](state, args, None))
            kept = graph.states[graph.numbers[flat.key(state)]]
            if kept != state and state not in compared and len(compared) < 25:
                assert behaviour(flat, state) == behaviour(flat, kept)
                compared.add(state)
    assert len(compared) >= 5
