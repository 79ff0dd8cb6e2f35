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
from charter_models.prelude import Json

SPEC = Path(__file__).resolve().parents[2] / "spec" / "kafka"
STATES = 150
CASED = 12


TINY = [
    "tiny_elr", "tiny_reassignment", "tiny_proposals", "tiny_shutdown", "tiny_configuration",
    "tiny_topics", "tiny_snapshot", "tiny_unclean_task", "tiny_lapsed",
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


RUNNING: dict[str, Json] = {
    "b1": {"epoch": "@5", "fenced": False, "shutting_down": True},
    "b2": {"epoch": "@3", "fenced": False, "shutting_down": False},
    "b3": None,
}
"""Broker 1 stops; broker 3 is not registered. The last epoch that was given is 6."""


def heartbeat(broker: str, epoch: str, **more: bool) -> dict[str, Json]:
    wishes: dict[str, Json] = {"caught_up": True, "want_fence": False, "want_shut_down": False}
    return {"broker": broker, "epoch": epoch, **wishes, **more}


def proposal(**more: Json) -> dict[str, Json]:
    """What broker 2 proposes, as it leads in leader epoch 1 and partition epoch 2."""
    sound: dict[str, Json] = {
        "from": "b2", "broker_epoch": "@3", "topic_id": "~1", "leader_epoch": 1,
        "partition_epoch": 2, "isr": ["b1", "b2"],
        "isr_epochs": {"b1": "@5", "b2": None, "b3": None}, "recovering": False,
    }  # fmt: skip
    return {**sound, **more}


def make_start(broker: str, epoch: str) -> dict[str, Json]:
    return {"broker": broker, "restarted": True, "previous_epoch": epoch}


@pytest.mark.parametrize(
    "operation, args, may_happen",
    [
        ("heartbeat", heartbeat("b1", "@5", want_shut_down=True), True),
        # What the entry elects_while_shutting_down of earlier overlays was found by.
        ("heartbeat", heartbeat("b1", "@5"), False),
        ("heartbeat", heartbeat("b1", "@5", want_fence=True), False),
        ("heartbeat", heartbeat("b1", "@1"), True),
        ("heartbeat", heartbeat("b2", "@5"), False),
        ("heartbeat", heartbeat("b2", "@6"), False),
        ("heartbeat", heartbeat("b3", "@6"), True),
        ("heartbeat", heartbeat("b3", "@7"), False),
        ("register", make_start("b2", "@3"), True),
        ("register", make_start("b2", "@4"), False),
        ("register", make_start("b3", "@5"), False),
        ("alter_partition", proposal(), True),
        ("alter_partition", proposal(leader_epoch=0, partition_epoch=1), True),
        ("alter_partition", proposal(leader_epoch=2), False),
        ("alter_partition", proposal(partition_epoch=3), False),
        ("alter_partition", proposal(topic_id="~2", partition_epoch=3), True),
        ("alter_partition", proposal(broker_epoch="@4"), False),
        ("alter_partition", proposal(isr=["b2"]), False),
        ("alter_partition", proposal(isr_epochs={"b1": "@6", "b2": None, "b3": None}), False),
    ],
)
def test_nobody_asks_what_no_broker_sends(
    operation: str, args: dict[str, Json], may_happen: bool
) -> None:
    led: Json = {
        "topic_id": "~1", "replicas": ["b1", "b2"], "isr": ["b2"], "leader": "b2",
        "leader_epoch": 1, "partition_epoch": 2, "elr": ["b1"], "last_known_elr": [],
        "adding": [], "removing": [], "recovering": False,
    }  # fmt: skip
    durable: dict[str, Json] = {
        "partition": {"t1": led}, "registration": RUNNING,
        "config": {"min_insync_replicas": 2, "unclean_election": False, "elr": True},
        "last_broker_epoch": "@6", "last_topic_id": "~1",
    }  # fmt: skip
    state = controller.given(durable, {"Broker": ("b1", "b2", "b3"), "Topic": ("t1",)})
    assert controller.assumed(state, operation, args) is may_happen
