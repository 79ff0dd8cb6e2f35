"""Prepares the standard streams of a process: one that is closed or full changes no exit code.

A closed stream is opened on /dev/null. Otherwise the next file that is opened would become it, and
Python would have no object to write to. What cannot be written to stderr is dropped.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class DroppingStderr(io.TextIOWrapper):
    """Stderr, of which nothing is written any more once a write has failed; a closed pipe is still
    an error."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            raise
        except OSError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            raise
        except OSError:
            self._drop()

    def _drop(self) -> None:
        to_nowhere(_STDERR)
        with contextlib.suppress(OSError):
            super().flush()


def to_nowhere(descriptor: int) -> None:
    """Let a descriptor write to /dev/null, also what is still in a buffer."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)


def prepare_streams() -> None:
    """Open what is closed, and show what an encoding lacks as escapes."""
    for descriptor in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest that is free
    if sys.stdin is None:
        sys.stdin = open(_STDIN, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(_STDOUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    encoding = sys.stderr.encoding if sys.stderr else "utf-8"
    sys.stderr = DroppingStderr(
        io.BufferedWriter(io.FileIO(_STDERR, "w", closefd=False)),
        encoding=encoding, errors="backslashreplace", line_buffering=True, write_through=True,
    )  # fmt: skip
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
