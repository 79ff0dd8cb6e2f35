"""Each pass keeps what a model means: the definition gives the same outcomes before and after."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.comparing.sampled import DRAWN, few_or_all
from tests.support.drawn.drawn_models import INSTANCE, draw_model
from tests.unit.semantics.test_messages import machine as post

from charter import api
from charter.analysis.environment import Arguments
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.passes import PASSES, run, run_checked
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

STATES, ARGUMENTS = 8, 8
EXAMPLES = Path(__file__).parents[2] / "spec" / "examples"
PROTOCOLS = {path.stem: path for path in sorted(EXAMPLES.glob("*.charter"))}


def stages(model: n.Model, instance: n.Instance) -> list[Machine]:
    """The machine of an instance before all passes and after each."""
    done = [model]
    for item in PASSES:
        done.append(run(done[-1], (item,), instance.machine))
    assert run_checked(model, PASSES, instance.machine) == done[-1]
    return [Machine.of(after, instance) for after in done]


def outcomes(machine: Machine, state: State, name: str, args: tuple[Value, ...]) -> object:
    """What a machine allows; None where something has no value."""
    try:
        return machine.outcomes(state, name, args)
    except EvaluationError:
        return None


def truths(
    machine: Machine, before: State, after: Outcome | None, args: tuple[Value, ...]
) -> dict[str, object]:
    """What the properties say of a state, or of a transition with its arguments; companions, which
    have a blank in their names, are left out."""
    found: dict[str, object] = {}
    scope = machine.scope(before)
    if after is not None:
        scope = machine.scope(before, after.state, after.branch, args)
    for prop in machine.model.properties:
        if " " in prop.name:
            continue
        try:
            found[prop.name] = machine.holds(prop, scope)
        except EvaluationError:
            found[prop.name] = None
    return found


def questions(machine: Machine) -> Iterator[tuple[State, str, tuple[Value, ...]]]:
    """Some states, breadth first, each operation, and some arguments."""
    states = [machine.initial()]
    for state in states:
        arguments = Arguments.at(machine, state)
        for name, operation in machine.operations.items():
            for args in islice(arguments.of(operation.params), ARGUMENTS):
                yield state, name, args
                try:
                    found = machine.outcomes(state, name, args)
                except EvaluationError:
                    continue
                new = [o.state for o in found if not machine.outside(o.state)]
                states += [after for after in new if len(states) < STATES and after not in states]


def compare_with_first(machines: list[Machine]) -> int:
    """All stages answer as the first one does; how many transitions were asked for."""
    first, *others = machines
    asked = 0
    for state, name, args in questions(first):
        expected = outcomes(first, state, name, args)
        after = expected[0] if isinstance(expected, tuple) and expected else None
        for machine in others:
            assert outcomes(machine, state, name, args) == expected
            assert truths(machine, state, after, args) == truths(first, state, after, args)
        asked += 1
    return asked


@few_or_all(6, 25)
def test_each_pass_keeps_the_outcomes_of_drawn_models(examples: int) -> None:
    @settings(DRAWN, max_examples=examples)
    @given(st.randoms(use_true_random=False), st.booleans())
    def keep(rng: Random, partial: bool) -> None:
        model = draw_model(rng, partial=partial)
        assert compare_with_first(stages(model, INSTANCE))

    keep()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_each_pass_keeps_the_outcomes_of_the_examples(name: str) -> None:
    model = api.load(PROTOCOLS[name])
    assert compare_with_first(stages(model, model.instances[0]))


@pytest.mark.parametrize(
    "kind", ["slot", "set", "fifo", "slot lossy", "set duplicating", "fifo lossy duplicating"]
)
def test_each_pass_keeps_the_outcomes_of_channels(kind: str) -> None:
    plain = post(kind)
    assert compare_with_first(stages(plain.model, plain.instance))
