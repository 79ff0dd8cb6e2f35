"""The Kafka controller adapter, on Kafka 4.3.1.

The first run fetches the jars into the cache: an unreachable registry is a failure, not a skip.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from conform.adapters import targets

pytestmark = pytest.mark.xdist_group("real Kafka")

RELEASE = "4.3.1"
BROKERS = ("b1", "b2", "b3")
SORTS = {"Broker": {"b1": 0, "b2": 7, "b3": 2147483647}, "Topic": {"t1": 0}}
PARTITION = ("partition", "t1")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an answer, with the values in the place of their indices."""

    reply: dict[str, object] | None
    observation: dict[str, dict[str, dict[str, object]]]
    image: dict[str, object] | None

    def partition(self) -> dict[str, object]:
        return self.observation["partition"]["t1"]

    def pools(self) -> tuple[object, object, object, object]:
        """Leader, ISR, ELR, last known ELR."""
        now = self.partition()
        return now["leader"], now["isr"], now["elr"], now["last_known_elr"]


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    detail: str
    steps: list[Step]

    def replies(self) -> list[object]:
        """The word of each reply: its error, its case, or the name of the fault."""
        said = [step.reply for step in self.steps[1:]]
        return [s and (s.get("error") or s.get("case") or s.get("fault")) for s in said]


class Kafka:
    """One adapter process."""

    def __init__(self, command: tuple[str, ...], errors: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.welcome = self.say({"hello": 1, "release": RELEASE, "variant": "", "errors": errors})

    def say(self, message: Mapping[str, object]) -> dict[str, object]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert isinstance(answer, dict)
        return answer

    def ask(self, question: Question) -> Answer:
        (answer,) = self.ask_all([question])
        return answer

    def ask_all(self, questions: list[Question]) -> list[Answer]:
        message = {"run": 1, "questions": [question.as_json() for question in questions]}
        said: dict[str, object] = self.say(message)
        return _answers(said)

    def end(self) -> int:
        """Close stdin and wait."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(timeout=10)
        self.process.stdout.close()
        return code


def _answers(said: dict[str, object]) -> list[Answer]:
    values, results = said["values"], said["results"]
    assert isinstance(values, list) and isinstance(results, list)
    answers = []
    for result in results:
        held = [[values[i] if i >= 0 else None for i in step] for step in result["steps"]]
        steps = [Step(reply, seen or {}, image) for reply, seen, image in held]
        answers.append(Answer(result["status"], result["detail"], steps))
    return answers


@dataclass(slots=True)
class Question:
    """A question under construction; references point at the observation before the operation."""

    given: object = None
    delta: object = "each"
    operations: list[dict[str, object]] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        return {
            "id": "q",
            "nonce": "n-1",
            "sorts": SORTS,
            "given": self.given,
            "operations": self.operations,
            "delta": self.delta,
        }

    def do(self, operation: str, **args: object) -> Question:
        self.operations.append({"operation": operation, "args": args})
        return self

    def now(self, *path: str, **more: int) -> dict[str, object]:
        return {"ref": [len(self.operations), *path], **more}

    def register(self, broker: str, restarted: bool = True, previous: object = None) -> Question:
        return self.do("register", broker=broker, restarted=restarted, previous_epoch=previous)

    def heartbeat(self, broker: str, **wants: bool) -> Question:
        args = {"caught_up": True, "want_fence": False, "want_shut_down": False, **wants}
        return self.do(
            "heartbeat", broker=broker, epoch=self.now("registration", broker, "epoch"), **args
        )

    def alter(self, leader: str, isr: list[str], **others: object) -> Question:
        epochs = {b: self.now("registration", b, "epoch") if b in isr else None for b in BROKERS}
        args: dict[str, object] = {
            "from": leader,
            "broker_epoch": self.now("registration", leader, "epoch"),
            "topic_id": self.now(*PARTITION, "topic_id"),
            "leader_epoch": self.now(*PARTITION, "leader_epoch"),
            "partition_epoch": self.now(*PARTITION, "partition_epoch"),
            "isr": isr,
            "isr_epochs": epochs,
            "recovering": False,
        }
        return self.do("alter_partition", **{**args, **others})


def cluster(min_isr: int = 2, **more: object) -> Question:
    """Three running brokers that replicate t1: eight steps."""
    question = Question(**more)  # type: ignore[arg-type]
    question.do("set_min_isr", minimum=min_isr)
    for broker in BROKERS:
        question.register(broker).heartbeat(broker)
    return question.do("create_topic", topic="t1", replicas=list(BROKERS))


@pytest.fixture(scope="module")
def prepared() -> targets.Prepared:
    return targets.prepare(targets.target("kafka-controller"), RELEASE, {})


@pytest.fixture(scope="module")
def kafka(prepared: targets.Prepared) -> Iterator[Kafka]:
    process = Kafka(prepared.start.command, prepared.start.errors)
    yield process
    assert process.end() == 0


def test_a_late_registration_takes_the_session_when_the_broker_is_fenced(kafka: Kafka) -> None:
    """Scenario D-E3: which of two processes registers last the controller cannot know."""
    question = Question().register("b2").heartbeat("b2").do("session_expires", broker="b2")
    question.register("b2")
    running = question.now("registration", "b2", "epoch")
    question.register("b2")
    wants = {"caught_up": True, "want_fence": False, "want_shut_down": False}
    answer = kafka.ask(question.do("heartbeat", broker="b2", epoch=running, **wants))
    assert answer.replies()[-3:] == ["registered", "registered", "STALE_BROKER_EPOCH"]
    assert answer.steps[-1].observation["registration"]["b2"]["fenced"] is True


def test_hello_tells_the_release_of_the_jars(kafka: Kafka) -> None:
    assert kafka.welcome["version"] == RELEASE
    assert kafka.welcome["observes"] == ["config", "partition", "registration"]
    assert {"load", "image", "elr_feature"} <= set(kafka.welcome["capabilities"])  # type: ignore[call-overload]


def test_s1_e1_elects_the_eligible_replica_when_the_last_one_in_sync_comes_back_suspect(
    kafka: Kafka,
) -> None:
    question = cluster()
    for broker in ("b3", "b2", "b1"):
        question.do("session_expires", broker=broker)
    question.register("b1", True).heartbeat("b2").heartbeat("b1").alter("b2", ["b1", "b2"])
    answer = kafka.ask(question)
    assert answer.status == "ok"
    assert [step.pools() for step in answer.steps[8:]] == [
        ("b1", ["b1", "b2", "b3"], [], []),
        ("b1", ["b1", "b2"], [], []),
        ("b1", ["b1"], ["b2"], []),
        (None, [], ["b1", "b2"], ["b1"]),
        (None, [], ["b2"], ["b1"]),
        ("b2", ["b2"], [], []),
        ("b2", ["b2"], [], []),
        ("b2", ["b1", "b2"], [], []),
    ]


def everything(operations: object) -> Question:
    """Each of the operations of a release at least once, none of them rejected but one."""
    assert isinstance(operations, list)
    question = cluster()
    question.do("reassign", topic="t1", target=["b2", "b1"])
    question.do("reassign", topic="t1", target=["b1", "b2", "b3"])
    question.do("cancel_reassignment", topic="t1")
    question.alter("b1", ["b1", "b2"])
    question.do("elect_leader", topic="t1", unclean=False)
    question.do("balance_leaders").do("set_unclean_election", enabled=True)
    question.do("set_elr", enabled=False).do("set_elr", enabled=True).do("failover")
    for later in ("load_snapshot", "elect_uncleanly"):
        if later in operations:
            question.do(later)
    question.do("unregister", broker="b3").do("session_ends", broker="b2")
    question.do("session_expires", broker="b2")
    return question.do("delete_topic", topic_id=question.now(*PARTITION, "topic_id"))


def test_every_operation_is_performed_when_asked(kafka: Kafka) -> None:
    operations = kafka.welcome["operations"]
    question = everything(operations)
    answer = kafka.ask(question)
    assert answer.status == "ok"
    assert sorted({str(done["operation"]) for done in question.operations}) == operations
    replies = answer.replies()[8:]
    assert replies == [*["done"] * 3, "altered", "ELECTION_NOT_NEEDED", *["done"] * 11]
    assert answer.steps[-1].observation["partition"] == {"t1": None}


@pytest.mark.slow
@pytest.mark.parametrize("release", targets.target("kafka-controller").releases)
def test_every_release_performs_its_operations(release: str) -> None:
    ready = targets.prepare(targets.target("kafka-controller"), release, {})
    kafka = Kafka(ready.start.command, ready.start.errors)
    question = everything(kafka.welcome["operations"])
    answer = kafka.ask(question)
    assert (answer.status, len(answer.steps)) == ("ok", len(question.operations) + 1)
    assert {"rejected", "fault"}.isdisjoint(
        step.reply["case"] for step in answer.steps[1:4] if step.reply
    )
    assert all(
        step.image == {k: v for k, v in step.observation.items() if k != "config"}
        for step in answer.steps
    )
    assert kafka.end() == 0


def state(**partition: object) -> dict[str, object]:
    """A durable state: b1 leads t1 alone, b2 is eligible, b3 is not registered."""
    whole = {
        "topic_id": "~17",
        "replicas": ["b2", "b1", "b3"],
        "adding": [],
        "removing": [],
        "isr": ["b1"],
        "elr": ["b2"],
        "last_known_elr": [],
        "leader": "b1",
        "leader_epoch": 4,
        "partition_epoch": 9,
        "recovering": False,
        **partition,
    }
    known = {"shutting_down": False}
    return {
        "partition": {"t1": whole},
        "registration": {
            "b1": {"epoch": "@30", "fenced": False, **known},
            "b2": {"epoch": "@12", "fenced": True, **known},
            "b3": None,
        },
        "config": {"min_insync_replicas": 2, "unclean_election": False, "elr": True},
    }


def test_a_given_state_is_observed_as_it_was_given(kafka: Kafka) -> None:
    given = {**state(), "last_broker_epoch": "@40", "last_topic_id": "~17"}
    answer = kafka.ask(Question(given=given).register("b3"))
    assert answer.status == "ok"
    assert answer.steps[0].observation == state()
    registered = answer.steps[1].observation["registration"]["b3"]
    assert int(str(registered["epoch"])[1:]) > 40


def test_a_given_state_acts_like_one_reached_by_operations(kafka: Kafka) -> None:
    question = Question(given=state()).do("session_expires", broker="b1").heartbeat("b2")
    answer = kafka.ask(question)
    assert [step.pools() for step in answer.steps[1:]] == [
        (None, [], ["b1", "b2"], ["b1"]),
        ("b2", ["b2"], ["b1"], []),
    ]


def test_a_state_that_no_record_can_hold_is_not_loadable(kafka: Kafka) -> None:
    answer = kafka.ask(Question(given={**state(), "quota": 3}))
    assert (answer.status, "quota" in answer.detail) == ("not_loadable", True)


def test_a_state_that_reads_back_otherwise_is_not_loadable(kafka: Kafka) -> None:
    answer = kafka.ask(Question(given=state(isr=["b2", "b1"])))
    assert answer.status == "not_loadable"
    assert 'reads back as {"t1"' in answer.detail


def test_references_are_resolved_from_what_was_observed(kafka: Kafka) -> None:
    question = cluster()
    question.alter(
        "b1", ["b1", "b2"], partition_epoch=question.now(*PARTITION, "partition_epoch", plus=1)
    )
    question.alter(
        "b1", ["b1", "b2"], leader_epoch=question.now(*PARTITION, "leader_epoch", plus=-1)
    )
    question.alter("b1", ["b1", "b2"], topic_id={"never_issued": True})
    question.alter("b1", ["b1", "b2"], broker_epoch={"never_issued": True})
    question.alter("b1", ["b1", "b2"], isr_epochs={"b1": None, "b2": {"never_issued": True}})
    question.alter("b1", ["b1", "b2"], isr_epochs=dict.fromkeys(BROKERS))
    assert kafka.ask(question).replies()[8:] == [
        "NOT_CONTROLLER",
        "FENCED_LEADER_EPOCH",
        "UNKNOWN_TOPIC_ID",
        "STALE_BROKER_EPOCH",
        "INELIGIBLE_REPLICA",
        "altered",
    ]


def test_a_reference_that_leads_nowhere_ends_the_question_unresolved(kafka: Kafka) -> None:
    answer = kafka.ask(Question().register("b1").heartbeat("b2").register("b3"))
    assert (answer.status, len(answer.steps)) == ("unresolved", 2)


def test_an_unknown_operation_is_unsupported(kafka: Kafka) -> None:
    answer = kafka.ask(Question().do("create_partitions"))
    assert (answer.status, answer.detail) == ("unsupported", "create_partitions")


def test_a_question_that_does_not_fit_is_an_error_and_no_fault_of_kafka(kafka: Kafka) -> None:
    missing, wrong, fine = kafka.ask_all(
        [
            Question().do("register", broker="b1"),
            Question().do("create_topic", topic="t1", replicas={"b1": 1}),
            Question().register("b1"),
        ]
    )
    assert [missing.status, wrong.status, fine.status] == ["error", "error", "ok"]


@pytest.mark.parametrize("ends", ["session_expires", "session_ends"])
def test_a_live_broker_is_not_replaced_until_its_session_ends(kafka: Kafka, ends: str) -> None:
    question = Question().register("b1").heartbeat("b1").register("b1", True)
    question.do(ends, broker="b2").register("b1", True)
    question.do(ends, broker="b1").register("b1", True)
    duplicate = "DUPLICATE_BROKER_REGISTRATION"
    expected = ["registered", "alive", duplicate, "done", duplicate, "done", "registered"]
    assert kafka.ask(question).replies() == expected


def test_a_broker_that_comes_back_with_its_epoch_keeps_its_place_in_the_elr(kafka: Kafka) -> None:
    pools = []
    for clean in (True, False):
        question = cluster()
        for broker in ("b3", "b2"):
            question.do("session_expires", broker=broker)
        previous = question.now("registration", "b2", "epoch") if clean else None
        pools.append(kafka.ask(question.register("b2", True, previous)).steps[-1].pools())
    assert pools == [("b1", ["b1"], ["b2"], []), ("b1", ["b1"], [], [])]


def test_controlled_shutdown_ends_once_the_others_have_caught_up(kafka: Kafka) -> None:
    question = cluster().heartbeat("b1", want_shut_down=True).heartbeat("b1", want_shut_down=True)
    question.heartbeat("b2").heartbeat("b3").heartbeat("b1", want_shut_down=True)
    answer = kafka.ask(question)
    replies = [step.reply for step in answer.steps[9:]]
    assert [reply and reply["should_shut_down"] for reply in replies] == [False] * 4 + [True]
    assert answer.steps[9].observation["registration"]["b1"]["shutting_down"] is True
    assert answer.steps[-1].observation["registration"]["b1"]["fenced"] is True


def test_what_a_broker_has_read_stays_when_another_process_of_it_is_refused(kafka: Kafka) -> None:
    question = cluster().heartbeat("b1", want_shut_down=True).heartbeat("b3")
    question.register("b2", restarted=False).register("b2").heartbeat("b2", caught_up=False)
    answer = kafka.ask(question.heartbeat("b1", want_shut_down=True))
    assert answer.replies()[-3:] == ["DUPLICATE_BROKER_REGISTRATION", "alive", "alive"]
    reply = answer.steps[-1].reply
    assert reply is not None and reply["should_shut_down"] is False, "b2 has not read who leads"


def test_a_new_controller_shows_what_the_old_one_showed(kafka: Kafka) -> None:
    question = cluster().do("session_expires", broker="b3").do("session_expires", broker="b2")
    answer = kafka.ask(question.do("failover"))
    assert answer.steps[-1].observation == answer.steps[-2].observation


def test_a_snapshot_has_what_the_log_had(kafka: Kafka) -> None:
    question = cluster().do("session_expires", broker="b3").do("session_expires", broker="b2")
    answer = kafka.ask(question.do("load_snapshot").heartbeat("b3"))
    assert answer.steps[-2].observation == answer.steps[-3].observation
    assert answer.steps[-2].image == answer.steps[-3].image
    assert answer.steps[-1].observation["registration"]["b3"]["fenced"] is False


def test_a_snapshot_lacks_the_elr_when_it_was_written_while_elr_is_off(kafka: Kafka) -> None:
    question = cluster().do("session_expires", broker="b3").do("session_expires", broker="b2")
    answer = kafka.ask(question.do("set_elr", enabled=False).do("load_snapshot"))
    assert [step.pools() for step in answer.steps[-2:]] == [
        ("b1", ["b1"], ["b2"], []),
        ("b1", ["b1"], [], []),
    ]


def test_the_periodic_task_elects_uncleanly_when_that_was_allowed_too_late(kafka: Kafka) -> None:
    question = cluster(min_isr=1).alter("b1", ["b1"]).do("session_expires", broker="b1")
    question.do("elect_uncleanly").do("set_unclean_election", enabled=True)
    answer = kafka.ask(question.do("elect_uncleanly"))
    leaders = [step.pools()[0] for step in answer.steps[-3:]]
    assert leaders[:2] == [None, None] and leaders[2] in ("b2", "b3")


def test_the_image_follows_at_the_boundaries_only(kafka: Kafka) -> None:
    question = cluster().do("session_expires", broker="b3").do("session_expires", broker="b2")
    question.delta = [7, 10]
    steps = kafka.ask(question).steps
    assert [number for number, step in enumerate(steps) if step.image is not None] == [7, 10]
    for step in (steps[7], steps[10]):
        assert step.image == {k: v for k, v in step.observation.items() if k != "config"}


def test_equal_questions_have_equal_answers(kafka: Kafka) -> None:
    first, second = kafka.ask_all([cluster().alter("b1", ["b1"]), cluster().alter("b1", ["b1"])])
    assert first == second


def faulty() -> Question:
    """ELR members that a change of the minimum cleared stay in the controller's index: KAFKA's
    own RuntimeException when such a broker is unregistered after the topic is gone."""
    question = cluster().do("session_expires", broker="b3").do("session_expires", broker="b2")
    question.do("set_min_isr", minimum=2)
    question.do("delete_topic", topic_id=question.now(*PARTITION, "topic_id"))
    return question.do("unregister", broker="b2").do("unregister", broker="b3")


def test_an_exception_that_the_protocol_does_not_name_is_a_fault_and_the_last_step(
    kafka: Kafka,
) -> None:
    answer = kafka.ask(faulty())
    assert (answer.status, len(answer.steps)) == ("ok", 14)
    assert answer.replies()[-1] == "java.lang.RuntimeException"
    assert answer.steps[-1].reply is not None
    assert "Topic ID ~1 existed" in str(answer.steps[-1].reply["message"])


def test_a_code_that_the_table_does_not_list_is_a_fault(prepared: targets.Prepared) -> None:
    kafka = Kafka(prepared.start.command, {"UNKNOWN_TOPIC_ID": "UNKNOWN_TOPIC_ID"})
    answer = kafka.ask(Question().do("unregister", broker="b1").register("b1"))
    assert answer.replies() == ["BROKER_ID_NOT_REGISTERED"]
    assert answer.steps[-1].reply is not None and "fault" in answer.steps[-1].reply
    assert kafka.end() == 0


def take_turns(kafka: Kafka, questions: list[Question]) -> list[Answer]:
    """The answers to questions that are put as sessions, one step of each in turn."""
    begun = [{**one.as_json(), "id": f"s{number}"} for number, one in enumerate(questions)]
    said = [kafka.say({"run": 1, "end": [], "begin": begun, "steps": []})]
    for step in range(max(len(one.operations) for one in questions)):
        steps = [
            {"id": f"s{number}", "nonce": "n-1", **one.operations[step]}
            for number, one in enumerate(questions)
            if step < len(one.operations)
        ]
        said.append(kafka.say({"run": 2, "end": [], "begin": [], "steps": steps}))
    found = [Answer("ok", "", []) for _ in questions]
    for message in said:
        results = message["results"]
        assert isinstance(results, list)
        for result, answer in zip(results, _answers(message), strict=True):
            found[int(result["id"][1:])].steps.extend(answer.steps)
            over = f"no session {result['id']} is open"
            assert (answer.status, answer.detail) in (("ok", ""), ("error", over))
    return found


def test_a_session_answers_as_its_question_while_others_are_open(kafka: Kafka) -> None:
    """References lead to what was shown in other messages, and a fault ends a session alone."""
    questions = [cluster().alter("b1", ["b1"]), faulty(), cluster(min_isr=1).alter("b1", ["b1"])]
    assert kafka.welcome["sessions"] == 64
    assert take_turns(kafka, questions) == kafka.ask_all(questions)
    late = {"id": "s0", "nonce": "n-1", "operation": "failover", "args": {}}
    said = kafka.say({"run": 3, "end": [], "begin": [], "steps": [late]})
    assert [answer.detail for answer in _answers(said)] == ["no session s0 is open"]
