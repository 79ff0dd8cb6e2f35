"""Whole runs: engines agree, runs go on where they were, canaries are heeded."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.support.caches import own_cache
from tests.support.judging import environment
from tests.support.toy.vectors import write_toy_suite

from conform.console.errors import (
    BadRun,
    BadSuite,
    CannotStart,
    CannotWrite,
    ConformError,
    ModelBug,
    UnknownRelease,
    UnknownTarget,
)
from conform.runs.canaries import canaries
from conform.runs.engines import progress_notes
from conform.runs.engines import spark as spark_engine
from conform.runs.engines.progress_notes import JudgedSoFar
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.storage.bucket_store import RunFolder


def quiet(_):
    pass


def judge(target, suite, out, **options):
    return run_target(
        RunOptions(target, suite=str(suite), engine="inline", out=str(out), **options), quiet
    )


def rows(finished, name):
    table = finished.folder.table(name)
    found = table.to_pylist()
    for row in found:
        row.pop("line", None)
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True, default=str))


def test_reference_conforms_everywhere(toy_suite, targets_folder, tmp_path):
    finished = judge("reference", toy_suite, tmp_path / "run")
    assert finished.exit_code == 0
    assert finished.summary["verdicts"]["conforms"] == finished.summary["vectors"] == 61
    kinds = {canary["kind"] for canary in finished.canaries}
    assert kinds == {"flipped", "nonce", "reference", "nothing", "mutant", "derived"}
    assert finished.summary["distinct_pairs"] > 20


@pytest.mark.parametrize("mode", ["keeps_leader", "faults"])
def test_engines_give_the_same_results(mode, toy_suite, targets_folder, tmp_path, spark):
    name = targets_folder(mode)
    inline = judge(name, toy_suite, tmp_path / "inline")
    on_spark = run_target(
        RunOptions(name, suite=str(toy_suite), master="local[2]", out=str(tmp_path / "spark")),
        quiet,
    )
    for dataset in ("verdicts", "transitions"):
        assert rows(inline, dataset) == rows(on_spark, dataset)
    kept = [[{**row, "observed": "" if mode == "faults" else row["observed"]}
             for row in rows(run, "deviations")] for run in (inline, on_spark)]  # fmt: skip
    assert kept[0] == kept[1]
    assert kept[0]
    for name in ("verdicts", "deviations", "by_entry", "by_branch", "distinct_pairs", "exit"):
        assert inline.summary[name] == on_spark.summary[name]


@pytest.mark.slow
def test_spark_reads_a_suite_whose_path_looks_like_a_pattern(
    toy_suite, targets_folder, tmp_path, monkeypatch, spark
):
    targets_folder("faithful")
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "ä [x] {a,b}*?" / "cache"))
    finished = run_target(
        RunOptions("reference", suite=str(toy_suite), engine="spark", master="local[2]",
                   out=str(tmp_path / "[run]")),
        quiet,
    )  # fmt: skip
    assert finished.summary["verdicts"]["conforms"] == 61


def test_what_the_overlay_explains_is_no_finding_but_strict_is(
    tiny_toy_suite, targets_folder, tmp_path
):
    name = targets_folder("keeps_leader")
    finished = judge(name, tiny_toy_suite, tmp_path / "a")
    assert finished.exit_code == 0
    assert finished.summary["new_deviations"] == 0
    assert finished.summary["by_entry"]["leader_stays"] == finished.summary["deviations"] > 0
    strict = judge(name, tiny_toy_suite, tmp_path / "b", strict=True)
    assert strict.exit_code == 1


def test_overlay_entry_that_no_longer_applies_is_a_finding(
    tiny_toy_suite, targets_folder, tmp_path
):
    finished = judge(targets_folder("faithful"), tiny_toy_suite, tmp_path / "run")
    assert finished.exit_code == 1
    assert finished.summary["stale_entries"] == ["leader_stays"]


def test_new_deviation_is_a_finding(tiny_toy_suite, targets_folder, tmp_path):
    finished = judge(targets_folder("faults"), tiny_toy_suite, tmp_path / "run")
    assert finished.exit_code == 1
    assert finished.summary["new_deviations"] > 0


def test_run_in_which_nothing_is_judged_is_incomplete(tiny_toy_suite, targets_folder, tmp_path):
    finished = judge(targets_folder("not_loadable"), tiny_toy_suite, tmp_path / "run")
    assert finished.exit_code == 3
    assert "no vector was judged" in finished.summary["reasons"]


def test_canary_that_is_not_caught_makes_the_run_untrusted(
    tiny_toy_suite, targets_folder, tmp_path, monkeypatch
):
    """A judge that cannot tell right from wrong: the flipped expectation is not flipped."""
    monkeypatch.setattr("conform.runs.canaries.canaries.flip", lambda item, _: item)
    finished = judge("reference", tiny_toy_suite, tmp_path / "run")
    assert finished.exit_code == 3
    assert finished.summary["trusted"] is False
    wrong = [canary for canary in finished.canaries if not canary["ok"]]
    assert {canary["kind"] for canary in wrong} == {"flipped"}


def test_mutant_that_is_not_caught_makes_the_run_untrusted(
    tiny_toy_suite, targets_folder, tmp_path, monkeypatch
):
    module, charter = "charter_models.toy.no_epoch_check", "charter_models.toy.charter"
    made = canaries.ModelAdapter
    monkeypatch.setattr(
        canaries,
        "ModelAdapter",
        lambda name, **more: made({module: charter}.get(name, name), **more),
    )
    finished = judge("reference", tiny_toy_suite, tmp_path / "run")
    assert finished.exit_code == 3
    assert [c["kind"] for c in finished.canaries if not c["ok"]] == ["mutant"]


def test_run_goes_on_after_it_was_killed(toy_suite, targets_folder, tmp_path):
    """Killed with SIGKILL after a commit, the same command judges only what is left."""
    log = tmp_path / "log"
    name = targets_folder("slow", str(log))
    out = tmp_path / "run"
    command = [sys.executable, "-m", "conform.cli.main", "run", "--target", name,
               "--suite", str(toy_suite), "--engine", "inline", "--out", str(out)]  # fmt: skip
    child = subprocess.Popen(
        command, env={**os.environ, **environment()}, stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not list((out / "commits").glob("*.json")) and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    done = RunFolder(str(out)).read_committed()
    assert len(done) > 0
    assert not (out / "summary.json").exists()
    before = {path: path.stat().st_mtime_ns for path in out.glob("verdicts/*/*.parquet")}
    said = []
    finished = run_target(
        RunOptions(name, suite=str(toy_suite), engine="inline", out=str(out)), said.append
    )
    buckets = "1 bucket is" if len(done) == 1 else f"{len(done)} buckets are"
    assert said == [f"continuing the run in {out}: {buckets} done"]
    kept = [path for path in before if f"{path.parent.name}.json" in
            {f"bucket={bucket:04d}.json" for bucket in done}]  # fmt: skip
    assert kept
    assert all(path.stat().st_mtime_ns == before[path] for path in kept)
    assert finished.summary["vectors"] == 61
    assert finished.summary["verdicts"]["conforms"] == 61


def test_run_notes_how_far_it_is_and_leaves_no_notes(
    toy_suite, targets_folder, tmp_path, monkeypatch
):
    said = []
    note = RunFolder.note

    def noting(self, bucket, judged):
        note(self, bucket, judged)
        said.append(JudgedSoFar(self)())

    monkeypatch.setattr(progress_notes, "SECONDS", 0.0)
    monkeypatch.setattr(RunFolder, "note", noting)
    note(RunFolder(str(tmp_path / "run")), 3, 1000)  # of a killed run
    (tmp_path / "run" / "run.json").write_text("{}")
    judge("reference", toy_suite, tmp_path / "run")
    assert said == sorted(said)
    assert 0 < said[0] < said[-1] == 61
    assert not (tmp_path / "run" / "progress").exists()


def test_partial_files_without_a_commit_do_not_count(toy_suite, targets_folder, tmp_path):
    finished = judge("reference", toy_suite, tmp_path / "run")
    whole = finished.folder.table("verdicts").num_rows
    first = min((tmp_path / "run" / "commits").glob("*.json"))
    count = json.loads(first.read_text())["vectors"]
    first.unlink()
    assert finished.folder.table("verdicts").num_rows == whole - count


def test_foreign_folder_is_not_overwritten(tiny_toy_suite, targets_folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(BadRun, match="holds something else"):
        judge("reference", tiny_toy_suite, tmp_path / "mine")


def test_suite_that_is_cut_off_is_refused(toy_suite, targets_folder, tmp_path):
    cut = tmp_path / "cut"
    cut.mkdir()
    manifest = json.loads((toy_suite / "manifest.json").read_text())
    (cut / "manifest.json").write_text(json.dumps({**manifest, "digest": "0" * 20}))
    content = (toy_suite / "vectors.jsonl").read_bytes()
    (cut / "vectors.jsonl").write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(BadSuite, match="is the file cut off"):
        judge("reference", cut, tmp_path / "run")
    whole_lines = content[: content.rfind(b"\n", 0, len(content) // 2) + 1]
    (cut / "vectors.jsonl").write_bytes(whole_lines)
    with pytest.raises(BadSuite, match="vectors, and 61"):
        judge("reference", cut, tmp_path / "run")


def test_what_is_not_there_is_named(tiny_toy_suite, targets_folder, tmp_path):
    with pytest.raises(UnknownTarget, match="there are: reference"):
        judge("kafka", tiny_toy_suite, tmp_path / "run")
    with pytest.raises(BadSuite, match="there is no suite 'nowhere'"):
        judge("reference", "nowhere", tmp_path / "run")
    with pytest.raises(UnknownRelease, match=r"no release '9\.9'"):
        judge("reference", tiny_toy_suite, tmp_path / "run", release="9.9")


def test_suite_by_digest_after_its_folder_is_gone(tiny_toy_suite, targets_folder, tmp_path):
    first = judge("reference", tiny_toy_suite, tmp_path / "a")
    again = judge("reference", first.run.suite, tmp_path / "b")
    assert again.summary["vectors"] == first.summary["vectors"]


@pytest.mark.parametrize("kind", [CannotStart, CannotWrite, ModelBug])
def test_error_of_a_worker_arrives_as_itself(kind):
    """Spark's text shows the line of source that raised before it shows the message."""
    sentence = 'the adapter said "[conform: {error}]"; see `conform doctor`\nä'
    source = 'raise RuntimeError(f"[conform:{as_token(error)}]") [conform:{error}]'
    told = spark_engine.as_token(kind(sentence))
    ours = spark_engine._as_ours(RuntimeError(f"lots\n{source}\nRuntimeError: {told} more\ntext"))
    assert (type(ours), str(ours)) == (kind, sentence)


def test_bug_in_a_worker_arrives_with_its_traceback():
    try:
        raise ZeroDivisionError("by nothing")
    except ZeroDivisionError as error:
        told = spark_engine.as_token(error)
    ours = spark_engine._as_ours(RuntimeError(f"lots {told} of text"))
    assert not isinstance(ours, ConformError)
    assert "ZeroDivisionError: by nothing" in str(ours)


def test_error_of_a_worker_is_told_in_its_own_words(toy_suite, targets_folder, tmp_path, spark):
    """The adapter comes up for the greeting of the run, and never for a worker."""
    name = targets_folder("once_up", str(tmp_path / "log"))
    options = RunOptions(name, suite=str(toy_suite), out=str(tmp_path / "run"), engine="spark")
    with pytest.raises(CannotStart, match=r"did not start: it ended with 7"):
        run_target(options, quiet)


def test_the_adapter_that_was_greeted_is_asked(tiny_toy_suite, targets_folder, tmp_path):
    """In a run in one process the adapter is started once."""
    log = tmp_path / "log"
    finished = judge(targets_folder("once_up", str(log)), tiny_toy_suite, tmp_path / "run")
    assert finished.summary["verdicts"]["conforms"] == 5
    assert len(log.read_text().split()) == 1


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.slow)])
def test_bug_of_a_model_ends_the_run_with_its_own_exit_code(
    engine, targets_folder, tmp_path, spark, called
):
    """Where the target deviates, the model is asked, and fails."""
    write_toy_suite(tmp_path / "suite", 40, charter_model="charter_models.toy.has_a_bug")
    target, out = targets_folder("keeps_leader"), tmp_path / "run"
    suite = tmp_path / "suite"
    code, _, err = called(
        "run", "--target", target, "--suite", suite, "--engine", engine, "--out", out
    )
    assert code == 5
    assert "charter_models.toy.has_a_bug fails at expire, in vector" in err
    assert "KeyError: 'lease'" in err and "Traceback" not in err


@pytest.mark.parametrize("target", ["reference", "faithful"])
def test_bug_of_a_model_ends_the_run_where_nothing_deviates_before(
    target, targets_folder, tmp_path, called
):
    """An answer that is derived again shows the bug, also where the model itself is judged."""
    write_toy_suite(tmp_path / "suite", 40, charter_model="charter_models.toy.has_a_bug")
    chosen = target if target == "reference" else targets_folder(target)
    given = ("--target", chosen, "--suite", tmp_path / "suite", "--engine", "inline")
    code, _, err = called("run", *given, "--out", tmp_path / "run")
    assert code == 5
    assert "charter_models.toy.has_a_bug fails at expire, in vector" in err


def test_overlay_that_denies_what_the_target_does_is_a_finding(
    tiny_toy_suite, targets_folder, tmp_path
):
    """The overlay says that the leader stays. A target that follows the charter is told so, even
    if only a part of the vectors is judged."""
    finished = judge(targets_folder("faithful"), tiny_toy_suite, tmp_path / "run")
    claimed = finished.summary["claimed_too_much"]
    assert claimed
    assert {item["branch"] for item in claimed} == {"expire/expired"}
    assert any("the overlay claims too much" in reason for reason in finished.summary["reasons"])
    kept = judge(targets_folder("keeps_leader"), tiny_toy_suite, tmp_path / "kept")
    assert kept.summary["claimed_too_much"] == []


def test_overlay_entry_that_the_suite_does_not_lead_to_is_only_named(targets_folder, tmp_path):
    """No vector lets a session expire, so nothing is known about the entry."""
    from tests.support.suites import write_suite
    from tests.support.toy.vectors import killers, vector

    from charter.formats.suite import Manifest, Models

    register, write = ("register", {"node": "n1"}), ("elect", {})
    overlay = {"known": {"leader_stays": "charter_models.toy.keeps_leader"}}
    mutants = {"no_epoch_check": "charter_models.toy.no_epoch_check"}
    about = Manifest("", "toy.lease", "", "keeper", "5eed", 0,
                     Models("charter_models.toy.charter", overlay, mutants),
                     {"no_epoch_check": tuple(v.id for v in killers())})  # fmt: skip
    write_suite(tmp_path / "suite", [vector(register, write), *killers()], about)
    finished = judge(targets_folder("faithful"), tmp_path / "suite", tmp_path / "run")
    assert finished.exit_code == 0
    assert finished.summary["unmet_entries"] == ["leader_stays"]
    assert finished.summary["stale_entries"] == []


def test_entry_that_only_tells_of_faults_is_met_or_named(targets_folder, tmp_path):
    from tests.support.suites import write_suite
    from tests.support.toy.vectors import killers, vector

    from charter.formats.suite import Manifest, Models

    module = "charter_models.toy.fails_over_badly"
    overlay = {"known": {"": module, "throws": module}}
    about = Manifest("", "toy.lease", "", "keeper", "5eed", 0,
                     Models("charter_models.toy.charter", overlay,
                            {"no_epoch_check": "charter_models.toy.no_epoch_check"}),
                     {"no_epoch_check": tuple(v.id for v in killers())})  # fmt: skip
    register, elect = ("register", {"node": "n1"}), ("elect", {})
    asked = [vector(register, elect, ("failover", {})), *killers()]
    write_suite(tmp_path / "suite", asked, about)
    faithful = judge(targets_folder("faithful"), tmp_path / "suite", tmp_path / "faithful")
    assert faithful.exit_code == 0
    assert faithful.summary["unmet_entries"] == ["throws"]
    assert faithful.summary["stale_entries"] == faithful.summary["claimed_too_much"] == []
    faulty = judge(targets_folder("faults"), tmp_path / "suite", tmp_path / "faulty")
    assert faulty.summary["by_entry"] == {"throws": 1}
    assert (faulty.summary["new_deviations"], faulty.summary["unmet_entries"]) == (0, [])
