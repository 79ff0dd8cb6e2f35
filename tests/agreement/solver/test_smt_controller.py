"""Z3 sees the transitions of the controller that the definition sees: no more, no less."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.support import spec
from tests.support.comparing.solved import (
    HIGHEST,
    Agreement,
    random_args,
    random_state,
)
from tests.support.switch import machine, switch

from charter.analysis.environment import offers
from charter.core import nodes as n
from charter.semantics.machine import Machine

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
    opened = Machine.of(kafka(), replace(chosen, only=()))
    agreement, rng = Agreement.of(opened), Random(samples)
    operations = sorted(opened.operations)
    taken = 0
    while taken < samples:
        state = random_state(opened, rng) if taken % 2 else opened.initial()
        for _ in range(1 if taken % 2 else WALK):
            operation = rng.choice(operations)
            args = random_args(opened, operation, rng, state)
            if not offers(opened, state, operation, args):
                continue
            agreement.compare(state, operation, args)
            taken += 1
            outcome = rng.choice(opened.outcomes(state, operation, args))
            state = outcome.state
            if opened.outside(state) or any(
                number > HIGHEST for number in agreement.counters(state)
            ):
                break
    assert taken >= samples


@pytest.mark.parametrize(("mutant", "lit"), [("chooses_less", False), ("forgets_owner", True)])
def test_a_difference_is_noticed_when_the_encoding_is_of_a_mutant(mutant: str, lit: bool) -> None:
    """Of a lamp: who owns it after it was switched."""
    whole = machine(switch())
    owner = 0 if lit else None
    state = {**whole.initial(), "lit": lit, "owner": owner, "friends": frozenset({0}), "turn": 1}
    agreement = Agreement.of(machine(switch(mutant)))
    with pytest.raises(AssertionError):
        replace(agreement, machine=whole).compare(state, "switch", (0, 1, False))
    assert Agreement.of(whole).compare(state, "switch", (0, 1, False)) > 0
