"""Evaluator, flat explorer and generated model on what the tiny instances of Kafka can do."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from tests.support.agreement import by_evaluator, by_flat, by_model, shown

from charter import api
from charter.core import nodes as n
from charter.explore.reference.explore import Options, explore, transitions
from charter.semantics.values import text
from charter_models.kafka_replication import controller

SPEC = Path(__file__).resolve().parents[2] / "spec" / "kafka"
STATES = 150
EVERY = 13
"""One transition of so many is asked; a prime, so that no operation is missed."""


@pytest.fixture(scope="module")
def kafka() -> n.Model:
    return api.load(SPEC)


TINY = [
    "tiny_elr", "tiny_reassignment", "tiny_proposals", "tiny_shutdown", "tiny_configuration",
    "tiny_topics",
]  # fmt: skip


@pytest.mark.parametrize("name", TINY)
def test_models_agree_when_a_tiny_instance_moves(kafka: n.Model, name: str) -> None:
    instance = next(i for i in kafka.instances if i.name == name)
    found = explore(kafka, instance, Options(most_states=STATES))
    flat = found.graph.flat
    asked = 0
    for move in islice(transitions(found), 0, None, EVERY):
        question = (found.graph.states[move.source], move.operation, move.args)
        expected = by_evaluator(flat, *question)
        assert by_flat(flat, *question) == expected
        assert by_model(flat, controller, *question) == expected
        asked += 1
    assert asked > 50


@pytest.mark.parametrize("name", TINY)
def test_model_shows_and_loads_what_the_machine_does_when_states_are_reached(
    kafka: n.Model, name: str
) -> None:
    instance = next(i for i in kafka.instances if i.name == name)
    found = explore(kafka, instance, Options(most_states=STATES))
    flat, machine = found.graph.flat, found.graph.flat.machine
    sorts = machine.universe.sorts
    for state in found.graph.states[::7]:
        whole = shown(flat, state)
        model = controller.decode(whole, sorts)
        assert text(controller.encode(model)) == text(whole)
        assert text(controller.observe(model)) == text(machine.observe(flat.unflatten(state)))
        durable = machine.durable_json(flat.unflatten(state))
        assert isinstance(durable, dict)
        loaded = machine.loaded(machine.from_durable(durable))
        given = controller.given(durable, sorts)
        assert text(controller.encode(given)) == text(shown(flat, flat.flatten(loaded)))


def test_model_begins_where_the_machine_does(kafka: n.Model) -> None:
    instance = next(i for i in kafka.instances if i.name == "tiny_topics")
    flat = explore(kafka, instance, Options(most_states=1)).graph.flat
    expected = text(shown(flat, flat.initial()))
    assert text(controller.encode(controller.initial(flat.machine.universe.sorts))) == expected
