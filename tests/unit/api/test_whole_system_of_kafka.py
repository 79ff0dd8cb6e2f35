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
from charter.semantics.evaluate import NotAssumed

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


def heartbeat(broker: str, step: int, *, fence: bool = False, stops: bool = False) -> OperationCall:
    epoch: Json = {"ref": [step, "registration", broker, "epoch"]}
    flags: dict[str, Json] = {"caught_up": True, "want_fence": fence, "want_shut_down": stops}
    return OperationCall("heartbeat", {"broker": broker, "epoch": epoch, **flags})


def stop(broker: str, step: int) -> OperationCall:
    return heartbeat(broker, step, stops=True)


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
    assert found == NotFoundInSystem((), why, impossible=True)


def test_broker_of_the_system_never_asks_to_stop_and_then_goes_on():
    created = OperationCall("create_topic", {"topic": "t", "replicas": ["r1"]})
    question = ask(*begin_with("r1"), created, stop("r1", 1), heartbeat("r1", 1))
    with pytest.raises(NotAssumed, match="keeps_stopping"):
        find_in_system(model("kafka"), question, LIMITS, quiet)


def down(broker: str) -> OperationCall:
    return OperationCall("session_expires", {"broker": broker})


def start_anew(broker: str) -> OperationCall:
    return OperationCall("register", {"broker": broker, "restarted": True, "previous_epoch": None})


def create(*replicas: str) -> OperationCall:
    return OperationCall("create_topic", {"topic": "t", "replicas": [*replicas]})


def reassign(*target: str) -> OperationCall:
    return OperationCall("reassign", {"topic": "t", "target": [*target]})


def need(minimum: int) -> OperationCall:
    return OperationCall("set_min_isr", {"minimum": minimum})


def of_topic(step: int, field: str) -> Json:
    return {"ref": [step, "partition", "t", field]}


def join(leader: str, joining: str, step: int, *others: str) -> OperationCall:
    """A leader proposes that a replica joins it."""
    isr = (leader, joining)
    epochs: dict[str, Json] = {
        one: {"ref": [step, "registration", one, "epoch"]} if one in isr else None
        for one in (*isr, *others)
    }
    names = ("topic_id", "leader_epoch", "partition_epoch")
    return OperationCall("alter_partition", {
        "from": leader, "broker_epoch": epochs[leader], "isr": [*isr], "isr_epochs": epochs,
        "recovering": False, **{name: of_topic(step, name) for name in names},
    })  # fmt: skip


def begin_with(*brokers: str) -> list[OperationCall]:
    """Brokers start in an empty cluster."""
    found: list[OperationCall] = []
    for broker in brokers:
        found += [register(broker), heartbeat(broker, len(found) + 1)]
    return found


PAIR, TRIO = ("r1", "r2"), ("r1", "r2", "r3")
BEGUN = {2: begin_with(*PAIR), 3: begin_with(*TRIO)}
ROWS = {
    # Moved from the first two replicas to the third, and then to all of them.
    "overridden_reassignment_lingers": (
        3, create("r1", "r2"), reassign("r3"), reassign("r1", "r2", "r3")
    ),
    # A replica that was taken out stays eligible; it comes back, and the other one fails.
    "stranger_has_no_directory": (
        2, need(2), create("r1", "r2"), down("r2"), reassign("r1"), heartbeat("r2", 8), down("r1"),
        reassign("r2", "r1"),
    ),
    # The feature is turned off, and the leader commits alone.
    "elr_survives_while_off": (
        2, need(2), create("r1", "r2"), down("r2"), OperationCall("set_elr", {"enabled": False}),
        need(1), heartbeat("r2", 9), down("r1"),
    ),
    # A new replica joins, the only old one fails, and the order is cancelled.
    "cancels_to_first_replica": (
        3, create("r1"), reassign("r2", "r3"), join("r1", "r2", 8, "r3"), down("r1"),
        OperationCall("set_unclean_election", {"enabled": True}),
        OperationCall("cancel_reassignment", {"topic": "t"}),
    ),
    # The same, and the old replica starts again, empty-handed.
    "last_known_leader_has_no_replica": (
        3, create("r1"), reassign("r2", "r3"), join("r1", "r2", 8, "r3"), down("r1"),
        OperationCall("set_unclean_election", {"enabled": True}),
        OperationCall("cancel_reassignment", {"topic": "t"}), start_anew("r1"),
    ),
    # One leaves the ISR, the minimum is lowered, the topic goes, and the broker is back.
    "cleared_elr_stays_in_index": (
        2, need(2), create("r1", "r2"), down("r2"), need(1),
        OperationCall("delete_topic", {"topic_id": of_topic(7, "topic_id")}), start_anew("r2"),
    ),
    # A replica that was taken out stays eligible.
    "elr_keeps_strangers": (2, need(2), create("r1", "r2"), down("r2"), reassign("r1")),
    # Nobody can lead but a new replica, and the preferred leader is down.
    "any_change_does_all": (
        3, OperationCall("set_unclean_election", {"enabled": True}), create("r2", "r3"), down("r2"),
        reassign("r2", "r1"), down("r3"),
        OperationCall("elect_leader", {"topic": "t", "unclean": False}),
    ),
    # The first two stop one after the other, and another controller takes over in between.
    "forgets_who_is_stopping": (
        3, create("r1", "r2", "r3"), stop("r1", 1), OperationCall("failover", {}), stop("r2", 3),
        heartbeat("r3", 5), stop("r2", 3),
    ),
    # By design: a partition is moved to fewer replicas than the minimum,
    "completes_below_min_isr": (2, need(2), create("r1", "r2"), reassign("r1")),
    # gets one more replica,
    "completes_in_old_epoch": (2, create("r1"), reassign("r1", "r2"), join("r1", "r2", 6)),
    # and another one before that is in sync.
    "overridden_additions_are_replicas": (
        3, create("r1"), reassign("r1", "r2"), reassign("r1", "r2", "r3")
    ),
}  # fmt: skip
"""The ordinary operations of a finding on Kafka's controller, after the brokers have started."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_operations_of_a_finding_happen_in_the_system_from_an_empty_cluster(name: str):
    count, *calls = ROWS[name]
    assert isinstance(count, int)
    sorts = {"Broker": {b: i for i, b in enumerate(TRIO[:count], 1)}, "Topic": {"t": 0}}
    question = replace(ask(*BEGUN[count], *calls), sorts=sorts)  # type: ignore[arg-type]
    found = find_in_system(model("kafka"), question, SystemLimits(), quiet)
    assert isinstance(found, FoundInSystem) and found.begins == 0
    rules = [rule for step in found.story.steps for rule in step.rules]
    performed = [rule for rule in rules if rule.startswith("controller.")]
    assert [rule.partition("/")[0].partition(".")[2] for rule in performed] == [
        call.operation for call in question.operations
    ]
