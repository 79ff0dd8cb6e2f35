"""What Kafka's own tests ask of the charter: recorded calls become questions of one operation."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from tests.benchmarks.kafka_calls import NEVER, translate
from tests.benchmarks.kafka_own_tests import ROOT, Questions, count, record, show
from tests.benchmarks.kafka_states import LeftOut, SingleQuestion

# fmt: off
BROKER = {"epoch": 100, "fenced": False, "shutting_down": False, "incarnation": "A",
          "registered_at": 5, "read": 9, "shutdown_at": -1, "session": True}
PARTITION = {"replicas": [3, 4], "adding": [], "removing": [], "isr": [3, 4], "elr": [],
             "last_known_elr": [-1], "leader": 3, "leader_epoch": 0, "partition_epoch": 2,
             "recovering": False}
BEFORE = {
    "brokers": {"3": BROKER, "4": {**BROKER, "epoch": 101, "fenced": True, "session": False}},
    "topics": [{"name": "foo", "id": "F", "min_isr": "2", "unclean": False,
                "parts": {"0": PARTITION}}],
    "min_isr": "1", "unclean": "false", "elr": True,
}
ALTERED = {"topic_id": "F", "part": 0, "leader_epoch": 0, "partition_epoch": 2, "recovery": 0,
           "isr": [[3, 100], [4, -1]]}
# fmt: on


def make_line(method, request, *, thrown="", fenced=()):
    done = {"fenced": list(fenced), "made": []}
    line = {"method": method, "request": request, "before": BEFORE, "thrown": thrown, "done": done}
    return json.loads(json.dumps(line))


def ask(method, request, **more):
    return list(translate(make_line(method, request, **more)))


def alter(**other):
    return {"from": 3, "epoch": 100, "parts": [{**ALTERED, **other}]}


def test_alter_partition_names_brokers_and_keeps_the_state():
    (question,) = ask("alterPartition", alter())
    assert isinstance(question, SingleQuestion)
    assert (question.operation, question.brokers, question.topics) == ("alter_partition", 2, 1)
    assert question.args["isr"] == ["b0", "b1"]
    assert question.args["isr_epochs"] == {"b0": "@100", "b1": None}
    assert question.state["config"]["min_insync_replicas"] == 2
    assert question.state["expired"] == ["b1"]
    assert question.state["partition"]["t0"]["leader"] == "b0"
    assert question.state["partition"]["t0"]["last_known_elr"] == []


def test_a_topic_that_is_not_there_was_never_issued():
    (question,) = ask("alterPartition", alter(topic_id="other"))
    assert question.args["topic_id"] == NEVER
    assert question.state["partition"] == {"t0": None}


@pytest.mark.parametrize(("method", "demand", "more", "reason"), [
    ("createPartitions", {}, {}, "the charter has no `createPartitions`"),
    ("alterPartition", alter(isr=[[3, 100], [3, 100]]), {}, "names a broker twice"),
    ("alterPartition", alter(part=7), {}, "a partition that its topic does not have"),
    ("unregisterBroker", {"broker": 3}, {"thrown": "NotControllerException"}, "NotController"),
    ("maybeFenceOneStaleBroker", {}, {}, "finds none"),
    ("unregisterBroker", {"broker": -3}, {}, "negative id"),
])  # fmt: skip
def test_a_call_that_the_charter_does_not_have_is_left_out(method, demand, more, reason):
    (left,) = ask(method, demand, **more)
    assert isinstance(left, LeftOut)
    assert reason in str(left)


def test_a_part_that_is_left_out_leaves_the_others():
    parts = [{**ALTERED, "part": 7}, ALTERED]
    first, second = ask("alterPartition", {"from": 3, "epoch": 100, "parts": parts})
    assert isinstance(first, LeftOut) and isinstance(second, SingleQuestion)


def test_null_replicas_cancel_a_reassignment():
    parts = [{"topic": "foo", "part": 0, "target": target} for target in (None, [4])]
    first, second = ask("alterPartitionReassignments", {"parts": parts})
    assert (first.operation, second.operation) == ("cancel_reassignment", "reassign")
    assert second.args == {"topic": "t0", "target": ["b1"]}


def test_the_broker_that_was_fenced_is_the_one_whose_session_expires():
    (question,) = ask("maybeFenceOneStaleBroker", {}, fenced=[3])
    assert (question.operation, question.args) == ("session_expires", {"broker": "b0"})


def test_an_unclean_election_from_time_to_time_concerns_all_partitions():
    (question,) = ask("maybeElectUncleanLeaders", {})
    assert (question.operation, question.topics, question.args) == ("elect_uncleanly", 1, {})


@pytest.mark.xdist_group("kafka is checked")
def test_a_call_with_elr_on_is_left_out_of_the_charter_without_it():
    found = count(Questions("pre_kip_966"), [make_line("unregisterBroker", {"broker": 3})])
    assert found.left_out == {"ELR is on, and `pre_kip_966` has none": 1}


@pytest.fixture(scope="module")
def questions():
    return Questions()


@pytest.mark.xdist_group("kafka is checked")
def test_questions_meet_what_the_charter_says_of_their_state(questions):
    lines = [
        make_line("alterPartition", alter()),
        make_line("alterPartition", alter()),
        make_line("alterPartition", alter(partition_epoch=9)),
        make_line("maybeFenceOneStaleBroker", {}, fenced=[3]),
    ]
    found = count(questions, lines)
    assert found.calls == 4
    assert found.questions == {"alter_partition": 1, "session_expires": 1}
    assert found.left_out == {"`alter_partition` assumes `epochs_read`": 1}
    branches = {name for name in found.met if name.startswith("branch ")}
    assert branches == {
        "branch alter_partition/ineligible_replica",
        "branch session_expires/fenced",
    }
    (question,) = ask("alterPartition", alter())
    other = replace(question, args={**question.args, "broker_epoch": "@99"})
    assert "branch alter_partition/stale_broker_epoch" in questions.list_met(other)


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize(("release", "variant", "heading"), [
    ("4.3.1", "", "What they never ask"),
    ("3.7.2", "pre_kip_966", "On 3.7.2"),
])  # fmt: skip
def test_kafkas_own_tests_never_ask_what_the_page_lists(release, variant, heading, tmp_path):
    lines = map(json.loads, record(release, tmp_path).read_text("utf-8").splitlines())
    counted = Questions(variant)
    report = "\n".join(show(counted, count(counted, lines)))
    never = re.compile(r"^- `(\w+/\w+)`$", re.MULTILINE)
    page = (ROOT / "docs" / "benchmarks" / "kafka-own-tests.md").read_text("utf-8")
    (section,) = [one for one in page.split("\n## ") if one.startswith(f"{heading}\n")]
    assert never.findall(report) == never.findall(section)
