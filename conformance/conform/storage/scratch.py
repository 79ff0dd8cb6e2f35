"""Manages the temporary folder of one command, and the processes that it started: nothing is left
behind.

Temporary files of the command and of its children go to one folder `conform-*`, which is deleted at
the end. The children inherit its path in an environment variable, by which those are found that
made a session of their own. A killed command cannot clean up: the next one does it, for every
folder whose lock is free. Only the file `.scratch-of-conform`, with its fixed text, makes a folder
one of these: a folder of a user's has another name for whatever it locks, and is never deleted.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from conform.storage.lease import Lease

MARK = "CONFORM_SCRATCH"
_OWNER = ".scratch-of-conform"
"""The file that marks a scratch folder, and that is locked while its command runs."""
_OWNED = "A scratch folder of conform: the next command deletes it when this process has ended: "
_PR_SET_PDEATHSIG = 1
_KERNEL_THREAD, _HIDDEN = 0x200000, "1"
_SCANS, _SCAN_PAUSE = 100, 0.005  # times, seconds


@functools.cache
def make_scratch() -> Lease | None:
    """Make the temporary folder of this process, and clean up after killed ones; returns its lock.
    None if no folder can be made, or the system has no locks."""
    top = Path(tempfile.gettempdir())
    for folder in top.glob("conform-*"):
        _sweep(folder)
    try:
        made = Path(tempfile.mkdtemp(prefix=".conform-", dir=top))
        (made / _OWNER).write_text(f"{_OWNED}{os.getpid()}\n", encoding="utf-8")
        lease = Lease(made / _OWNER)
        if not lease.take():
            shutil.rmtree(made)
            return None
        folder = made.rename(top / made.name[1:])  # others may sweep it only if it has no owner
    except OSError:
        return None
    tempfile.tempdir = str(folder)
    os.environ.update({"TMPDIR": str(folder), MARK: str(folder)})
    atexit.register(_end, folder, lease, os.getpid())
    return lease


def end_marked(name: str, value: str) -> int:
    """Kill all other processes of this user that have a variable in their environment, as they got
    it when they started; returns how many. Does nothing where there is no /proc."""
    wanted, ended = f"{name}={value}".encode(), set[int]()
    for _ in range(_SCANS):
        starting = False
        for pid in _other_processes():
            with contextlib.suppress(OSError):  # it ended, or belongs to somebody else
                held = _read_proc(pid, "environ")
                if not held:  # to read `stat` takes eight times as long
                    starting |= _is_starting(_read_proc(pid, "stat").decode(errors="replace"))
                    held = _read_proc(pid, "environ")  # the program may have started meanwhile
                if wanted in held.split(b"\0"):
                    os.kill(pid, signal.SIGKILL)
                    ended.add(pid)
        if not starting:
            break
        time.sleep(_SCAN_PAUSE)
    return len(ended)


def _other_processes() -> list[int]:
    try:
        names = os.listdir("/proc")
    except FileNotFoundError:
        return []
    return [int(name) for name in names if name.isdecimal() and int(name) != os.getpid()]


def _read_proc(pid: int, what: str) -> bytes:
    """A file of /proc about a process. Raises OSError."""
    with open(f"/proc/{pid}/{what}", "rb", buffering=0) as file:
        return file.read()


def _is_starting(stat: str) -> bool:
    """Whether a process, by its line in /proc/PID/stat (proc(5)), is about to become another
    program: for a moment its environment reads as empty, even after `Popen` has returned."""
    fields = stat.rpartition(")")[2].split()  # from field 3, the state
    if fields[0] in "ZX" or int(fields[6]) & _KERNEL_THREAD:
        return False
    start_of_code, end_of_environment = fields[23], fields[48]
    return start_of_code != _HIDDEN and end_of_environment == "0"


def dying_with_parent() -> Callable[[], object] | None:
    """A function to call in a child before it becomes another program: Linux kills the child when
    the thread that started it ends, however that ends. None on other systems."""
    prctl = _prctl()
    if prctl is None:
        return None
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before it was asked for
            os._exit(1)

    return ask


@functools.cache
def _prctl() -> Callable[[int, int], object] | None:
    """The system call of Linux; loaded once, and not in a child."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        call: Callable[[int, int], object] = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    return call


def _sweep(folder: Path) -> None:
    """Remove what a killed process left: its children, and its folder."""
    with contextlib.suppress(OSError):
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        if not _is_scratch(folder):
            return
        lease = Lease(folder / _OWNER)
        if lease.take():
            end_marked(MARK, str(folder))
            shutil.rmtree(folder, ignore_errors=True)
        lease.close()


def _is_scratch(folder: Path) -> bool:
    """Whether a folder was made by `make_scratch`, and for nothing that a user keeps."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = (folder / _OWNER).read_text(encoding="utf-8")
        return text.startswith(_OWNED) and not (folder / "run.json").exists()
    return False


def _end(folder: Path, lease: Lease, owner: int) -> None:
    if os.getpid() != owner:  # a forked child
        return
    _remove(folder)
    lease.close()


def clean_up() -> None:
    """End what this process started, and remove its temporary folder, if it has made one."""
    folder = os.environ.get(MARK)
    if folder and folder == tempfile.tempdir:
        _remove(Path(folder))


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError, MemoryError):  # without memory /proc cannot be read
        end_marked(MARK, str(folder))
    shutil.rmtree(folder, ignore_errors=True)
