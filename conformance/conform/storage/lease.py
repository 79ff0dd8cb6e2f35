"""Locks a file, to mark something in the cache as in use or being written.

The operating system releases it when the process ends, however it ends, so a killed run blocks
nobody.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path


class Lease:
    """A lock on `path`, which is created if it is missing. `works` is False if locks are not
    possible (a read-only cache, a file system without locks): then nobody is excluded."""

    def __init__(self, path: Path) -> None:
        self.works = True
        self._file = None
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")

    def share(self) -> None:
        """Take a shared lock. Waits for an exclusive one to end."""
        self._lock(alone=False)

    def take(self) -> bool:
        """Try to take the exclusive lock; a shared lock of this object is released. Returns whether
        it succeeded."""
        return self._lock(alone=True)

    def wait(self) -> None:
        """Take the exclusive lock; waits until no other process has it."""
        self._lock(alone=True, now=False)

    def close(self) -> None:
        """Release the lock."""
        if self._file is not None:
            self._file.close()

    def _lock(self, *, alone: bool, now: bool = True) -> bool:
        try:
            import fcntl

            if self._file is None:
                raise OSError
            how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
            fcntl.flock(self._file, how | fcntl.LOCK_NB if alone and now else how)
        except BlockingIOError:
            return False
        except (ImportError, OSError):
            self.works = False
            return False
        return True


@contextlib.contextmanager
def in_turn(folder: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Waits until no other process is in `folder`, which is created if it is missing; calls
    `waiting` if one is. No file is left there. Where locks are not possible, nobody is excluded."""
    held = None
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        folder.mkdir(parents=True, exist_ok=True)
        held = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(held, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if held is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_UN)  # children that were forked have the file, too
            os.close(held)
