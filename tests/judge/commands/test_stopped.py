"""Every command ends after SIGTERM, with 143 and nothing left, also where something hangs."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.comparing.sampled import sample
from tests.support.judging import environment
from tests.support.processes import runs, until

from conform.cli import main as cli

EXAMPLES = Path(__file__).parents[3] / "spec" / "examples"
SECONDS = 60  # far more than it takes: nothing is measured

HANGS = """
import argparse, hashlib, sys, threading
from conform.cli import main as cli
from conform.cli import unused_options
from conform.console import interrupts

def hang(chosen):
    threading.Timer(0.3, print, ["running"], {"flush": True}).start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # for half an hour in code of C

interrupts.GRACE = 0.2
command = cli.command_of(sys.argv[1])
command.run = hang
cli.parser_of = lambda name, about: argparse.ArgumentParser()
unused_options.refuse_unused = lambda *_: None
sys.exit(cli.main())
"""


@pytest.fixture
def started(tmp_path):
    """Starts a command as the leader of a group, with a temporary folder of its own."""
    made = []
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def start(*command):
        child = subprocess.Popen(
            [sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True, start_new_session=True,
            env={**os.environ, **environment(), "TMPDIR": str(scratch),
                 "CHARTER_CACHE": str(tmp_path / "cache")},
        )  # fmt: skip
        made.append(child)
        return child

    yield start
    for child in made:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def children(pid):
    """The processes that a process has started, and that still run."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split() if runs(int(child))]


@pytest.mark.parametrize("name", sample(cli.commands(), 4))
def test_a_command_ends_after_sigterm_when_it_hangs_in_code_that_is_not_python(
    name, started, tmp_path
):
    child = started("-c", HANGS, name)
    assert child.stdout.readline() == "running\n"
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=SECONDS)
    assert (child.returncode, "interrupted; what did not end was ended" in err) == (143, True), err
    assert list((tmp_path / "scratch").iterdir()) == []


SHARED = {
    "simulate": (EXAMPLES / "paxos.charter", "--instance", "tiny", "--walks", 10_000_000,
                 "--steps", 60, "--workers", 2),
    "vectors": ("TOY", "--profile", "full", "--out", "SUITE"),
    "mutate": (EXAMPLES / "paxos.charter", "--jobs", 2),
}  # fmt: skip


SPAWNING = ("vectors",)
"""Those whose processes are new ones of Python."""


def some(*quick):
    """The commands that share their work, those in `quick` in each run."""
    return [pytest.param(name, marks=[] if name in quick else [pytest.mark.slow])
            for name in SHARED]  # fmt: skip


@pytest.fixture
def sharing(started, request, toy, tmp_path):
    """A command that has shared its work with two processes, and these."""
    places = {"TOY": toy, "SUITE": tmp_path / "suite"}
    given = [places.get(each, each) for each in SHARED[request.param]]
    child = started("-m", "conform.cli.main", request.param, *given)
    count = 3 if request.param in SPAWNING else 2  # one keeps track of what they share
    assert until(lambda: len(children(child.pid)) == count or child.poll() is not None, SECONDS), (
        children(child.pid)
    )
    workers = children(child.pid)
    assert len(workers) == count, child.communicate()
    # A process that is stopped before it has begun does not end with its parent.
    assert until(lambda: all(map(ignores_ctrl_c, workers)), SECONDS)
    return child, workers


def ignores_ctrl_c(pid):
    """What a process that shares work does first."""
    status = Path(f"/proc/{pid}/status").read_text()
    ignored = next(line for line in status.splitlines() if line.startswith("SigIgn:"))
    return bool(int(ignored.split()[1], 16) >> (signal.SIGINT - 1) & 1)


@pytest.mark.parametrize("sharing", some("vectors"), indirect=True)
def test_a_command_ends_after_sigterm_when_its_processes_hang(sharing):
    ends_with_its_processes(sharing, os.kill)


@pytest.mark.parametrize("sharing", some("simulate"), indirect=True)
def test_a_command_ends_when_its_group_gets_sigterm_and_its_processes_hang(sharing):
    ends_with_its_processes(sharing, os.killpg)


def ends_with_its_processes(sharing, end):
    child, workers = sharing
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    end(child.pid, signal.SIGTERM)
    _, err = child.communicate(timeout=SECONDS)
    assert child.returncode == 143
    assert "conform: interrupted" in err and "what did not end" not in err
    assert until(lambda: not any(map(runs, workers)))


@pytest.mark.parametrize("sharing", some("mutate"), indirect=True)
def test_a_command_says_what_happened_when_one_of_its_processes_was_killed(sharing):
    child, workers = sharing
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    _, err = child.communicate(timeout=SECONDS)
    assert (child.returncode, "ended by signal 9 before its part was done" in err) == (2, True), err
