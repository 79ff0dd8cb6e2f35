"""Operations of Kafka's controller that its system can ask for, and some that no step asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.spec import model

from charter.api.whole_system import (
    FoundInSystem,
    NotFoundInSystem,
    SystemLimits,
    find_in_system,
)
from charter.formats.canonical import Json
from charter.formats.vector import OperationCall, Question

BROKERS = {"r1": 1, "r2": 2}
LIMITS = SystemLimits(states=20_000, instance="pair")


def quiet(distinct: int, generated: int, level: int, queue: int, doing: str = "", /) -> None:
    pass


def ask(*calls: OperationCall) -> Question:
    sorts = {"Broker": BROKERS, "Topic": {"t": 0}}
    return Question("kafka.replication", "", "controller", sorts, None, calls)


def register(broker: str) -> OperationCall:
    args = {"broker": broker, "restarted": False, "previous_epoch": None}
    return OperationCall("register", args)


def heartbeat(broker: str, step: int, *, fence: bool = False) -> OperationCall:
    epoch: Json = {"ref": [step, "registration", broker, "epoch"]}
    flags: dict[str, Json] = {"caught_up": True, "want_fence": fence, "want_shut_down": False}
    return OperationCall("heartbeat", {"broker": broker, "epoch": epoch, **flags})


def test_topic_is_created_and_deleted_in_the_system():
    created = OperationCall("create_topic", {"topic": "t", "replicas": ["r1"]})
    topic: Json = {"ref": [3, "partition", "t", "topic_id"]}
    deleted = OperationCall("delete_topic", {"topic_id": topic})
    question = ask(register("r1"), heartbeat("r1", 1), created, deleted)
    found = find_in_system(model("kafka"), question, LIMITS, quiet)
    assert isinstance(found, FoundInSystem)
    taken = [rule for step in found.story.steps for rule in step.rules]
    called = [rule for rule in taken if rule.startswith("controller.")]
    assert called == [
        "controller.register/unclean",
        "controller.heartbeat/unfenced",
        "controller.create_topic/created",
        "controller.delete_topic/deleted",
    ]
    assert found.begins == 0 and found.instance == "pair"


def test_broker_of_the_system_never_asks_to_be_fenced():
    question = ask(register("r1"), heartbeat("r1", 1), heartbeat("r1", 2, fence=True))
    found = find_in_system(model("kafka"), question, LIMITS, quiet)
    why = "no step of cluster calls heartbeat with want_fence: true"
    assert found == NotFoundInSystem((), why)


@pytest.mark.slow
def test_index_of_eligible_replicas_outlives_its_topic_in_the_system():
    # Two leave the ISR, the minimum is lowered, the topic goes, and one of them is back.
    brokers = ("r1", "r2", "r3")
    topic: Json = {"ref": [11, "partition", "t", "topic_id"]}
    calls: list[OperationCall] = []
    for broker in brokers:
        calls += [register(broker), heartbeat(broker, len(calls) + 1)]
    calls += [
        OperationCall("set_min_isr", {"minimum": 2}),
        OperationCall("create_topic", {"topic": "t", "replicas": [*brokers]}),
        OperationCall("session_expires", {"broker": "r2"}),
        OperationCall("session_expires", {"broker": "r3"}),
        OperationCall("set_min_isr", {"minimum": 1}),
        OperationCall("delete_topic", {"topic_id": topic}),
        OperationCall("register", {"broker": "r2", "restarted": True, "previous_epoch": None}),
    ]
    question = replace(
        ask(*calls), sorts={"Broker": {"r1": 1, "r2": 2, "r3": 3}, "Topic": {"t": 0}}
    )
    limits = SystemLimits(states=300_000, instance="pair_both_lost")
    found = find_in_system(model("kafka"), question, limits, quiet)
    assert isinstance(found, FoundInSystem)
    assert [step.operation for step in found.story.steps][-4:] == [
        "delete_topic", "lose_power", "start", "register",
    ]  # fmt: skip
