"""What Ctrl-C does while something must not be left half done, or must not be forgotten."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def interrupts_later() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block."""
    with _counted(lambda: None) as interrupted:
        yield
    if interrupted:
        raise KeyboardInterrupt


@contextlib.contextmanager
def interrupts_remembered() -> Iterator[Callable[[], None]]:
    """Gives a function that raises KeyboardInterrupt if Ctrl-C was pressed in the block. It raises
    at once, too; but Python drops an exception that comes while an object is being destroyed."""

    def raise_at_once() -> None:
        raise KeyboardInterrupt

    with _counted(raise_at_once) as interrupted:

        def check() -> None:
            if interrupted:
                raise KeyboardInterrupt

        yield check


@contextlib.contextmanager
def _counted(react: Callable[[], None]) -> Iterator[list[int]]:
    """Ctrl-C is counted in the list and then reacted to, in the main thread of the process: only
    that has handlers of signals."""
    interrupted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return

    def handle(number: int, _: object) -> None:
        interrupted.append(number)
        react()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
