"""Copies what a program writes to stderr to our own stderr, and keeps the last lines of it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

_STDERR, _KEPT, _LINES, _CHUNK = 2, 8192, 20, 1 << 16


@dataclass(slots=True)
class Heard:
    """What a program wrote so far: its last bytes. `pipe` is what the program writes to."""

    pipe: int
    kept: bytearray = field(default_factory=bytearray)

    def lines(self) -> tuple[str, ...]:
        """The last lines."""
        return tuple(self.kept.decode("utf-8", "replace").splitlines()[-_LINES:])


@contextlib.contextmanager
def listen() -> Iterator[Heard | None]:
    """A context in which a program is run with `pipe` as its stderr. None where our stderr is a
    terminal: the program should see that it is one, and a person sees what it writes."""
    if os.isatty(_STDERR):
        yield None
        return
    source, pipe = os.pipe()
    kept = Heard(pipe)
    copying = threading.Thread(target=_copy, args=(source, kept.kept), daemon=True)
    copying.start()
    try:
        yield kept
    finally:
        os.close(pipe)
        copying.join(1.0)  # a process that the program left behind may still hold the pipe


def _copy(source: int, kept: bytearray) -> None:
    """Copy until the other end is closed."""
    while chunk := os.read(source, _CHUNK):
        with contextlib.suppress(OSError):
            os.write(_STDERR, chunk)
        kept += chunk
        del kept[:-_KEPT]
    os.close(source)
