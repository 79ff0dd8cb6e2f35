"""Work in several processes: its results, and its end when a process dies, hangs, or is left."""

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.support.processes import runs, until

from charter.explore.workers import WorkerDied, as_finished, in_processes


def square(number: int) -> int:
    if number == 13:
        raise ValueError("unlucky")
    return number * number


def kill(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def pid_of_a_hung_process(number: int) -> int:
    if number:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
        time.sleep(3600)
    return os.getpid()


def safe_path(_: int) -> bool:
    return sys.flags.safe_path


def many_bytes(number: int) -> bytes:
    return bytes([number]) * 1_000_000


def test_results_are_in_the_order_of_the_tasks_and_each_comes_once() -> None:
    assert list(in_processes(square, range(10), 3)) == [n * n for n in range(10)]
    assert sorted(as_finished(square, range(10), 3)) == [(n, n * n) for n in range(10)]
    assert list(in_processes(square, [], 3)) == []
    assert [each[0] for each in in_processes(many_bytes, range(4), 2)] == [0, 1, 2, 3]


def test_what_a_call_raises_comes_to_the_caller_with_its_place() -> None:
    with pytest.raises(ValueError, match="unlucky") as raised:
        list(in_processes(square, [1, 13, 2], 2))
    assert "in square" in str(raised.value.__cause__)


def test_a_process_that_was_killed_is_an_error_with_a_remedy() -> None:
    with pytest.raises(WorkerDied, match=r"ended by signal 9 before .*; if the machine has too"):
        list(in_processes(kill, range(5), 2))


def test_processes_that_hang_end_when_the_caller_goes_on_without_them() -> None:
    results = in_processes(pid_of_a_hung_process, [0, 1], 1)
    pid = next(results)
    assert runs(pid)
    results.close()
    assert not runs(pid)


def test_a_new_process_imports_nothing_from_the_working_folder() -> None:
    assert list(in_processes(safe_path, [0], 1, spawn=True)) == [True]
    assert "PYTHONSAFEPATH" not in os.environ


LEFT = """
import sys, time
sys.path.insert(0, ROOT)
from tests.unit.explore.test_workers import pid_of_a_hung_process
from charter.explore.workers import in_processes
for pid in in_processes(pid_of_a_hung_process, [0, 1], 1):
    print(pid, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_processes_that_hang_end_with_their_parent(number: signal.Signals) -> None:
    root = sys.modules["tests"].__path__[0].rpartition("/")[0]
    child = subprocess.Popen(
        [sys.executable, "-c", LEFT.replace("ROOT", repr(root))],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    pid = int(child.stdout.readline())
    child.send_signal(number)
    child.communicate(timeout=60)
    assert until(lambda: not runs(pid))
