"""What the generated model of the controller shows of states and how it loads them, and which cases
compiled code tells apart. What both do in each state is in `test_definition`."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest
from tests.support import spec
from tests.support.comparing.agreement import show

from charter.analysis.conditions import atoms_read
from charter.analysis.environment import list_offered
from charter.core import nodes as n
from charter.explore.result import TraceStep
from charter.explore.successors import Transition
from charter.semantics.machine import Machine
from charter.semantics.values import text
from charter_models.kafka_replication import controller_wire as controller

SPEC = Path(__file__).resolve().parents[2] / "spec" / "kafka"
STATES = 150
CASED = 12


TINY = [
    "tiny_elr", "tiny_reassignment", "tiny_proposals", "tiny_shutdown", "tiny_configuration",
    "tiny_topics",
]  # fmt: skip


@pytest.mark.parametrize("name", spec.of_kafka(TINY))
def test_model_shows_and_loads_what_the_machine_does_when_states_are_reached(name: str) -> None:
    graph = spec.graph("kafka", name)
    machine = graph.successors.machine
    sorts = machine.universe.sorts
    for number in range(0, min(STATES, graph.found.counts.distinct), 7):
        state = graph.state(number)
        whole = show(machine, state)
        model = controller.decode(whole, sorts)
        assert text(controller.encode(model)) == text(whole)
        assert text(controller.observe(model)) == text(machine.observe(state))
        durable = machine.durable_json(state)
        assert isinstance(durable, dict)
        loaded = machine.load(machine.from_durable(durable))
        given = controller.given(durable, sorts)
        assert text(controller.encode(given)) == text(show(machine, loaded))


def test_model_begins_where_the_machine_does() -> None:
    machine = Machine.of(spec.model("kafka"), spec.instance("kafka", "tiny_topics"))
    expected = text(show(machine, machine.initial()))
    assert text(controller.encode(controller.initial(machine.universe.sorts))) == expected


@pytest.mark.parametrize("name", spec.of_kafka(["tiny_shutdown", "tiny_configuration"]))
def test_what_guards_read_tells_cases_apart_as_the_definition_reads_them(name: str) -> None:
    """On the first states: the cases of compiled code are those of the definition, in order."""
    graph = spec.graph("kafka", name)
    cases = list(takewhile(lambda case: case.source < CASED, graph.cases()))
    machine, form = graph.successors.machine, graph.successors.form
    expected: list[Transition] = []
    for number in range(CASED):
        state = graph.state(number)
        seen: set[object] = set()
        for operation, args in list_offered(machine, state):
            chosen = machine.operations[operation]
            assert isinstance(chosen, n.Operation)
            atoms = atoms_read(machine.evaluator, chosen, state, args)
            for outcome in machine.outcomes(state, operation, args):
                case = (operation, outcome.branch, form(outcome.state), atoms)
                if case not in seen:
                    seen.add(case)
                    step = TraceStep(operation, args, outcome.branch)
                    expected.append(Transition(number, step, outcome.reply))
    assert cases == expected and len(cases) > 100
