"""Z3 and the definition agree on models that nobody wrote."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.comparing.sampled import few_or_all
from tests.support.comparing.solved import Agreement, random_args, random_state
from tests.support.drawn.drawn_models import INSTANCE, draw_model

from charter.semantics.machine import Machine

TRANSITIONS = 5

DRAWN = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def compare(seed: int, *, partial: bool) -> None:
    rng = Random(seed)
    machine = Machine.of(draw_model(rng, partial=partial), INSTANCE)
    agreement = Agreement.of(machine)
    for _ in range(TRANSITIONS):
        operation = rng.choice(sorted(machine.operations))
        state = random_state(machine, rng)
        agreement.compare(state, operation, random_args(machine, operation, rng, state))


@few_or_all(6, 60)
@pytest.mark.parametrize("partial", [False, True])
def test_z3_allows_the_outcomes_of_the_definition_when_models_are_drawn(
    partial: bool, examples: int
) -> None:
    """Also where some expressions have no value (`partial`)."""

    @settings(DRAWN, max_examples=examples)
    @given(st.integers(0, 1 << 32))
    def same(seed: int) -> None:
        compare(seed, partial=partial)

    same()
