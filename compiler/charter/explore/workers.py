"""Calls a function in several processes, with results in the order of the calls."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import active_children
from typing import TypeVar, cast

Task = TypeVar("Task")
Result = TypeVar("Result")

STOP = signal.SIGUSR1
"""Tells a worker to give up its task. SIGTERM still ends a worker."""


def in_processes(
    call: Callable[[Task], Result], tasks: Sequence[Task], workers: int
) -> Iterator[Result]:
    """The results of the tasks, with so many processes. `call` is a function of a module. A worker
    is stopped if the caller is interrupted or goes on without all results."""
    others = set(active_children())
    pool = ProcessPoolExecutor(workers, initializer=_leave_interrupts_to_the_parent)
    running: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            if len(running) == workers:
                yield running.popleft().result()
            running.append(pool.submit(_stoppable, call, task))
        while running:
            yield running.popleft().result()
    except BaseException:
        for worker in set(active_children()) - others:
            os.kill(cast("int", worker.pid), STOP)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    """Prepares a worker: the terminal sends Ctrl-C to all processes, but the parent decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(STOP, signal.SIG_IGN)


def _stoppable(call: Callable[[Task], Result], task: Task) -> Result:
    """A call that STOP ends. Sending the result is not interrupted: the parent would wait for the
    rest of it forever."""
    signal.signal(STOP, signal.default_int_handler)
    try:
        return call(task)
    finally:
        signal.signal(STOP, signal.SIG_IGN)
