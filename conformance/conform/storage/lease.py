"""A lock on a file, to say that something in the cache is in use, or is being written.

The operating system keeps it: it ends with the process that holds it, however that ends, so that a
killed run leaves nothing behind that others would have to wait for.
"""

from __future__ import annotations

import contextlib
from pathlib import Path


class Lease:
    """A hold on `path`, which is made if it is not there. `works` is False where locks cannot be
    had (a cache that may not be written, a file system without them): then nobody is kept out."""

    def __init__(self, path: Path) -> None:
        self.works = True
        self._file = None
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")

    def share(self) -> None:
        """Use it together with others. Waits while somebody has it alone."""
        self._lock(alone=False)

    def take(self) -> bool:
        """Have it alone, if nobody else has it. A share that was held is given up."""
        return self._lock(alone=True)

    def close(self) -> None:
        """Give it up."""
        if self._file is not None:
            self._file.close()

    def _lock(self, *, alone: bool) -> bool:
        try:
            import fcntl

            if self._file is None:
                raise OSError
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
        except BlockingIOError:
            return False
        except (ImportError, OSError):
            self.works = False
            return False
        return True
