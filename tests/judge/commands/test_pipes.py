"""What is no file is refused in one sentence: a pipe would be waited for."""

import os
import subprocess
import sys

import pytest
from tests.support.judging import environment

CONFORM = [sys.executable, "-c", "import sys; from conform.cli.main import main; sys.exit(main())"]


def run_to_end(*command):
    """Exit code and what is said on stderr; a command that waits fails after a minute."""
    done = subprocess.run(
        [*CONFORM, *map(str, command)], env=environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.fixture
def judged(conform, tiny_toy_suite, tmp_path, targets_folder):
    """The folder of a finished run."""
    run = tmp_path / "run"
    code, _, err = conform("run", "--target", "reference", "--suite", tiny_toy_suite, "--out", run)
    assert code == 0, err
    return run


@pytest.mark.parametrize("name", ["run.json", "summary.json"])
def test_a_pipe_in_the_folder_of_a_run_is_not_waited_for(judged, tmp_path, name):
    (judged / name).unlink()
    os.mkfifo(judged / name)
    code, err = run_to_end("report", judged, "--out", tmp_path / "report")
    assert code == 2
    assert "not a regular file" in err and "Traceback" not in err


def test_a_pipe_for_a_bucket_of_a_run_is_not_waited_for(judged, tmp_path):
    part = sorted((judged / "verdicts").rglob("*.parquet"))[0]
    part.unlink()
    os.mkfifo(part)
    code, err = run_to_end("report", judged, "--out", tmp_path / "report")
    assert code in (2, 3)
    assert "Traceback" not in err


def test_a_pipe_for_a_manifest_is_not_waited_for(tmp_path):
    suite = tmp_path / "suite"
    suite.mkdir()
    os.mkfifo(suite / "manifest.json")
    code, err = run_to_end(
        "run", "--target", "reference", "--suite", suite, "--out", tmp_path / "run"
    )
    assert code == 2
    assert "not a regular file" in err and "Traceback" not in err


def test_a_pipe_for_the_vectors_is_not_waited_for(tiny_toy_suite, tmp_path):
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "manifest.json").write_bytes((tiny_toy_suite / "manifest.json").read_bytes())
    os.mkfifo(suite / "vectors.jsonl")
    code, err = run_to_end(
        "run", "--target", "reference", "--suite", suite, "--out", tmp_path / "run"
    )
    assert code == 2
    assert "not a regular file" in err and "Traceback" not in err


@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_a_baseline_that_is_no_file_is_not_waited_for(tiny_toy_suite, tmp_path, path):
    os.mkfifo(tmp_path / "pipe")
    place = tmp_path / path
    code, err = run_to_end(
        "run", "--target", "reference", "--suite", tiny_toy_suite, "--baseline", place,
        "--out", tmp_path / "run",
    )  # fmt: skip
    assert code == 2
    assert "not a regular file" in err and "Traceback" not in err
