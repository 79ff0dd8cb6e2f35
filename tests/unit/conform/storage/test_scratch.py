"""A command leaves neither processes nor temporary files, however it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.judging import environment, fake_start
from tests.support.processes import find_marked, runs, until

from conform.adapters.stdio import StdioConnection
from conform.storage.scratch import MARK, end_marked

CLAIM = """
import subprocess, sys, tempfile
from conform.storage.scratch import make_scratch
make_scratch()
tempfile.mkdtemp(prefix="spark-")
null = subprocess.DEVNULL
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"],
                         start_new_session=True, stdin=null, stdout=null, stderr=null)
print(tempfile.gettempdir(), child.pid, flush=True)
sys.stdin.read()
"""
REFUSED = """
from conform.storage import scratch
def refused(name, value):
    raise OSError(12, "Cannot allocate memory", "/proc")
scratch.end_marked = refused
"""
ORPHAN = """
import os, time
from conform.storage.scratch import dying_with_parent
ask = dying_with_parent()
me = os.getpid()
if os.fork() == 0:
    while os.getppid() == me:
        time.sleep(0.01)
    ask()
    print("goes on", flush=True)
"""
ADAPTER = """
import sys, time
from tests.support.judging import fake_start
from conform.adapters.stdio import StdioConnection
connection = StdioConnection(fake_start("hang"))
print(connection._child.process.pid, flush=True)
time.sleep(3600)
"""


@pytest.fixture
def started(tmp_path):
    """Starts Python code in a process with a temporary folder of the test's own."""
    made = []

    def start(code):
        env = {**os.environ, **environment(), "TMPDIR": str(tmp_path)}
        child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True, env=env)  # fmt: skip
        made.append(child)
        return child, child.stdout.readline().split()

    yield start
    for child in made:
        child.kill()
        child.wait()
        child.stdout.close()
    for pid in find_marked(f"{MARK}={tmp_path}"):
        os.kill(pid, signal.SIGKILL)


def folders(tmp_path):
    return [path.name for path in tmp_path.iterdir()]


def test_nothing_is_left_when_a_command_ended(started, tmp_path):
    child, (folder, pid) = started(CLAIM)
    assert Path(folder).parent == tmp_path and Path(folder).name.startswith("conform-")
    assert len(list(Path(folder).glob("spark-*"))) == 1
    assert runs(pid)
    child.stdin.close()
    child.wait()
    assert folders(tmp_path) == []
    assert until(lambda: not runs(pid))


def test_folder_is_removed_when_processes_cannot_be_listed(started, tmp_path):
    child, _ = started(f"{CLAIM}child.kill()\n{REFUSED}")
    child.stdin.close()
    child.wait()
    assert folders(tmp_path) == []


def test_next_command_cleans_up_when_one_was_killed(started, tmp_path):
    child, (folder, pid) = started(CLAIM)
    running, (other, second) = started(CLAIM)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert Path(folder).exists() and runs(pid)
    started(CLAIM)
    assert not Path(folder).exists()
    assert until(lambda: not runs(pid))
    assert Path(other).exists() and runs(second)
    assert running.poll() is None


def test_folder_of_somebody_else_is_not_removed(started, tmp_path):
    (tmp_path / "conform-notes").mkdir()
    (tmp_path / "conform-link").symlink_to(tmp_path / "conform-notes")
    started(CLAIM)
    assert {"conform-notes", "conform-link"} < set(folders(tmp_path))


@pytest.mark.parametrize("held", [".lock", ".scratch-of-conform"])
def test_folder_of_a_user_is_not_removed_when_it_has_the_name_and_a_free_lock(
    held, started, tmp_path
):
    for folder, text in (("conform-4.3.1", ""), ("conform-note", "a scratch of mine")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / held).write_text(text)
    started(CLAIM)
    assert {"conform-4.3.1", "conform-note"} < set(folders(tmp_path))


def test_run_is_not_removed_when_it_lies_in_a_scratch_folder_of_a_killed_command(started, tmp_path):
    child, (folder, _) = started(CLAIM)
    (Path(folder) / "run.json").write_text("{}")
    child.send_signal(signal.SIGKILL)
    child.wait()
    started(CLAIM)
    assert (Path(folder) / "run.json").exists()


def test_process_that_left_its_adapter_ends_with_it(tmp_path):
    log = tmp_path / "log"
    connection = StdioConnection(fake_start("leaves_others", str(log)))
    pid = log.read_text().split()[-1]
    assert runs(pid)
    connection.close()
    assert until(lambda: not runs(pid))


def test_adapter_that_hangs_ends_when_the_judge_was_killed(started):
    child, (pid,) = started(ADAPTER)
    assert runs(pid)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert until(lambda: not runs(pid))


def test_process_that_is_about_to_become_another_program_is_found():
    """For a moment after `Popen` returned, its environment reads as empty."""
    sleep = ["sleep", "3600"]
    for number in range(50):
        env = {**os.environ, MARK: f"test {number}"}
        child = subprocess.Popen(sleep, env=env, start_new_session=True)
        try:
            assert end_marked(MARK, f"test {number}") == 1
        finally:
            child.kill()
            child.wait()


def test_nobody_has_a_mark_that_nobody_gave():
    assert find_marked(f"{MARK}=nobody") == []


def test_a_child_does_not_begin_when_its_parent_has_ended_before_it_could_ask() -> None:
    command = [sys.executable, "-c", ORPHAN]
    # The output ends when the child has ended, too.
    done = subprocess.run(command, env=environment(), capture_output=True, check=True, timeout=60)
    assert done.stdout == b"", done.stdout
