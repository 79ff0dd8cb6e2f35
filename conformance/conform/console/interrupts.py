"""Delays Ctrl-C in critical sections."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def interrupts_later() -> Iterator[None]:
    """A context in which Ctrl-C is delayed to the end of the block."""
    with _counted(lambda: None) as interrupted:
        yield
    if interrupted:
        raise KeyboardInterrupt


@contextlib.contextmanager
def interrupts_remembered() -> Iterator[Callable[[], None]]:
    """A context that yields a function which raises KeyboardInterrupt if Ctrl-C was pressed in the
    block. Ctrl-C also raises at once, but Python drops exceptions that are raised while an object
    is destroyed."""

    def raise_at_once() -> None:
        raise KeyboardInterrupt

    with _counted(raise_at_once) as interrupted:

        def check() -> None:
            if interrupted:
                raise KeyboardInterrupt

        yield check


@contextlib.contextmanager
def _counted(react: Callable[[], None]) -> Iterator[list[int]]:
    """A context that counts Ctrl-C in a list and calls `react`. Only in the main thread, which
    alone has signal handlers, and only where Ctrl-C is not ignored: a shell ignores it in jobs
    that it starts in the background."""
    interrupted: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
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
