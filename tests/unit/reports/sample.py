"""A small run on disk, written by hand, with one vector of every kind that a report shows."""

from __future__ import annotations

import json

import orjson
from tests.support.suites import write_suite

from charter.formats.charter_files.obligations import sections_digest
from charter.formats.labels import Labels
from charter.formats.suite import Manifest, Models
from charter.formats.vector import Answer, AnswerNode, OperationCall, Question, Vector, Why
from conform.runs.findings.findings import run_findings
from conform.runs.judged_rows import JudgedRows
from conform.storage.bucket_store import RunFolder
from conform.storage.tables import DEVIATIONS, OBSERVATIONS, TRANSITIONS, VERDICTS, DatasetRows
from conform.suites.cache import open_suite

BROKERS = {"b1": 0, "b2": 7, "b3": 1000003}
TYPES = {
    "observes": {
        "partition": "map Topic -> {replicas: list Broker, isr: set Broker, elr: set Broker,"
        " leader: option Broker, last_known_elr: set Broker, leader_epoch: int,"
        " partition_epoch: int}",
        "registration": "map Broker -> {epoch: Epoch, fenced: bool, shutting_down: bool}",
    },
    "replies": {},
    "names": {"Broker": "sort", "Topic": "sort", "Epoch": "ordered"},
}
HOSTILE = '<script>alert("x")</script>'
STEERING = "\x1b]0;owned\x07\x9b2J\u202e\u2066"


def partition(isr, elr=(), leader="b1", epoch=0, last=()):
    return {
        "replicas": ["b1", "b2", "b3"], "isr": sorted(isr), "elr": sorted(elr), "leader": leader,
        "last_known_elr": sorted(last), "leader_epoch": epoch, "partition_epoch": epoch + 1,
    }  # fmt: skip


def state(part, fenced=()):
    registration = {
        name: {"epoch": f"@{10 + place}", "fenced": name in fenced, "shutting_down": False}
        for place, name in enumerate(BROKERS)
    }
    return {"partition": {"t1": part}, "registration": registration}


CALLS = (
    OperationCall("create_topic", {"topic": "t1", "replicas": ["b1", "b2", "b3"]}),
    OperationCall("expire", {"broker": "b3"}),
    OperationCall("alter_partition", {"broker": "b1", "isr": ["b1"],
                             "broker_epoch": {"ref": [0, "registration", "b1", "epoch"]},
                             "leader_epoch": {"ref": [2, "partition", "t1", "leader_epoch"],
                                              "plus": -1}}),
    OperationCall("expire", {"broker": "b1"}),
    OperationCall("register", {"broker": "b1", "previous_epoch": {"never_issued": True}}),
)  # fmt: skip
REPLIES = (True, True, {"case": "altered", "isr": ["b1"]}, True, {"case": "registered"})
BRANCHES = ("", "create_topic/created", "expire/fenced", "alter_partition/committed",
            "expire/fenced", "register/unclean")  # fmt: skip
STATES = (
    state(None),
    state(partition({"b1", "b2", "b3"})),
    state(partition({"b1", "b2"}, epoch=1), {"b3"}),
    state(partition({"b1"}, {"b2"}, epoch=2), {"b3"}),
    state(partition(set(), {"b1", "b2"}, "b2", epoch=3), {"b1", "b3"}),
    state(partition(set(), {"b2"}, "b2", epoch=4, last={"b1"}), {"b1", "b3"}),
)
WRONG = state(partition(set(), {"b1", "b2"}, "b2", epoch=4), {"b1", "b3"})


def vector(length=5, title="", label="open environment", given=None, calls=CALLS):
    question = Question("kafka.replication", "", "controller", {"Broker": BROKERS,
                        "Topic": {"t1": 0}}, given, calls[:length])  # fmt: skip
    steps = [(AnswerNode((), "", -1, 0),)]
    steps += [(AnswerNode((0,), BRANCHES[i], i - 1, i),) for i in range(1, length + 1)]
    seen = rename([(None, STATES[0]), *zip(REPLIES, STATES[1:], strict=True)])
    answer = Answer(
        tuple(observation for _, observation in seen), tuple(reply for reply, _ in seen[1:]),
        tuple(steps),
    )  # fmt: skip
    return Vector(question, answer, Why((), "scenario", title, label))


def rename(pairs):
    labels, seen = Labels(), []
    for pair in pairs:
        *renamed_pair, labels = labels.step(*pair)
        seen.append(tuple(renamed_pair))
    return seen


VECTORS = {
    "state": vector(5, "S1-E1 last replica standing"),
    "longer": vector(5, "longer", calls=(*CALLS[:4], OperationCall("register", {"broker": "b1"}))),
    "known": vector(4, label="possible in cluster", given={"partition": {"t1": None}}),
    "conforms": vector(3),
    "fault": vector(2, HOSTILE),
    "unsupported": vector(1),
}


def write_suite_and_run(top, name="run-1", release="4.3.1", trusted=True, mend=()):
    """A suite in the cache (CHARTER_CACHE), and the run `top/name`; returns its folder. `mend`:
    vectors that conform in this run, though they deviate in the sample."""
    counts = {"mutants_killed": 1, "obligations": 1370}
    about = Manifest("", "kafka.replication", "", "controller", "5eed", 0, Models(), {}, counts)
    write_suite(top / "suite", VECTORS.values(), about)
    suite = open_suite(str(top / "suite"), 1)
    store = RunFolder(str(top / name))
    store.write_json("run.json", run_json(release, suite))
    tables, kinds = datasets(set(mend))
    counted = summary(tables, kinds, trusted)  # before the commit, which takes the rows
    store.commit(0, tables, {"bucket": 0})
    store.write_json("canaries.json", canaries(trusted))
    listed = [finding.json() for finding in run_findings(JudgedRows.of(store))]
    store.finish({**counted, "findings": listed})
    return top / name


def run_json(release, suite):
    return {
        "id": "20261121-1", "format": 1, "started": "2026-11-21T12:00:00Z",
        "target": "kafka-controller", "title": "Apache Kafka, KRaft controller", "release": release,
        "implementation": {"name": f"kafka-controller{STEERING}", "version": release},
        "component": "controller", "protocol": "kafka.replication", "variant": "",
        "observes": ["partition", "registration"], "capabilities": ["load"],
        "operations": ["expire"], "suite": suite.manifest.digest, "suite_vectors": len(VECTORS),
        "spec_digest": "5eed", "overlay": "kafka_controller", "engine": "inline",
        "adapter": "ada97e5", "prepared": {f"kafka-{HOSTILE}.jar": "1a2b3c"},
        "errors": {"STALE_BROKER_EPOCH": "STALE_BROKER_EPOCH", "Odd": HOSTILE},
        "buckets": 1, "limit": 0, "types": TYPES,
        "command": ["conform", "run", "--target", "kafka-controller", "--release", release],
    }  # fmt: skip


def datasets(mend):
    tables = {
        "verdicts": DatasetRows(VERDICTS),
        "deviations": DatasetRows(DEVIATIONS),
        "observations": DatasetRows(OBSERVATIONS),
        "transitions": DatasetRows(TRANSITIONS),
    }
    kinds = {}
    for name, made in VECTORS.items():
        length = len(made.question.operations)
        kind = KINDS.get(name, "conforms")
        if name in mend:
            kind = "conforms"
        kinds[name] = kind
        deviation = deviation_row(name, made) if kind == "diverges" else None
        judged = 0 if kind == "unsupported" else length
        branches = [] if kind == "unsupported" else list(BRANCHES[: length + 1])
        if deviation:
            branches[deviation[1]] = ""
            tables["deviations"].add(*deviation)
        tables["verdicts"].add(
            made.id, kind, DETAILS.get(name, "") if kind != "conforms" else "",
            deviation[1] if deviation else -1, deviation[4] if deviation else "",
            deviation[6] if deviation else "", int(bool(deviation)),
            bool(deviation and not deviation[10]), judged, length - judged, branches,
            f"{name} {kind}", [call.operation for call in made.question.operations],
        )  # fmt: skip
        if kind != "unsupported":
            tables["observations"].add([made.id], line(name, made, kind))
    tables["transitions"].add(1, "expire/fenced", 3, VECTORS["conforms"].id)
    return tables, kinds


KINDS = {"state": "diverges", "longer": "diverges", "known": "diverges", "fault": "diverges",
         "unsupported": "unsupported"}  # fmt: skip
DETAILS = {"unsupported": f"create_topic{STEERING}", "fault": "the run ended with a fault"}


def deviation_row(name, made):
    step = len(made.question.operations)
    seen = rename([(None, STATES[0]), *zip(REPLIES, STATES[1:], strict=True)])
    expected = [{"branch": BRANCHES[step], "reply": seen[step][0], "observation": seen[step][1]}]
    observed = {"reply": seen[step][0], "observation": get(name, step)}
    severity, entry = "state", ""
    if name == "fault":
        severity = "fault"
        fault = {"fault": "java.lang.IllegalStateException", "message": HOSTILE + STEERING}
        observed = {"reply": fault, "observation": None}
    if name == "known":
        entry = "last_known_leader"
    call = made.question.operations[-1]
    cause = {"fault": "f" * 20, "known": "a" * 20}.get(name, "c" * 20)
    return (
        made.id, step, call.operation, text(dict(call.args)), BRANCHES[step], [BRANCHES[step]],
        severity, text(seen[step - 1][1]), text(expected), text(observed), entry, cause,
        ["partition.t1.elr", "partition.t1.last_known_elr"], [],
    )  # fmt: skip


def get(name, step):
    raw = [STATES[0], *STATES[1:step], WRONG if name != "fault" else STATES[step]]
    return rename([(None, observation) for observation in raw])[step][1]


def line(name, made, kind):
    length = len(made.question.operations)
    values = [*REPLIES[:length], *STATES[: length + 1]]
    if kind == "diverges":
        values[-1] = WRONG
    steps = [[-1, length, -1]] + [[i, length + i + 1, -1] for i in range(length)]
    result = {"id": made.id, "nonce": "n", "status": "ok", "detail": "", "steps": steps}
    return text({"run": 1, "values": values, "results": [result]})


def canaries(trusted):
    flipped = {"kind": "flipped", "where": "bucket 0", "vector": "v", "expected": "diverges",
               "got": "diverges" if trusted else "conforms", "ok": trusted,
               "detail": "" if trusted else HOSTILE}  # fmt: skip
    return {"trusted": trusted, "canaries": [flipped]}


def summary(tables, kinds, trusted):
    entries = tables["deviations"].columns["entry"]
    held = list(kinds.values())
    return {
        "verdicts": {kind: held.count(kind) for kind in sorted(set(held))}, "vectors": len(held),
        "judged_steps": 19, "not_judged_steps": 1, "deviations": len(entries),
        "new_deviations": entries.count(""),
        "by_entry": {"last_known_leader": entries.count("last_known_leader")},
        "stale_entries": [],
        "unmet_entries": ["elr_survives"],
        "claimed_too_much": [{"id": "v1", "step": 2, "branch": "expire/fenced"}],
        "by_branch": {
            "create_topic/created": {"taken": 6, "deviating": 0},
            "expire/fenced": {"taken": 7, "deviating": 2},
            "register/unclean": {"taken": 0, "deviating": 2},
        },
        "bounds": {"constants": [{"largest_min_isr": 2}], "elements": {f"Broker{HOSTILE}": 3}},
        "distinct_pairs": 12, "seconds": 3.2, "exit": 1,
        "not_compared": [
            {"what": "unsupported votes", "vectors": 1,
             "allowed": f"Nobody votes. {HOSTILE}{STEERING}"}],
        "obligations": {
            "every": 5, "asked": 3, "infeasible": 1, "allowed": "",
            "left": {"allowed": {"count": 1, "names": ["branch alter_partition/committed"]}}},
        "broken_batches": 2, "unexplained_breaks": [],
        "trusted": trusted, "complete": False, "reasons": ["3 new deviations"],
    }  # fmt: skip


def text(value):
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def sections_json():
    rule = {"doc": f"Why it is so. {HOSTILE}", "file": "spec/kafka/20-controller.charter"}
    operations = ("create_topic", "expire", "alter_partition", "register")
    cited = {"create_topic": [["silent", ""]], "expire": [["S1", "How it works"]],
             "alter_partition": [["S2", "§6.5.1"]],
             "register": [["S0", "§5.2"], ["S2", "§6.5.1"]]}  # fmt: skip
    names = ("create_topic/created", "expire/fenced", "expire/idle", "alter_partition/committed",
             "register/unclean")  # fmt: skip
    split = [name.partition("/")[::2] for name in names]
    content = {
        "format": 7, "base": "", "protocol": "kafka.replication", "variant": "",
        "component": "controller", "spec_digest": "5eed",
        "sources": [["S0", "Asynchronous storage and recovery"], ["S1", "Last replica standing"],
                    ["S2", "Replication correctness"]],
        "links": [["S2", "", "https://example.org/text?a=1&b=2"],
                  ["S2", "§6.5.1", "https://example.org/text?a=1&b=2#isr"]],
        "levels": [["replies", []], ["metadata", ["partition"]],
                   ["everything", ["config", "partition", "registration"]]],
        "ordered": ["replicas"],
        "operations": [{"operation": name, "citations": cited[name], "line": 10 + place, **rule,
                        **({"section": f"Brokers come. {HOSTILE}"} if place > 1 else {})}
                       for place, name in enumerate(operations)],
        "branches": [{"operation": operation, "branch": branch, "citations": cited[operation],
                      "line": 20 + place, **rule,
                      "text": [f"branch {branch} when a < b {{", "  reply true", "}"]}
                     for place, (operation, branch) in enumerate(split)],
        "ledger": [
            [f"branch {name}", status, 3, ""]
            for name, status in zip(names, ("covered", "covered", "infeasible", "open", "covered"),
                                    strict=True)],
        "mutants": [{"name": "elr_forgets", "doc": "Who leaves is forgotten.", "killed": True,
                     "killed_in_some_runs": False, "caught_by": "elr_has_all",
                     "vector": VECTORS["known"].id},
                    {"name": "no_gate", "doc": "", "killed": False, "caught_by": "gate",
                     "killed_in_some_runs": True, "vector": ""}],
        "entries": [{"overlay": "kafka_controller", "name": "last_known_leader",
                     "class": "by_design", "first_release": "4.0", "last_release": "",
                     "evidence": f"The last leader is kept. {HOSTILE}", "line": 5,
                     "citations": [["DOC", "ELR"]], "branches": ["expire/fenced"],
                     "file": "spec/kafka/80-overlay.charter",
                     "text": ["entry last_known_leader"]}],
    }  # fmt: skip
    return as_written(content)


def as_written(content):
    """A sections.json with the digest of what it says."""
    return content | {"digest": sections_digest(content)}


def write_sections(top):
    path = top / "controller.sections.json"
    path.write_text(json.dumps(sections_json()))
    return path
