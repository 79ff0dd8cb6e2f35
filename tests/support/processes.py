"""Processes: which still run, and which have a mark in their environment."""

import contextlib
import time
from pathlib import Path


def runs(pid):
    """Whether a process still runs: a dead one may wait for its parent."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def find_marked(text):
    """The processes that run with `text` somewhere in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if text.encode() in path.read_bytes() and runs(int(path.parent.name)):
                found.append(int(path.parent.name))
    return found


def until(happened, seconds=20.0):
    """Wait until `happened()`; returns whether it did."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
