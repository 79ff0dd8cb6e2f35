"""A closed or full stream, or too little memory, is never a finding, a traceback or a crash."""

import os
import subprocess
import sys

import pytest
from tests.support.judging import environment

FINE = {"check": ("check", "TOY"), "version": ("--version",)}
CLOSED = ["2>&-", "2>/dev/full", ">&-", "<&- >&- 2>&-"]


def start(shell, *arguments):
    """A command of the shell in which "$@" is `conform` with arguments."""
    words = [sys.executable, "-m", "conform.cli.main", *map(str, arguments)]
    return subprocess.run(["sh", "-c", shell, "sh", *words], env={**os.environ, **environment()},
                          capture_output=True, text=True, check=False)  # fmt: skip


@pytest.mark.parametrize("streams", CLOSED)
@pytest.mark.parametrize("name", FINE)
def test_exit_code_and_result_stay_when_a_stream_is_closed_or_stderr_is_full(name, streams, toy):
    command = [toy if word == "TOY" else word for word in FINE[name]]
    usual, done = start('"$@"', *command), start(f'"$@" {streams}', *command)
    assert done.returncode == usual.returncode == 0
    assert done.stdout == ("" if ">&-" in streams.split() else usual.stdout)
    assert done.stderr == ("" if "2>" in streams else usual.stderr)


@pytest.mark.parametrize("option", ["--version", "--help", "targets"])
def test_result_that_cannot_be_written_is_one_sentence_and_no_finding(option):
    done = start('"$@" >/dev/full', option)
    assert (done.returncode, done.stderr) == (2, "conform: No space left on device; make room\n")


def test_message_for_a_full_stderr_ends_with_its_code():
    assert start('"$@" 2>/dev/full', "no-command").returncode == 2


def test_file_that_is_opened_first_is_no_stream_when_these_are_closed(toy, tmp_path):
    """Else messages would be written into it."""
    picture = tmp_path / "picture.svg"
    done = start('"$@" >&- 2>&-', "explore", toy, "--instance", "tiny", "--picture", picture)
    assert done.returncode == 1
    assert picture.read_text().startswith("<svg") and picture.read_text().endswith("</svg>\n")


@pytest.mark.parametrize("kilobytes", [120_000, 180_000, 300_000])
def test_too_little_memory_is_one_sentence_and_no_finding(kilobytes, targets_folder, toy_suite):
    command = ("run", "--target", "reference", "--suite", toy_suite, "--engine", "inline")
    done = start(f'ulimit -v {kilobytes}; "$@"', *command)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("conform: there is not enough memory")
    assert done.stderr.count("\n") == 1
