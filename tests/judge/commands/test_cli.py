"""The command line: exit codes, one sentence for each error, JSON."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.support.judging import environment, project_with_targets
from tests.support.toy.vectors import write_toy_suite

from conform.cli import main as cli
from conform.cli.commands.judge import compare, rejudge, replay, run
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.storage.bucket_store import RunFolder

COMMANDS = [*cli._PROJECT, *cli._JUDGE, *cli._COMPILER]


@pytest.fixture
def conform(conform, monkeypatch, tmp_path):
    """The command, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return conform


@pytest.fixture(scope="module")
def judged(toy_suite, tmp_path_factory):
    """A project with two finished runs that differ: the reference, and one that keeps its
    leader."""
    place = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patch:
        add = project_with_targets(place, patch)
        for name in ("reference", add("keeps_leader")):
            options = RunOptions(name, suite=str(toy_suite), engine="inline", out=name)
            run_target(options, lambda _: None)
    return place


@pytest.fixture
def runs(conform, judged, monkeypatch):
    """The folders of the two, in whose project the test then is; nothing may be written there."""
    monkeypatch.chdir(judged)
    monkeypatch.setenv("CHARTER_CACHE", str(judged / "cache"))
    return [judged / "reference", judged / "fake-keeps_leader"]


def test_overview_names_every_command(conform):
    code, out, _ = conform("--help")
    assert code == 0
    assert all(f"  {command} " in out for command in COMMANDS)


def test_overview_imports_nothing_heavy():
    program = (
        "import sys; from conform.cli.main import main; main(['--help']);"
        "heavy = {'orjson', 'pyarrow', 'rich', 'pyspark', 'lark', 'z3', 'jinja2', 'charter.api'};"
        "sys.exit(9 if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment()}, check=False,
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fly"], "conform: there is no command 'fly'; conform --help lists them"),
        (["run"], "conform run: the following arguments are required: --target"),
        (["run", "--target", "x", "--engine", "steam"], "invalid choice: 'steam'"),
        (["init", "x", "--template", "leas"], "did you mean lease?"),
        (["eval", "x.charter", "tiny", "x"], "an instance is named by --instance NAME"),
        (["run", "--target", "x", "--limit", "-1"], "is not a whole number from 1 on"),
        (["run", "--target", "nobody"], "conform: there is no target 'nobody'"),
        (["run", "--target", "kafka-controler"], "; did you mean kafka-controller?"),
        (["compare", "here", "there"], "is not a finished run"),
        (["replay", "abc"], "say which target"),
        (["rejudge", "nowhere", "--suite", "none", "--out", "x"], "there is no suite 'none'"),
        (["doctor", "--adapter", "nobody"], "there is no target 'nobody'"),
    ],
)
def test_what_the_caller_can_mend_is_one_sentence_and_2(
    conform, targets_folder, arguments, sentence
):
    code, out, err = conform(*arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EROFS, "Read-only file system; work on a copy of it in a folder of yours"),
        (errno.EACCES, "Permission denied; change its permissions, or work on a copy of it"),
        (errno.ENOSPC, "No space left on device; make room"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_what_the_system_refuses_has_its_remedy(conform, monkeypatch, number, remedy):
    def refuse(_):
        raise OSError(number, os.strerror(number), "build/suites")

    monkeypatch.setattr(compare, "run", refuse)
    assert conform("compare", "a", "b") == (2, "", f"conform: build/suites: {remedy}\n")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), "/proc"),
        ImportError("libarrow.so.2600: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        ValueError("Failed to launch worker thread: Resource temporarily unavailable"),
    ],
)
def test_too_little_memory_is_one_sentence(conform, monkeypatch, error):
    def refuse(_):
        raise error

    monkeypatch.setattr(compare, "run", refuse)
    code, out, err = conform("compare", "a", "b")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "there is not enough memory" in err and "`ulimit -v`" in err


def test_run_prints_what_a_person_wants_to_know(conform, targets_folder, toy_suite, tmp_path):
    name = targets_folder("faults")
    code, out, _ = conform("run", "--target", name, "--suite", toy_suite, "--engine", "inline")
    assert code == 1
    lines = out.splitlines()
    assert lines[0] == f"Fake 1.0 against toy.lease keeper, suite {suite_digest(toy_suite)[:8]}"
    finding = "failover/done: expected true, got the fault java.lang.IllegalStateException"
    assert lines[2].startswith("  fault  f-") and lines[2].endswith(finding)
    assert lines[3].endswith(" to 1:") and lines[4].strip() == "1 failover()"
    assert "see: conform replay " in lines[7] and " --run build/runs/" in lines[7]
    assert lines[-1].startswith("exit 1: ")
    assert "1 finding that no overlay entry explains (" in lines[-1]
    assert (tmp_path / "build" / "runs" / f"{name}-{suite_digest(toy_suite)[:8]}").is_dir()


def suite_digest(folder):
    return json.loads((folder / "manifest.json").read_text())["digest"]


def test_run_as_json(conform, targets_folder, toy_suite):
    code, out, _ = conform(
        "run", "--target", "reference", "--suite", toy_suite, "--engine", "inline", "--json"
    )
    found = json.loads(out)
    assert code == found["summary"]["exit"] == 0
    assert found["run"]["target"] == "reference"


def test_replay_shows_the_divergence(conform, runs):
    row = RunFolder(str(runs[1])).table("deviations").to_pylist()[0]
    code, out, _ = conform("replay", row["id"][:10], "--run", runs[1])
    assert code == 1
    assert "DIVERGES (state; leader_stays); the charter allows:" in out
    assert "observation.leader = none" in out
    code, out, _ = conform("replay", row["id"], "--run", runs[1], "--target", "reference", "--json")
    assert code == 0
    assert json.loads(out)["kind"] == "conforms"


def test_replay_shows_an_image_that_fails(conform, targets_folder, tiny_toy_suite, tmp_path):
    target = targets_folder("broken_image")
    asked = ("--target", target, "--suite", tiny_toy_suite, "--engine", "inline")
    assert conform("run", *asked, "--out", tmp_path / "r")[0] == 1
    rows = RunFolder(str(tmp_path / "r")).table("deviations").to_pylist()
    row = next(row for row in rows if row["severity"] == "image")
    code, out, _ = conform("replay", row["id"], "--run", tmp_path / "r")
    assert code == 1
    assert "DIVERGES (image; new); the broker's image differs:" in out
    assert "image.fault = java.lang.IllegalStateException\n" in out


def test_replay_of_what_is_not_there(conform, runs):
    code, _, err = conform("replay", "zz", "--run", runs[0])
    assert code == 2
    assert "no vector of suite" in err


def test_compare_tells_where_two_runs_differ(conform, runs):
    code, out, _ = conform("compare", *runs)
    assert code == 1
    assert "x expire: leader" in out
    code, out, _ = conform("compare", runs[0], runs[0])
    assert code == 0
    assert "0 answered differently" in out
    code, out, _ = conform("compare", *runs, "--json")
    found = json.loads(out)
    assert found["differing"] == len(found["differences"]) > 0


def test_two_runs_of_one_target_are_named_by_their_folders(conform, runs, tmp_path, monkeypatch):
    other = tmp_path / "other"
    runs = [shutil.copytree(run, tmp_path / run.name) for run in runs]
    shutil.copytree(runs[0], other)
    monkeypatch.chdir(tmp_path)
    out = conform("compare", runs[0], other)[1]
    left, right = (line.split(maxsplit=1)[1] for line in lines_of_compare(out)[:2])
    assert left.endswith(" in reference") and right.endswith(" in other")
    assert conform("report", runs[0], other, runs[1], "--out", tmp_path / "site")[0] == 0
    page = (tmp_path / "site" / "index.html").read_text()
    assert "reference (reference)" in page and "reference (other)" in page
    assert "keeps_leader (" not in page
    assert " in " not in lines_of_compare(conform("compare", *runs)[1])[0]


def lines_of_compare(text):
    """The lines about two runs, which come after the table of their findings."""
    table, blank, compared = text.rpartition("\n\nleft ")
    assert table and blank and not table.endswith("\n")
    return f"left {compared}".splitlines()


def test_rejudge_against_the_same_suite_changes_nothing(conform, runs, toy_suite, tmp_path):
    before = json.loads((runs[1] / "summary.json").read_text())
    code, _, _ = conform("rejudge", runs[1], "--suite", toy_suite, "--out", tmp_path / "again")
    after = json.loads((tmp_path / "again" / "summary.json").read_text())
    assert code == before["exit"]
    for name in ("verdicts", "deviations", "by_entry", "by_branch", "distinct_pairs", "bounds"):
        assert before[name] == after[name]
    assert after["not_observed"] == 0


def test_rejudge_against_a_changed_charter_finds_the_changed_rule(
    conform, runs, toy_suite, tmp_path
):
    """The charter is edited so that the leader stays: same questions, other answers. What was
    observed of the target that keeps its leader conforms now, and the reference does not."""
    from tests.support.toy import keeps_leader

    changed = tmp_path / "changed"
    module = "charter_models.toy.keeps_leader"
    write_toy_suite(changed, 60, model=keeps_leader, charter_model=module)
    for place, exit_code in zip(runs, (1, 0), strict=True):
        out = tmp_path / f"{place.name}-again"
        _, said, _ = conform("rejudge", place, "--suite", changed, "--out", out)
        after = json.loads((out / "summary.json").read_text())
        assert bool(after["deviations"]) == bool(exit_code)
        assert ("expire/expired" in said) == bool(exit_code)
        compare_rejudged(conform, place, out, tmp_path / f"{place.name}-site")


def compare_rejudged(conform, place, again, site):
    """A run and what was judged again are told to be the same, by another suite."""
    code, said, _ = conform("compare", place, again)
    assert code == 0
    lines = lines_of_compare(said)
    assert lines[2] == "61 questions in both, 0 answered differently"
    told = re.fullmatch(
        r"the suite differs: (\d+) vectors are judged differently \(\d+ left (conforms|diverges),"
        r" right (conforms|diverges)\), what was observed is the same",
        lines[3],
    )
    assert told and len(lines) == 4
    found = json.loads(conform("compare", place, again, "--json")[1])
    assert (found["judged_differently"], found["differences"]) == (int(told[1]), [])
    conform("report", place, again, "--out", site)
    for page in ("compare.html", "index.html"):
        text = (site / page).read_text()
        assert f"The suite differs: {told[1]} vectors are judged differently" in text
        assert "0 of 61 vectors" in text and "both observed the same" not in text


def test_targets_as_json(conform, targets_folder):
    targets_folder("faithful")
    code, out, _ = conform("targets", "--json")
    assert code == 0
    assert [item["id"] for item in json.loads(out)] == [
        "fake-faithful", "reference", "fakeredis", "kafka-controller",
        "kafka-controller-experimental-elr", "redis-server",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "broken"),
    [("faithful", set()), ("bad_nonce", {"answers a question without operations"})],
)
def test_doctor_holds_an_adapter_to_the_protocol(conform, targets_folder, mode, broken):
    name = targets_folder(mode)
    sorts = '{"Node": {"n1": 0, "n2": 7}}'
    code, out, _ = conform("doctor", "--adapter", name, "--sorts", sorts, "--json")
    checks = json.loads(out)
    assert code == (1 if broken else 0)
    assert broken <= {check["rule"] for check in checks if not check["ok"]}
    assert len(checks) >= 12


def test_interrupted_run_is_130_and_goes_on(conform, targets_folder, toy_suite, tmp_path):
    name = targets_folder("slow")
    command = [sys.executable, "-m", "conform.cli.main", "run", "--target", name, "--suite",
               str(toy_suite), "--engine", "inline", "--out", str(tmp_path / "run")]  # fmt: skip
    child = subprocess.Popen(
        command, env={**os.environ, **environment()}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not list((tmp_path / "run").glob("commits/*.json")) and time.monotonic() < until:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    kept = r"finished work is kept: \d+ of \d+ buckets; the same command goes on$"
    assert re.search(f"conform: interrupted; {kept}", err.strip())
    assert "Traceback" not in err
    assert "continuing the run" in conform(*command[3:])[2]


def test_run_that_is_interrupted_before_it_judges_promises_nothing(
    conform, targets_folder, toy_suite, tmp_path, monkeypatch
):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("conform.runs.execute.prepare_run", interrupt)
    target, place = targets_folder("slow"), tmp_path / "run"
    code, _, err = conform("run", "--target", target, "--suite", toy_suite, "--out", place)
    assert code == 130
    assert err.strip().endswith("conform: interrupted")
    assert not place.exists()


def test_simulate_promises_nothing_when_it_is_interrupted(conform, toy, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("charter.api.simulate", interrupt)
    code, _, err = conform("simulate", toy)
    assert code == 130
    assert err.strip().endswith("conform: interrupted")


def test_commands_share_one_shape():
    for module in (run, replay, compare, rejudge):
        assert module.EXAMPLES.startswith("examples:")
