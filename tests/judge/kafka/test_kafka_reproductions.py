"""The programs that show findings on Kafka's managers: what they say for each release, and how
their lines are read."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from charter.formats.releases import numbers
from conform.adapters.targets import check_reproduction, target
from conform.reports.reproduction import (
    BadTemplate,
    ReproducedFinding,
    file_name,
    write_reproduction,
)
from conform.runs.reproduce.case import LEFT_OUT, SHOWS, CaseCheck, CaseStep, ReproducedCase

TARGET = target("kafka-controller")
PLAIN = next(kind for kind in TARGET.reproductions if kind.name == "plain")
JUNIT = next(kind for kind in TARGET.reproductions if kind.name == "junit")
STEPS = {
    "register": {"broker": "b1", "restarted": False, "previous_epoch": None},
    "heartbeat": {"broker": "b1", "epoch": {"ref": [1, "registration", "b1", "epoch"], "now": True},
                  "caught_up": True, "want_fence": False, "want_shut_down": False},
    "session_expires": {"broker": "b1"},
    "unregister": {"broker": "b1"},
    "failover": {},
    "create_topic": {"topic": "t1", "replicas": ["b1"]},
    "delete_topic": {"topic_id": {"ref": [1, "partition", "t1", "topic_id"], "now": True}},
    "reassign": {"topic": "t1", "target": ["b1"]},
    "cancel_reassignment": {"topic": "t1"},
    "elect_leader": {"topic": "t1", "unclean": False},
    "balance_leaders": {},
    "set_min_isr": {"minimum": 2},
    "set_unclean_election": {"enabled": True},
}  # fmt: skip
LATER = {"load_snapshot": (3, 4), "elect_uncleanly": (3, 9)}
"""Operations that not all releases have, and the first one that has it."""

ISR = CaseCheck(("partition", "t1", "isr"), ["b1"], [])
FENCED = CaseCheck(("fenced",), True, False, is_reply=True)
THERE_AGAIN = CaseCheck(("partition", "t1"), None, {"isr": []}, in_image=True)
CANNOT_BE_MADE = CaseCheck((), None, {"fault": "it"}, in_image=True)


DONE = {"case": "done"}
REFUSED = {"case": "rejected", "error": "DUPLICATE_BROKER_REGISTRATION"}


def reproduce(release, shown_by="", steps=None, check=ISR, kind=PLAIN):
    """The text of a program with one statement for each operation, and the reply in its args."""
    made = tuple(
        CaseStep(number, operation, args, operation, args.get("reply", DONE), published=number == 1)
        for number, (operation, args) in enumerate((steps or STEPS).items(), 1)
    )
    cases = [
        ReproducedCase(name, made, (check,), frozenset({"it"}), gone)
        for name, gone in ((SHOWS, ()), (LEFT_OUT, ("failover()",)))
    ]
    sorts = {"Broker": {"b1": 1}, "Topic": {"t1": 1}}
    finding = ReproducedFinding(
        "isr_is_empty", 'It says "no".', TARGET.id, release, sorts, *cases, shown_by=shown_by
    )
    return write_reproduction(TARGET.folder, kind, finding)


@pytest.mark.parametrize("release", TARGET.releases)
def test_program_has_all_operations_in_the_shape_of_each_release(release):
    text = reproduce(release)
    assert "{%" not in text and "{{" not in text and text.count("{") == text.count("}")
    assert "public class IsrIsEmpty {" in text and r'"It says \"no\"."' in text
    assert 'compare("partition.t1.isr", Set.of(1), set(partition(T1).isr));' in text
    here = numbers(release)
    assert ("utils.internals.LogContext" in text) == (here >= (4, 4))
    assert ("cluster.trackBrokerHeartbeat(broker, epoch);" in text) == (here >= (4, 0))
    assert ("setControllerMetrics" in text) == (here < (3, 3, 2))
    assert ("request, Set.of(), false)" in text) == (here >= (4, 3))
    assert f"the jars of Kafka {release} alone" in text


@pytest.mark.parametrize("release", ["3.3.2", "3.4.0", "3.8.1", "3.9.0", "3.9.2", "4.0.0", "4.4.0"])
@pytest.mark.parametrize(("operation", "call"), [
    ("load_snapshot", "loadSnapshot();"), ("elect_uncleanly", "electUncleanly();"),
])  # fmt: skip
def test_program_has_an_operation_that_came_later_in_the_releases_that_have_it(
    release, operation, call
):
    first = LATER[operation]
    steps = {**STEPS, operation: {}}
    if numbers(release) < first:
        with pytest.raises(BadTemplate, match=rf"before {first[0]}\.{first[1]} "):
            reproduce(release, steps=steps)
        return
    text = reproduce(release, steps=steps)
    assert text.count(f" {call}\n") == 2, "once in each case"
    assert text.count("{") == text.count("}") and call not in reproduce(release)
    new_writer = "new ImageWriterOptions.Builder(whole).build()" in text
    assert new_writer == (operation == "load_snapshot" and numbers(release) >= (4, 0))


def test_program_for_a_release_that_mended_it_says_so():
    assert "On 3.9.0 nothing is wrong" in reproduce("3.9.0", shown_by="3.8.1").replace("\n * ", " ")
    with pytest.raises(BadTemplate, match=r"before 4\.0 no feature switches ELR on"):
        reproduce("3.9.2", steps={"set_elr": {"enabled": False}})


def test_program_compares_an_answer_to_a_heartbeat():
    text = reproduce("3.6.2", check=FENCED)
    assert 'compare("reply.fenced", true, answered.isFenced());' in text
    with pytest.raises(BadTemplate, match="nothing reads leader of a reply"):
        reproduce("3.6.2", check=CaseCheck(("leader",), 1, 2, is_reply=True))


def test_program_compares_what_brokers_see_once_it_is_published():
    steps = {name: args for name, args in STEPS.items() if name != "failover"}
    text = reproduce("4.0.0", check=THERE_AGAIN, steps=steps)
    assert 'compare("whether brokers have t1", false, image.topics().getTopic(T1) != null);' in text
    assert text.count("        publish();") == 4, "after the first and the last one, in both cases"
    assert "new MetadataProvenance(offset - 1, 1, 0, true)" in text
    assert "gather(message);" in text and "gather(" not in reproduce("4.0.0")
    assert "publish();" in reproduce("3.3.0", check=CANNOT_BE_MADE, steps=steps)
    with pytest.raises(BadTemplate, match="no statement for a failover while brokers read"):
        reproduce("4.0.0", check=THERE_AGAIN)
    with pytest.raises(BadTemplate, match="no statement for a snapshot while brokers read"):
        reproduce("4.0.0", check=THERE_AGAIN, steps={**steps, "load_snapshot": {}})


def test_test_of_a_quorum_has_all_operations():
    text = reproduce("4.3.1", kind=JUNIT)
    assert "{%" not in text and "{{" not in text and text.count("{") == text.count("}")
    for operation in ("failover();", "balanceLeaders();", "unregister(1);", "sessionExpires(1);"):
        assert text.count(f"        {operation}") == 2, "once in each case"
    assert "raft.raftClients().get(before).resign(active().curClaimEpoch());" in text
    assert "int epoch = active().curClaimEpoch();" in text
    for operation, method in (("failover", "failover"), ("load_snapshot", "loadSnapshot")):
        last = reproduce("4.3.1", kind=JUNIT, steps={operation: {}})
        assert "the epoch of the active controller" not in last
        assert last.count(f"private void {method}(") == 1 and f"void {method}(" not in (
            reproduce("4.3.1", kind=JUNIT, steps={"unregister": B1})
        )


def test_test_of_a_quorum_compares_an_answer_to_a_heartbeat():
    text = reproduce("4.3.1", kind=JUNIT, check=FENCED)
    assert 'assertEquals(true, answered.isFenced(), "reply fenced")' in text


@pytest.mark.parametrize("kind", [PLAIN, JUNIT], ids=["plain", "junit"])
def test_registration_that_has_to_be_refused_is_compared_with_its_error(kind):
    steps = {"register": STEPS["register"], "failover": {}}
    refused = {"register": {**STEPS["register"], "reply": REFUSED}, "failover": {}}
    text = reproduce("4.3.1", steps=refused, kind=kind)
    assert text.count("refused(Errors.DUPLICATE_BROKER_REGISTRATION, () -> {") == 2
    assert text.count("private static void refused(") == 1
    assert "refused(" not in reproduce("4.3.1", steps=steps, kind=kind)


B1 = {"broker": "b1"}


@pytest.mark.parametrize("kind", [PLAIN, JUNIT], ids=["plain", "junit"])
def test_session_that_ends_is_not_one_that_expires(kind):
    ends = reproduce("4.3.1", steps={"session_ends": B1}, kind=kind)
    assert ends.count("        sessionEnds(1);") == 2, "once in each case"
    assert ends.count(" void sessionEnds(") == 1 and "sessionExpires(" not in ends
    both = reproduce("4.3.1", steps={"session_ends": B1, "session_expires": B1}, kind=kind)
    assert both.count(" void sessionEnds(") == both.count(" void sessionExpires(") == 1
    assert both.count("{") == both.count("}")


EPOCH = {"ref": [1, "registration", "b1", "epoch"], "now": True}
UNKNOWN = {"case": "rejected", "error": "BROKER_ID_NOT_REGISTERED"}
REFUSALS = (
    ("register", {**B1, "restarted": False, "previous_epoch": None}, DONE),
    ("heartbeat", {**STEPS["heartbeat"], "epoch": EPOCH}, DONE),
    ("register", {**B1, "restarted": True, "previous_epoch": None}, REFUSED),
    ("register", {**B1, "restarted": False, "previous_epoch": None}, DONE),
    ("failover", {}, DONE),
    ("balance_leaders", {}, DONE),
    ("unregister", B1, DONE),
    ("unregister", B1, UNKNOWN),
)


def run(place, kind, release, cases, checks=()):
    """What a reproduction says of two lists of operations, with their arguments and replies."""
    made = [
        ReproducedCase(
            case,
            tuple(CaseStep(number, *step[:2], step[0], step[2]) for number, step in numbered),
            checks, frozenset(), ("it",),
        )
        for case, numbered in ((case, enumerate(steps, 1)) for case, steps in cases.items())
    ]  # fmt: skip
    sorts = {"Broker": {"b1": 1, "b2": 2}, "Topic": {"t1": 1}}
    finding = ReproducedFinding("refused", "It says no.", TARGET.id, release, sorts, *made)
    file = place / file_name(kind, finding)
    file.write_text(write_reproduction(TARGET.folder, kind, finding))
    return check_reproduction(TARGET, kind, release, file)


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize("kind", [PLAIN, JUNIT], ids=["plain", "junit"])
def test_operations_that_have_to_be_refused_are_when_they_are_run(tmp_path, kind):
    found = run(tmp_path, kind, "4.3.1", {SHOWS: REFUSALS, LEFT_OUT: REFUSALS})
    assert found == {SHOWS: "", LEFT_OUT: ""}


def beats(broker):
    at = {"ref": [1, "registration", broker, "epoch"], "now": True}
    return ("heartbeat", {**STEPS["heartbeat"], "broker": broker, "epoch": at}, None)


def up(broker):
    return (
        ("register", {"broker": broker, "restarted": True, "previous_epoch": None}, None),
        beats(broker),
    )


BOTH_UP = (
    *up("b1"), *up("b2"),
    ("create_topic", {"topic": "t1", "replicas": ["b1", "b2"]}, None),
)  # fmt: skip
ENDS = [("session_expires", {"broker": broker}, DONE) for broker in ("b1", "b2")]
OFF = (("set_min_isr", {"minimum": 2}, DONE), ENDS[1], ("set_elr", {"enabled": False}, DONE))
SNAPSHOT = ("load_snapshot", {}, DONE)
LOST = (*reversed(ENDS), beats("b2"), ("set_unclean_election", {"enabled": True}, DONE))
UNCLEAN = ("elect_uncleanly", {}, DONE)


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize(("release", "kind"), [
    ("3.9.2", PLAIN), ("4.0.0", PLAIN), ("4.3.1", PLAIN), ("4.4.0", PLAIN), ("4.3.1", JUNIT),
])  # fmt: skip
def test_periodic_unclean_election_elects_when_it_is_run(tmp_path, release, kind):
    before = (*BOTH_UP, *LOST)
    checks = (
        CaseCheck(("partition", "t1", "leader"), "b2", None),
        CaseCheck(("partition", "t1", "recovering"), True, False),
    )
    found = run(tmp_path, kind, release, {SHOWS: (*before, UNCLEAN), LEFT_OUT: before}, checks)
    assert found[SHOWS] == "" and "partition" in found[LEFT_OUT]


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize(("release", "kind"), [
    ("4.0.0", PLAIN), ("4.3.1", PLAIN), ("4.4.0", PLAIN), ("4.3.1", JUNIT),
])  # fmt: skip
def test_broker_registers_once_its_session_has_ended_when_it_is_run(tmp_path, release, kind):
    again = (*BOTH_UP, ("session_ends", B1, DONE), up("b1")[0])
    check = CaseCheck(("partition", "t1", "leader"), "b2", "b1")
    found = run(tmp_path, kind, release, {SHOWS: again, LEFT_OUT: BOTH_UP}, (check,))
    assert found[SHOWS] == "" and "partition" in found[LEFT_OUT]


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize(("release", "kind"), [
    ("4.0.0", PLAIN), ("4.3.1", PLAIN), ("4.4.0", PLAIN), ("4.3.1", JUNIT),
])  # fmt: skip
def test_snapshot_that_was_written_while_elr_is_off_lacks_it_when_it_is_loaded(
    tmp_path, release, kind
):
    before = (*BOTH_UP, *OFF)
    after = (beats("b1"), ENDS[1], *up("b2"))
    checks = (
        CaseCheck(("partition", "t1", "elr"), [], ["b2"]),
        CaseCheck(("registration", "b2", "fenced"), False, True),
    )
    cases = {SHOWS: (*before, SNAPSHOT, SNAPSHOT, *after), LEFT_OUT: (*before, beats("b1"))}
    found = run(tmp_path, kind, release, cases, checks)
    assert found[SHOWS] == "" and "elr" in found[LEFT_OUT]


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
def test_snapshot_has_what_the_log_had_when_it_is_loaded_before_there_was_elr(tmp_path):
    before = (*BOTH_UP, ENDS[1])
    check = CaseCheck(("partition", "t1", "isr"), ["b1"], [])
    cases = {SHOWS: (*before, SNAPSHOT, beats("b2")), LEFT_OUT: (*before, beats("b2"))}
    assert run(tmp_path, PLAIN, "3.4.0", cases, (check,)) == {SHOWS: "", LEFT_OUT: ""}


def test_quorum_compares_no_image():
    with pytest.raises(BadTemplate, match=r"nothing compares image\.partition\.t1 on a quorum"):
        reproduce("4.3.1", check=THERE_AGAIN, kind=JUNIT, steps={"unregister": {"broker": "b1"}})


def load_check():
    place = TARGET.folder / "check_reproduction.py"
    spec = importlib.util.spec_from_file_location("kafka_reproduction", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("lines", "found"), [
    (["allOperations: fails: It: no", "withoutItsCause: passes"],
     {SHOWS: "fails: It: no", LEFT_OUT: ""}),
    (["a warning", "allOperations: passes", "withoutItsCause: passes"], {SHOWS: "", LEFT_OUT: ""}),
    (["Exception: broken"], "X did not run: Exception: broken"),
])  # fmt: skip
def test_lines_of_a_program_are_read(monkeypatch, lines, found):
    check = load_check()
    done = subprocess.CompletedProcess([], 1, stdout="\n".join(lines))
    monkeypatch.setattr(check, "_run", lambda command: done)
    if isinstance(found, dict):
        assert check._run_main("X", "", Path()) == found
    else:
        with pytest.raises(check.CannotCheck, match=found):
            check._run_main("X", "", Path())
