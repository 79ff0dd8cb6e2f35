"""Ctrl-C ends a run, whatever Python was doing when it came."""

import contextlib
import signal
import subprocess
import sys

import pytest
from tests.support.judging import fake_start

from conform.adapters.base import AdapterStart
from conform.adapters.stdio import StdioConnection
from conform.console.interrupts import (
    SIGNALS,
    interrupts_later,
    interrupts_remembered,
    stop_on_signals,
)
from conform.runs.engines import inline
from conform.runs.run_context import RunContext


class Buckets:
    """A suite of which nothing is read."""

    buckets = 3

    def items(self, bucket):
        return iter(())


def test_ctrl_c_that_python_drops_still_ends_the_run(monkeypatch):
    """It drops an exception that comes while an object is being destroyed."""
    judged, before = [], signal.getsignal(signal.SIGINT)

    def judge(items, bucket, context, pool):
        judged.append(bucket)
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return {"stopped": False}

    monkeypatch.setattr(inline, "judge_bucket", judge)
    with pytest.raises(KeyboardInterrupt):
        inline.run(
            Buckets(),
            [0, 1, 2],
            RunContext("run", "", AdapterStart(()), suite_buckets=3),
            lambda: None,
        )
    assert judged == [0]
    assert signal.getsignal(signal.SIGINT) is before


WHILE_IMPORTED = """
import os, signal, sys

def interrupt(event, arguments):
    if event == "import" and arguments[0] == "_uuid" and "orjson" in sys.modules:
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(interrupt)
from conform.cli.main import main
sys.argv = ["conform", "targets"]
sys.exit(main())
"""


def test_ctrl_c_waits_until_orjson_is_imported():
    """It crashes the process if one of its own imports raises an exception."""
    done = subprocess.run(
        [sys.executable, "-c", WHILE_IMPORTED], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


WHILE_A_COMMAND_RUNS = """
import os, signal, sys, time, weakref
from conform.cli import main as cli
from conform.cli.commands.judge import targets

def interrupted(*_):
    os.kill(os.getpid(), signal.SIGNAL)
    time.sleep(0.01)

def in_a_callback():
    thing = {1}
    reference = weakref.ref(thing, interrupted)
    del thing

class Field:
    __set_name__ = interrupted

def in_the_making_of_a_class():
    class Made:
        field = Field()

def run(chosen):
    WHERE()
    time.sleep(30)
    return 0

targets.run = run
sys.argv = ["conform", "targets"]
sys.exit(cli.main())
"""


@pytest.mark.parametrize("where", ["in_a_callback", "in_the_making_of_a_class"])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_ctrl_c_that_python_drops_or_turns_into_another_error_ends_the_command(where, name, code):
    script = WHILE_A_COMMAND_RUNS.replace("WHERE", where).replace("SIGNAL", name)
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stderr) == (code, "\nconform: interrupted\n")


def test_ctrl_c_waits_until_the_end_of_the_block():
    done, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts_later():
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("context", [interrupts_later, interrupts_remembered])
def test_ctrl_c_that_is_ignored_stays_ignored(context):
    """A shell starts jobs in the background so."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with context():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_adapter_is_ended_when_ctrl_c_came_while_the_selector_changed(monkeypatch):
    connection = StdioConnection(fake_start("faithful"))
    child = connection._child

    def register(*_):
        raise FileExistsError("File exists")

    monkeypatch.setattr(child.selector, "register", register)
    connection.close()
    assert child.process.poll() is not None


@pytest.fixture
def stopping():
    """SIGTERM and SIGHUP end this process like Ctrl-C."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        if before[number] is signal.SIG_IGN:  # by nohup
            signal.signal(number, signal.SIG_DFL)
    stop_on_signals()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("context", [interrupts_later, interrupts_remembered])
def test_every_signal_that_ends_a_command_is_handled_alike(number, context, stopping):
    done = []
    with pytest.raises(KeyboardInterrupt) as ended, context():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        done.append("all of it")
        if context is interrupts_remembered:
            raise KeyboardInterrupt
    assert done
    if context is interrupts_later:
        assert getattr(ended.value, "exit_code", 130) == 128 + number
