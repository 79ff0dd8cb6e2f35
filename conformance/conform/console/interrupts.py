"""Signals that end a command: Ctrl-C, and SIGTERM and SIGHUP, which end it in the same way."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Stopped(KeyboardInterrupt):
    """SIGTERM or SIGHUP came; handled like Ctrl-C, but for the exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.exit_code = 128 + number


def stop(number: int, _: object) -> None:
    """Handle a signal that ends a command. Raises `KeyboardInterrupt`."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Stopped(number)


AGAIN = 0.01
"""Seconds after which a signal comes again that Python dropped."""


def stop_on_signals() -> None:
    """Make SIGTERM and SIGHUP end this process like Ctrl-C, unless they are ignored (nohup). Each
    of them comes again if Python drops it."""
    for number in SIGNALS:
        if number != signal.SIGINT and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, stop)
    if hasattr(signal, "setitimer"):
        sys.unraisablehook = _drop


GRACE = 10.0
"""How many seconds after SIGTERM or SIGHUP a process is ended that has not ended by itself."""


def end_if_hanging(clean_up: Callable[[], None]) -> None:
    """From now on, end this process some seconds after SIGTERM or SIGHUP even if the main thread
    does not notice the signal: it may wait for a lock, or be in code that is not Python's. A thread
    does so, after `clean_up`; it hears of signals by a pipe that Python writes to at once."""
    heard, told = os.pipe()
    os.set_blocking(told, False)  # Python asks for it
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_end_late, args=(heard, clean_up), daemon=True).start()


def _end_late(heard: int, clean_up: Callable[[], None]) -> None:
    while True:
        for number in os.read(heard, 1):
            if number in SIGNALS and number != signal.SIGINT:
                time.sleep(GRACE)
                with contextlib.suppress(OSError):
                    os.write(2, b"\nconform: interrupted; what did not end was ended\n")
                with contextlib.suppress(OSError, MemoryError):
                    clean_up()
                os._exit(128 + number)


def _drop(what: sys.UnraisableHookArgs) -> None:
    """Python prints an exception in a destructor, in the callback of a weak reference or around a
    fork, and goes on. A signal that should end the command must not get lost there."""
    if not isinstance(what.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(what)
        return
    number = signal_of(what.exc_value)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
    signal.setitimer(signal.ITIMER_REAL, AGAIN)


def signal_of(ended: KeyboardInterrupt) -> int:
    """The signal that an exception stands for."""
    return ended.number if isinstance(ended, Stopped) else int(signal.SIGINT)


def interrupt_behind(error: BaseException) -> KeyboardInterrupt | None:
    """The interrupt that an exception was raised from, if there is one: up to Python 3.11, one that
    comes while a class is made becomes a RuntimeError."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause


def ignore_signals() -> None:
    """Let no signal interrupt what this process does at its end. They are still heard, and end it
    if it hangs there."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@contextlib.contextmanager
def interrupts_later() -> Iterator[None]:
    """A context in which signals that end the command are delayed to the end of the block."""
    with _note_signals(lambda *_: None) as came:
        yield
    if came:
        stop(came[0], None)


@contextlib.contextmanager
def interrupts_remembered() -> Iterator[Callable[[], None]]:
    """A context that yields a function which raises KeyboardInterrupt if a signal came in the
    block that ends the command. The signal also raises at once, but Python drops exceptions that
    are raised while an object is destroyed."""
    with _note_signals(stop) as came:

        def check() -> None:
            if came:
                stop(came[0], None)

        yield check


@contextlib.contextmanager
def _note_signals(react: Callable[[int, object], None]) -> Iterator[list[int]]:
    """A context that notes signals in a list and calls `react`. Only in the main thread, which
    alone has signal handlers, and only for signals that end the command: a shell ignores Ctrl-C in
    jobs that it starts in the background, and by default Python does not handle SIGTERM."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def handle(number: int, frame: object) -> None:
        came.append(number)
        react(number, frame)

    kept = {number: signal.getsignal(number) for number in SIGNALS}
    handled = [
        number for number, before in kept.items()
        if before not in (signal.SIG_IGN, signal.SIG_DFL, None)
    ]  # fmt: skip
    for number in handled:
        signal.signal(number, handle)
    try:
        yield came
    finally:
        for number in handled:
            signal.signal(number, kept[number])
