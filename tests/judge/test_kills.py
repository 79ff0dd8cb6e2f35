"""Commands that are killed at random moments lose nothing, and leave neither processes nor files.

Each kind of command is killed again and again, then repeated to its end: the result is that of a
command that nobody killed. The moments are drawn from a fixed seed, from the start of the process
to about its usual end. A command that ends before is started anew, and killed earlier.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.judging import environment
from tests.support.processes import find_marked, until

from conform.storage.bucket_store import RunFolder
from conform.storage.scratch import MARK

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
EXAMPLE = Path(__file__).parents[2] / "spec" / "examples" / "primary_backup.charter"


class Killer:
    """Starts `conform` in an environment with a temporary folder of its own, and kills it."""

    def __init__(self, top, seed):
        self.random = random.Random(seed)
        self.scratch = top / "scratch"
        self.scratch.mkdir()
        self.share = 1.0

    def start(self, arguments):
        command = [sys.executable, "-m", "conform.cli.main", *map(str, arguments)]
        env = {**os.environ, **environment(), "TMPDIR": str(self.scratch)}
        return subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def kill(self, arguments, seconds, made):
        """Kill the command within so many seconds. If it ends before, it ends well; then what it
        `made` is removed, and it is tried again, for less long."""
        while not self._is_killed(arguments, seconds * self.share):
            shutil.rmtree(made)
            self.share *= 0.8
            assert self.share > 0.01

    def _is_killed(self, arguments, seconds):
        child = self.start(arguments)
        number = self.random.choice(SIGNALS)
        if number == signal.SIGINT:  # before our code runs, Python itself shows a traceback
            assert until(lambda: any(self.scratch.glob("conform-*")) or child.poll() is not None)
        time.sleep(self.random.uniform(0.0, seconds))
        child.send_signal(number)
        _, err = child.communicate(timeout=60)
        assert "Traceback" not in err
        if child.returncode in (0, 1):
            return False
        assert child.returncode in {-number, 128 + number}, err
        return True

    def finish(self, arguments):
        """The output of the command, run to its end; after it nothing is left."""
        child = self.start(arguments)
        out, err = child.communicate(timeout=120)
        assert child.returncode == 0, err
        mark = f"{MARK}={self.scratch}"
        assert until(lambda: not find_marked(mark)), find_marked(mark)
        assert list(self.scratch.iterdir()) == []
        return out


@pytest.fixture
def killer(tmp_path, request):
    return Killer(tmp_path, request.node.name)


def judging(targets_folder, toy_suite, tmp_path, engine):
    name = targets_folder("leaves_others")
    path = tmp_path / "adapters" / name / "adapter.toml"
    path.write_text(path.read_text().replace('overlay = "known"\n', ""))
    return ["run", "--target", name, "--suite", toy_suite, "--engine", engine, "--json",
            "--out", tmp_path / "run"]  # fmt: skip


@pytest.mark.slow  # that a run goes on after it was killed once: test_runs.py
def test_run_that_is_killed_again_and_again_judges_all(killer, targets_folder, toy_suite, tmp_path):
    command = judging(targets_folder, toy_suite, tmp_path, "inline")
    for number in range(40):
        killer.kill(command, 2.5, tmp_path / "run")
        if number % 8 == 7:  # the next ones begin anew
            shutil.rmtree(tmp_path / "run", ignore_errors=True)
    killer.finish(command)
    RunFolder(str(tmp_path / "run")).check()
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["verdicts"]["conforms"], summary["complete"]) == (61, True)
    assert not list((tmp_path / "run").rglob("*.tmp"))


@pytest.mark.slow
def test_run_on_spark_that_is_killed_again_and_again_judges_all(
    killer, targets_folder, toy_suite, tmp_path
):
    command = judging(targets_folder, toy_suite, tmp_path, "spark")
    for _ in range(12):
        killer.kill(command, 14.0, tmp_path / "run")
    killer.finish(command)
    RunFolder(str(tmp_path / "run")).check()
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["verdicts"]["conforms"], summary["complete"]) == (61, True)


@pytest.mark.slow
def test_suite_whose_import_is_killed_is_imported_by_the_next_run(
    killer, targets_folder, toy_suite, tmp_path
):
    command = judging(targets_folder, toy_suite, tmp_path, "inline")
    for _ in range(30):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        killer.kill(command, 0.9, tmp_path / "cache")
    killer.finish(command)
    (suites,) = (tmp_path / "cache").glob("suites-*")
    assert len([path for path in suites.iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_search_with_a_journal_that_is_killed_finds_all(kills, killer, called, tmp_path):
    search = ["explore", EXAMPLE, "--instance", "tiny", "--json"]
    expected = json.loads(called(*search)[1])
    journal = ["--journal", tmp_path / "journal"]
    for number in range(kills):
        killer.kill([*search, *journal], 3.0, tmp_path / "journal")
        if number % 5 == 4:
            shutil.rmtree(tmp_path / "journal", ignore_errors=True)
    found = json.loads(killer.finish([*search, *journal]))
    for name in ("distinct", "generated", "outside", "levels", "findings"):
        assert found[name] == expected[name]
