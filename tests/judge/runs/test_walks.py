"""Walks on a target: what they find, how they go on, and that they repeat."""

import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
from tests.support.toy.machine import Machine
from tests.support.toy.vectors import vector, write_toy_vectors

from charter.formats.run_description import WalkSettings
from conform.cli import main as cli
from conform.cli.output.run_output import show
from conform.console.errors import BadSuite
from conform.runs.engines import inline
from conform.runs.execute import run_target
from conform.runs.findings.baseline import BY_WALKS, NO_BASELINE, Baseline, read_baseline
from conform.runs.options import RunOptions
from conform.runs.rejudge import RejudgeOptions, rejudge
from conform.suites.cache import open_suite

VARIES = """
import random
from tests.support.fakes.fake import Fake
from conform import sdk

class Varies(Fake):
    def start(self, question):
        super().start(question)
        self.random = random.SystemRandom()

sdk.serve_sessions(Varies, 0)
"""

SHOWS_AFTER_FAULT = """
from tests.support.fakes.fake import POISON, Faults
from conform import sdk

class Shows(Faults):
    def perform(self, operation, args):
        try:
            return super().perform(operation, args)
        except sdk.Fault as fault:
            return {"fault": fault.name, "message": "at 0x17"}

sdk.serve_sessions(Shows, 2)
"""


@pytest.fixture
def poor_suite(tmp_path):
    """A suite that asks next to nothing."""
    write_toy_vectors(tmp_path / "poor", [vector(("register", {"node": "n1"}))])
    return tmp_path / "poor"


@pytest.fixture
def walk(poor_suite, tmp_path):
    """Makes a run with walks."""

    def run(target, out, count=70, steps=6, **more):
        engine, said = more.pop("engine", "inline"), more.pop("said", [])
        command = more.pop("command", ())
        baseline, update = more.pop("baseline", NO_BASELINE), more.pop("update", False)
        return run_target(
            RunOptions(target, suite=str(poor_suite), engine=engine, out=str(tmp_path / out),
                       master="local[2]", baseline=baseline, update_baseline=update,
                       command=command, walks=WalkSettings(count, steps, **more)),
            said.append,
        )  # fmt: skip

    return run


def rows(finished, name):
    """The rows of a dataset, without what differs in each run."""
    found = finished.folder.table(name).to_pylist()
    for row in found:
        row.pop("line", None)
    return sorted(json.dumps(row, sort_keys=True) for row in found)


def same(one, other):
    return all(
        rows(one, name) == rows(other, name)
        for name in ("verdicts", "deviations", "transitions", "walks")
    ) and one.summary["walks"] == other.summary["walks"]  # fmt: skip


def start_another(folder, program):
    """Make a target start this program."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    path = folder / "adapter.toml"
    start = f"start = ['{{python}}', '{folder}/program.py']"
    lines = path.read_text(encoding="utf-8").split("\n")
    lines = [start if line.startswith("start") else line for line in lines]
    path.write_text("\n".join(lines), encoding="utf-8")


def question_of(finished, name):
    found = [row for row in finished.folder.table("walks").to_pylist() if row["id"] == name]
    return orjson.loads(found[0]["question"])


def test_walks_conform_on_the_reference_and_count_apart(walk, targets_folder):
    finished = walk("reference", "run")
    assert finished.exit_code == 0, finished.summary["reasons"]
    walks = finished.summary["walks"]
    assert (walks["walks"], walks["verdicts"]) == (70, {"conforms": 70})
    assert walks["kept"] == 1  # one of 1,000
    assert finished.summary["vectors"] == finished.summary["suite_vectors"] == 2
    assert finished.summary["judged"] == 2
    assert {canary["kind"] for canary in finished.canaries} >= {"flipped", "nonce", "reference"}
    assert any(str(canary["where"]).startswith("walks 0") for canary in finished.canaries)


def test_walks_find_what_the_suite_misses_and_it_is_shrunk(walk, targets_folder):
    targets_folder("wrong_error")
    finished = walk("fake-wrong_error", "run")
    assert finished.exit_code == 1
    (finding,) = [one for one in finished.summary["findings"] if one["rule"] == "elect/nobody"]
    assert finding["shrunk"]["step"] <= 2
    assert finding["shrunk"]["before"] >= finding["shrunk"]["step"]
    assert question_of(finished, finding["vector"])["operations"]


@pytest.mark.parametrize("how", ["raise Fault", "return Fault"])
def test_a_fault_in_the_last_step_of_a_walk_is_a_deviation(walk, targets_folder, tmp_path, how):
    """Whether or not the adapter shows what it observes after the fault."""
    targets_folder("faults")
    if how == "return Fault":
        start_another(tmp_path / "adapters" / "fake-faults", SHOWS_AFTER_FAULT)
    finished = walk("fake-faults", "run")
    poisoned = [row for row in finished.folder.table("verdicts").to_pylist()
             if row["bucket"] and "failover" in row["operations"]]  # fmt: skip
    assert len(poisoned) > 10
    assert {(row["kind"], row["severity"]) for row in poisoned} == {("diverges", "fault")}


def test_known_deviations_are_explained_and_the_walk_goes_on(walk, targets_folder):
    targets_folder("keeps_leader")
    finished = walk("fake-keeps_leader", "run", count=20, steps=12)
    assert finished.summary["new_deviations"] == 0
    assert finished.summary["by_entry"]["leader_stays"] > 0
    deviating = [row for row in finished.folder.table("verdicts").to_pylist()
                 if row["bucket"] and row["kind"] == "diverges"]  # fmt: skip
    assert any(row["step"] < row["judged"] for row in deviating)


def test_same_seed_makes_the_same_walks_and_another_others(walk, targets_folder):
    targets_folder("faithful")
    one, two, other = (walk("fake-faithful", out, seed=seed)
                       for out, seed in (("a", 1), ("b", 1), ("c", 2)))  # fmt: skip
    assert same(one, two)
    assert rows(one, "walks") != rows(other, "walks")


def test_interrupted_run_goes_on_to_the_same_walks(walk, targets_folder, monkeypatch):
    targets_folder("faithful")
    whole = walk("fake-faithful", "whole")
    real, done = inline.judge_apart, []

    def interrupt(bucket, context, pool):
        if done:
            raise KeyboardInterrupt
        done.append(bucket)
        return real(bucket, context, pool)

    with monkeypatch.context() as patch:
        patch.setattr(inline, "judge_apart", interrupt)
        with pytest.raises(KeyboardInterrupt):
            walk("fake-faithful", "cut")
    said = []
    again = walk("fake-faithful", "cut", said=said)
    assert any("continuing the run" in sentence for sentence in said)
    assert same(whole, again)


def test_spark_makes_the_same_walks(walk, targets_folder, spark):
    targets_folder("keeps_leader")
    assert same(
        walk("fake-keeps_leader", "inline"), walk("fake-keeps_leader", "spark", engine="spark")
    )


def test_walk_that_varies_goes_on_and_is_counted(walk, targets_folder, tmp_path):
    targets_folder("varies")  # there is no such fake, so it has no faults
    start_another(tmp_path / "adapters" / "fake-varies", VARIES)
    finished = walk("fake-varies", "run", count=20, steps=12)
    assert finished.summary["walks"]["varying"] > 0
    assert finished.summary["walks"]["verdicts"] == {"conforms": 20}


def test_adapter_that_ends_in_a_walk_costs_that_walk_alone(walk, targets_folder):
    targets_folder("crash")
    finished = walk("fake-crash", "run", count=20, steps=4)
    verdicts = finished.summary["walks"]["verdicts"]
    assert verdicts["crashed"] > 0
    assert verdicts["conforms"] > 0
    assert sum(verdicts.values()) == 20
    assert finished.exit_code == 3
    assert any("not judged:" in reason and "crashed" in reason
               for reason in finished.summary["reasons"])  # fmt: skip


def test_walk_whose_first_state_is_an_error_counts_as_not_judged(walk, targets_folder):
    targets_folder("cannot_begin")
    finished = walk("fake-cannot_begin", "run", count=5, steps=4)
    verdicts = finished.summary["walks"]["verdicts"]
    assert sum(verdicts.values()) > 0
    assert not verdicts.get("conforms")
    assert any("not judged:" in reason for reason in finished.summary["reasons"])


def test_walks_that_ask_the_same_and_have_one_verdict_are_one_vector(
    walk, targets_folder, monkeypatch
):
    monkeypatch.setattr("conform.walks.block.concrete_ids", lambda sorts, _: {
        sort: {name: number for number, name in enumerate(names)} for sort, names in sorts.items()
    })  # fmt: skip
    targets_folder("wrong")
    finished = walk("fake-wrong", "run", count=140, steps=1)
    ids = finished.folder.table("walks")["id"].to_pylist()
    assert len(set(ids)) < len(ids) == 140 == sum(finished.summary["walks"]["verdicts"].values())
    assert finished.folder.table("verdicts").num_rows - finished.summary["vectors"] < 140


def test_walk_of_a_run_is_replayed_and_shown_in_the_report(walk, targets_folder, tmp_path, capsys):
    targets_folder("wrong_error")
    finished = walk("fake-wrong_error", "run")
    (finding,) = [one for one in finished.summary["findings"] if one["rule"] == "elect/nobody"]
    place = finished.folder.place
    assert cli.main(["replay", finding["vector"], "--run", place]) == 1
    assert f"walk {finished.run.walks.seed}/" in capsys.readouterr().out
    assert cli.main(["report", place, "--out", str(tmp_path / "report")]) in (0, 1)
    assert Path(tmp_path / "report" / "index.html").exists()


def test_walks_that_were_kept_are_judged_again_and_others_counted(
    walk, targets_folder, poor_suite, tmp_path
):
    targets_folder("keeps_leader")
    finished = walk("fake-keeps_leader", "run", count=20, steps=12)
    again = rejudge(
        finished.folder.place, open_suite(str(poor_suite), 1), RejudgeOptions(str(tmp_path / "new"))
    )
    before, walks = finished.summary["walks"], again.summary["walks"]
    assert walks["walks"] == before["kept"]
    assert walks["not_kept"] == 20 - before["kept"] > 0
    assert walks["verdicts"]["diverges"] == before["verdicts"]["diverges"]


def test_instance_of_walks_gives_elements_and_operations(walk, targets_folder):
    targets_folder("wrong_error")
    finished = walk("fake-wrong_error", "run", count=3, instance="one")
    kept = [orjson.loads(row["question"]) for row in finished.folder.table("walks").to_pylist()
            if row["question"]]  # fmt: skip
    assert kept
    for question in kept:
        assert set(question["sorts"]["Node"]) == {"n1"}
        assert {call["operation"] for call in question["operations"]} <= {"register", "elect"}


REGISTERED = [
    {"operation": "elect", "args": {}},
    {"operation": "register", "args": {"node": "n1"}},
    {"operation": "write", "args": {
        "node": "n1", "epoch": {"ref": [2, "registration", "n1", "epoch"]}, "version": 0}},
]  # fmt: skip


@pytest.fixture
def registered(monkeypatch):
    """A prelude leads to the first state of the instance `one`."""
    calls = {str(n): orjson.dumps(call).decode() for n, call in enumerate(REGISTERED)}
    monkeypatch.setattr(Machine, "PRELUDES", {"one": "0 1 2"}, raising=False)
    monkeypatch.setattr(Machine, "PRELUDE_CALLS", calls, raising=False)


def test_walk_in_an_instance_begins_with_its_prelude(walk, registered, targets_folder, capsys):
    targets_folder("no_epoch_check")
    finished = walk("fake-no_epoch_check", "run", instance="one", count=40)
    kept = [orjson.loads(row["question"]) for row in finished.folder.table("walks").to_pylist()
            if row["question"]]  # fmt: skip
    assert kept
    for question in kept:
        calls = question["operations"]
        assert calls[:3] == REGISTERED and len(calls) <= 3 + 6
        assert {call["operation"] for call in calls[3:]} <= {"register", "elect"}
    assert finished.summary["walks"]["astray"] == 0
    show(finished)
    assert "prelude" not in capsys.readouterr().out
    assert same(finished, walk("fake-no_epoch_check", "again", instance="one", count=40))
    others = walk("fake-no_epoch_check", "others", count=40)
    begun = [orjson.loads(row["question"])["operations"][:3] for row in
             others.folder.table("walks").to_pylist() if row["question"]]  # fmt: skip
    assert REGISTERED not in begun


@pytest.mark.parametrize("refuses", ["wrong_error", "no_load"])
def test_prelude_that_a_target_refuses_is_one_sentence(
    refuses, walk, registered, targets_folder, capsys
):
    """One replies with another error, the other does not perform `write`."""
    targets_folder(refuses)
    finished = walk(f"fake-{refuses}", "run", instance="one", count=20)
    assert finished.summary["walks"]["astray"] == finished.summary["walks"]["walks"] == 20
    show(finished)
    assert "20 walks did not come through the prelude of the instance" in capsys.readouterr().out


def test_unknown_instance_is_one_sentence_with_the_known_ones(walk, targets_folder):
    targets_folder("faithful")
    with pytest.raises(BadSuite, match="no instance 'three'; there are: two, one"):
        walk("fake-faithful", "run", instance="three")


def test_seconds_cut_the_walks_and_the_result_says_so(walk, targets_folder, monkeypatch):
    targets_folder("faithful")
    ticks = itertools.count(step=50)
    monkeypatch.setattr(
        "conform.walks.block.time", SimpleNamespace(time=lambda: 1e12 + next(ticks))
    )
    finished = walk("fake-faithful", "run", seconds=1)
    assert finished.summary["walks"]["cut"] == 2


def test_baseline_compares_what_the_suite_shows_and_knows_what_walks_show(
    walk, targets_folder, tmp_path
):
    targets_folder("wrong_error")
    place = str(tmp_path / "known.toml")
    first = walk("fake-wrong_error", "a", baseline=Baseline(place), update=True)
    written = read_baseline(place, lenient=True)
    (name,) = [one["id"] for one in first.summary["findings"] if one["rule"] == "elect/nobody"]
    assert written.entries[name].suite == BY_WALKS
    path = tmp_path / "known.toml"
    text = path.read_text(encoding="utf-8").replace('reason = ""', 'reason = "known"')
    path.write_text(text, encoding="utf-8")
    again = walk("fake-wrong_error", "b", seed=2, baseline=read_baseline(place))
    assert again.exit_code == 0, again.summary["reasons"]
    assert again.summary["changed_baseline"] == {}
    without = walk("fake-wrong_error", "c", count=0, baseline=read_baseline(place))
    assert without.summary["stale_baseline"] == []
    assert without.exit_code == 0


def test_last_line_names_the_walks_and_their_seed(walk, targets_folder, capsys):
    show(walk("reference", "run", count=3, steps=2, seed=7))
    said = capsys.readouterr().out
    assert "walks                  3\n" in said
    assert "fine by the suite and 3 walks (seed 7): no deviation from the charter" in said


def test_finding_of_a_walk_says_which_and_the_command_that_makes_it_again(
    walk, targets_folder, capsys
):
    targets_folder("wrong_error")
    finished = walk("fake-wrong_error", "run", command=("conform", "run", "--walks", "70"))
    show(finished)
    said = capsys.readouterr().out
    (row,) = [
        row for row in finished.folder.table("walks").to_pylist()
        if row["id"] == finished.summary["findings"][0]["vector"]
    ]  # fmt: skip
    assert f"walk 1/{row['walk']}, which this makes again: conform run --walks 70" in said
