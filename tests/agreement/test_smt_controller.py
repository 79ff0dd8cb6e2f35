"""Z3 sees the transitions of the controller that the definition sees: no more, no less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.support import spec
from tests.support.solved import HIGHEST, Agreement, random_args, random_state

from charter import api
from charter.core import nodes as n
from charter.semantics.machine import Machine

SPEC = Path(__file__).parents[2] / "spec" / "kafka"
SAMPLES = {
    "tiny_elr": 500, "tiny_reassignment": 500, "tiny_shutdown": 500, "tiny_topics": 400,
    "standard": 100,
}  # fmt: skip
FEW = {"tiny_reassignment": 40, "tiny_shutdown": 40, "tiny_topics": 40, "standard": 30}
"""What `make test` compares. The operations of `tiny_elr` are among those of the first and the
third of these, which have as many brokers and topics."""
WALK = 8


def kafka() -> n.Model:
    return spec.model("kafka")


@pytest.mark.parametrize(
    ("instance", "samples"),
    [
        *FEW.items(),
        *(pytest.param(*item, marks=pytest.mark.slow) for item in SAMPLES.items()),
    ],
)
def test_z3_allows_the_same_outcomes_when_transitions_are_sampled(
    instance: str, samples: int
) -> None:
    chosen = next(i for i in kafka().instances if i.name == instance)
    machine = Machine.of(kafka(), replace(chosen, only=()))
    agreement, rng = Agreement.of(machine), Random(samples)
    operations = sorted(machine.operations)
    taken = 0
    while taken < samples:
        state = random_state(machine, rng) if taken % 2 else machine.initial()
        for _ in range(1 if taken % 2 else WALK):
            operation = rng.choice(operations)
            args = random_args(machine, operation, rng, state)
            agreement.compare(state, operation, args)
            taken += 1
            outcome = rng.choice(machine.outcomes(state, operation, args))
            state = outcome.state
            if machine.outside(state) or any(
                number > HIGHEST for number in agreement.counters(state)
            ):
                break
    assert taken >= samples


def test_a_difference_is_noticed_when_the_encoding_is_of_a_mutant() -> None:
    mutant = api.load(SPEC, api.Selection(mutant="leader_epoch_stays"))
    machine = Machine.of(kafka(), next(i for i in kafka().instances if i.name == "tiny_elr"))
    edited = Machine.of(mutant, next(i for i in mutant.instances if i.name == "tiny_elr"))
    agreement = Agreement.of(edited)
    agreement.machine = machine
    with pytest.raises(AssertionError):
        for broker in range(3):
            agreement.compare(machine.initial(), "session_expires", (broker,))
