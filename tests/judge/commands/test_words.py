"""What the command line says when something is not right: the true reason, and what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.judging import environment

from charter.formats.verdict import Kind
from conform.runs import run_json
from conform.runs.engines import spark_start
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.storage.bucket_store import RunFolder
from conform.suites import cache

ROOT = Path(__file__).resolve().parents[3]
KAFKA = ROOT / "spec" / "kafka"


@pytest.mark.parametrize(
    ("command", "value"),
    [
        (("run", "--target", "x", "--limit"), "0"),
        (("run", "--target", "x", "--limit"), "many"),
        (("run", "--target", "x", "--limit"), "-1"),
        (("simulate", "x", "--steps"), "few"),
        (("simulate", "x", "--steps"), "0"),
    ],
)
def test_number_that_is_none_is_named_without_our_own_words(conform, command, value):
    code, _, err = conform(*command, value)
    assert code == 2
    assert f"{value!r} is not a whole number from 1 on" in err
    assert "_count" not in err


@pytest.mark.parametrize("command", ["explore", "coverage", "verdicts", "vectors", "watch"])
def test_limit_of_states_is_from_0_on(conform, command):
    code, _, err = conform(command, "x", "--most", "-5")
    assert code == 2
    assert "'-5' is not a whole number from 0 on" in err


def test_folder_that_is_no_run_is_told_without_the_words_of_the_system(conform, tmp_path):
    for name in ("report", "replay"):
        arguments = ["abc", "--run"] if name == "replay" else []
        code, _, err = conform(name, *arguments, tmp_path)
        assert code == 2
        assert f"{tmp_path} is not a finished run (it holds no run.json)" in err
        assert "rrno" not in err
    (tmp_path / "run.json").write_text("{ cut off")
    _, _, err = conform("report", tmp_path)
    assert f"{tmp_path} is not a finished run (run.json is not JSON)" in err


def test_a_path_that_is_not_in_utf8_is_one_sentence(conform, targets_folder, toy_suite, tmp_path):
    target = tmp_path / "target-\udcff"
    shutil.copytree(tmp_path / "adapters" / targets_folder("faithful"), target)
    given = ("--suite", toy_suite, "--engine", "inline")
    code, out, err = conform("run", "--target", target, *given)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert r"the name target-\udcff is not in UTF-8; rename it" in err


def test_an_argument_with_too_many_values_is_told_and_not_searched_for_ever(conform, tmp_path):
    path = tmp_path / "many.charter"
    path.write_text(
        """protocol many
        sort Key
        component c {
          operation put(keys: set Key) -> bool cites silent { branch done reply true }
        }
        witness w of c: took put
        instance tiny of c { Key = 40 }"""
    )
    told = "set Key has more than 1,048,576 values here, too many to list; choose smaller bounds"
    for command in ("explore", "simulate"):
        code, _, err = conform(command, path)
        assert (code, err.count("\n"), told in err) == (2, 1, True), err


def test_arguments_with_too_many_lists_of_values_are_told(conform, tmp_path):
    """Compiled code that goes through the lists of one state cannot be interrupted."""
    path = tmp_path / "many.charter"
    path.write_text(
        """protocol many
        sort Key
        component c {
          operation put(from: set Key, over: set Key, by: set Key) -> bool cites silent {
            branch done reply true
          }
        }
        witness w of c: took put
        instance tiny of c { Key = 12 }"""
    )
    told = "the arguments `from`, `over`, `by` have more than 1,048,576 lists of values here"
    for command in ("explore", "simulate"):
        code, _, err = conform(command, path)
        assert (code, err.count("\n"), told in err) == (2, 1, True), err


def test_vector_that_is_not_there_is_looked_up_where_its_id_stands(
    conform, toy_suite, targets_folder
):
    code, _, err = conform("replay", "zz", "--target", "reference", "--suite", toy_suite)
    assert code == 2
    assert "--list" not in err
    assert "the lines of its vectors.jsonl begin with the ids" in err


@pytest.mark.parametrize(
    ("said", "reason", "remedy"),
    [
        (
            ["WARNING: Using incubator modules: jdk.incubator.vector",
             'Exception in thread "main" org.apache.spark.SparkException: When running with'
             " master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the"
             " environment.", "\tat org.apache.spark.deploy.SparkSubmitArguments.validate"],
            "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set",
            "see --master",
        ),
        (["JAVA_HOME is not set"], "JAVA_HOME is not set", "needs Java 17 or newer"),
        (
            ['Error: LinkageError', "java.lang.UnsupportedClassVersionError: Main has been"
             " compiled by a more recent version"],
            "UnsupportedClassVersionError",
            "needs Java 17 or newer",
        ),
    ],
)  # fmt: skip
def test_reason_why_spark_does_not_start_is_the_one_that_it_gave(said, reason, remedy):
    sentence = spark_start.why_not(said, RuntimeError("JAVA_GATEWAY_EXITED"))
    assert reason in sentence
    assert remedy in sentence
    assert "WARNING" not in sentence
    assert ("Java 17" in sentence) == ("Java 17" in remedy)


@pytest.mark.parametrize("command", ["check", "explore", "prove", "simulate", "vectors"])
def test_one_file_of_a_folder_is_one_sentence_that_names_the_folder(conform, command):
    code, out, err = conform(command, KAFKA / "20-controller.charter")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "is one of the files of kafka.replication" in err
    assert "declared in 00-types.charter" in err
    assert f"give the folder: {KAFKA}" in err


def test_file_that_stands_alone_beside_another_protocol_keeps_its_errors(conform, tmp_path):
    (tmp_path / "a.charter").write_text("protocol a\n\nfun f(x: Thing) -> bool cites silent = true")
    (tmp_path / "b.charter").write_text("protocol b\n\nsort Thing\n")
    code, out, _ = conform("check", tmp_path / "a.charter")
    assert code == 1
    assert "[name/unknown]" in out


ALONE = (
    "protocol a\n\nrecord Frame { bit: bool }\nfun f() -> Frame cites silent = Frame { bit: 1 }\n"
)


@pytest.mark.parametrize("wrong", ["Frame { bit: 1 }", "Frame { bot: true }", "Frame { }"])
def test_file_that_declares_the_name_itself_keeps_its_errors(conform, tmp_path, wrong):
    right = ALONE.replace("bit: 1", "bit: true")
    (tmp_path / "a.charter").write_text(right)
    (tmp_path / "e.charter").write_text(right.replace("Frame { bit: true }", wrong))
    code, out, err = conform("check", tmp_path / "e.charter")
    assert code == 1
    assert "e.charter:4:" in out
    assert "give the folder" not in err


def test_copy_of_a_file_beside_it_hides_no_error(conform, tmp_path):
    text = "protocol a\n\nsort Client\nsort Server\nfun f(c: Client) -> Client cites silent = c\n"
    (tmp_path / "a.charter").write_text(text)
    (tmp_path / "b.charter").write_text(text.replace("sort Client", "sort Cleint"))
    code, out, err = conform("check", tmp_path / "b.charter")
    assert (code, "give the folder" in err) == (1, False)
    assert "there is no type `Client`" in out
    assert "did you mean `Cleint`?" in out


def test_neighbour_that_cannot_be_read_hides_no_error(conform, tmp_path):
    (tmp_path / "a.charter").write_text(ALONE)
    (tmp_path / "bin.charter").write_bytes(b"\xff\xfe")
    (tmp_path / "folder.charter").mkdir()
    code, out, err = conform("check", tmp_path / "a.charter")
    assert (code, "[type/mismatch]" in out, "UTF-8" in err) == (1, True, False)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_closed_pipe_is_not_taken_for_nothing_found(tmp_path, unbuffered):
    (tmp_path / "a.charter").write_text(ALONE)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "conform.cli.main", "check", str(tmp_path / "a.charter")]
    with os.fdopen(writer, "wb") as closed:
        left = subprocess.run(
            command, env={**os.environ, **environment(), "PYTHONUNBUFFERED": unbuffered},
            stdout=closed, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert left.returncode == 141
    assert "Error" not in left.stderr


def test_crash_of_the_judge_itself_is_no_finding(called, monkeypatch):
    def crash(_):
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr("conform.cli.commands.judge.targets.run", crash)
    code, _, err = called("targets")
    assert code == 3
    assert "Traceback" in err and "no such luck" in err
    assert "a bug of conform, so there is no result" in err


@pytest.mark.parametrize(
    "word",
    [*(str(kind) for kind in Kind), "stale", "open", "infeasible", "covered", "unmet", "skipped",
     "killed_in_some_runs", "refused", "outside", "by_entry", "claimed_too_much",
     "entries_allowing_both"],
)  # fmt: skip
def test_counts_are_explained(conform, word):
    code, out, _ = conform("explain", word)
    assert code == 0
    assert out.startswith(f"# {word.replace('_', ' ')}")
    assert len(out) > 70
    assert word in conform("explain", "--list")[1].split()


# --- runs that go on -----------------------------------------------------------------------------


def stop_early(target, suite, out):
    """A run that was stopped after some of its buckets."""
    run_target(RunOptions(target, suite=str(suite), engine="inline", out=str(out)), lambda _: None)
    (out / "summary.json").unlink()
    min((out / "commits").glob("*.json")).unlink()
    return RunFolder(str(out))


def again(target, suite, out):
    said = []
    finished = run_target(
        RunOptions(target, suite=str(suite), engine="inline", out=str(out)), said.append
    )
    return said, finished


def test_run_whose_suite_has_other_buckets_since_begins_anew_and_says_so(
    toy_suite, targets_folder, tmp_path, monkeypatch
):
    """The suite was stored again, on another machine or by another version of conform."""
    name, out = targets_folder("faithful"), tmp_path / "run"
    stop_early(name, toy_suite, out)
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "another cache"))
    monkeypatch.setattr(cache, "_FEWEST", 61)
    said, finished = again(name, toy_suite, out)
    assert said == [
        f"the number of buckets changed since the run in {out} started; it starts again, and"
        " 1 bucket is judged again"
    ]
    assert (finished.run.buckets, finished.folder.buckets_done()) == (1, [0])
    assert finished.summary["verdicts"]["conforms"] == 61


def test_run_whose_models_changed_since_begins_anew_and_says_so(
    toy_suite, targets_folder, tmp_path, monkeypatch
):
    name, out = targets_folder("faithful"), tmp_path / "run"
    folder = stop_early(name, toy_suite, out)
    done = {path: path.stat().st_mtime_ns for path in out.glob("verdicts/*/*.parquet")}
    assert len(folder.read_committed()) == 1
    monkeypatch.setattr(run_json.model, "digest", lambda modules: "another")
    said, finished = again(name, toy_suite, out)
    assert said == [
        f"the models changed since the run in {out} started; it starts again, and"
        " 1 bucket is judged again"
    ]
    assert all(path.stat().st_mtime_ns > before for path, before in done.items())
    assert finished.run.models == "another"


def test_run_whose_overlay_releases_changed_since_begins_anew(toy_suite, targets_folder, tmp_path):
    name, out = targets_folder("keeps_leader"), tmp_path / "run"
    stop_early(name, toy_suite, out)
    said = []
    finished = run_target(
        RunOptions(name, suite=str(toy_suite), engine="inline", out=str(out)),
        said.append,
        lambda _: {"leader_stays": ("9.0", "")},
    )
    assert [line.partition(" changed")[0] for line in said] == ["the overlay's entries"]
    assert "leader_stays" not in finished.summary["by_entry"]


def test_digest_of_models_is_another_when_a_model_is(tmp_path, monkeypatch):
    from conform.judging import model

    package = tmp_path / "some_models"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "base.py").write_text("A = 1\n")
    exports = "".join(f"{name} = A\n" for name in model.EXPORTS)
    (package / "sibling.py").write_text(f"from some_models.base import A\n{exports}")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = model.digest(["some_models.sibling"])
    assert before == model.digest(["some_models.sibling"])
    (package / "base.py").write_text("A = 2\n")
    assert model.digest(["some_models.sibling"]) != before


def test_command_of_the_shell_ends_with_3_when_it_crashes(tmp_path):
    """Seen from outside, as a CI sees it."""
    shutil.copytree(ROOT / "conformance" / "conform", tmp_path / "conform")
    broken = tmp_path / "conform" / "cli" / "commands" / "judge" / "targets.py"
    broken.write_text(broken.read_text().replace("found = targets.targets()", "found = 1 / 0"))
    path = f"{tmp_path}:{environment()['PYTHONPATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "conform.cli.main", "targets"], check=False, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
