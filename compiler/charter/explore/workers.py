"""Calls a function in several processes, with results in the order of the calls.

Each process has a pipe of its own, and the thread that calls waits for all of them. So nothing is
shared that a process could hold when it is killed, and no thread of ours waits for a process that
has died: a signal ends the wait at once, and the processes with it, even if they hang.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import DefaultContext, SpawnContext
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

Context = DefaultContext | SpawnContext

_SAFE_PATH = "PYTHONSAFEPATH"
_PR_SET_PDEATHSIG = 1
_ENDED = ("SIGTERM", "SIGHUP")
"""Signals that all processes of a group get, the parent too, which then says what was ended."""
_MOMENT_SECONDS = 0.2
"""How long the parent waits for its own signal if a process was ended by one of these."""
_FORK_SERVER = "forkserver"


class WorkerDied(Exception):
    """A process ended before it gave its result; the message is a sentence with a remedy."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """What a call raised, with its traceback as a text."""

    error: Exception
    told: str


@dataclass(slots=True)
class _Worker(Generic[Task, Result]):
    """A process, our end of its pipe, and the number of the call that it makes (-1: none)."""

    process: BaseProcess
    pipe: Connection
    call: int = -1

    @classmethod
    def start(cls, context: Context, call: Callable[[Task], Result]) -> _Worker[Task, Result]:
        pipe, theirs = context.Pipe()
        parent = 0 if context.get_start_method() == _FORK_SERVER else os.getpid()
        made = context.Process(target=_serve, args=(call, theirs, parent), daemon=True)
        made.start()
        theirs.close()
        return cls(made, pipe)

    def send(self, number: int, task: Task) -> None:
        self.call = number
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end is noticed below
            self.pipe.send(task)

    def result(self) -> Result:
        """Raises what the call raised, and `WorkerDied`."""
        try:
            found: Result | _Raised = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            if -code in map(_number, _ENDED):
                time.sleep(_MOMENT_SECONDS)
            raise WorkerDied(_obituary(code)) from None
        if isinstance(found, _Raised):
            raise found.error from RuntimeError(f"in another process:\n{found.told}")
        self.call = -1
        return found


def in_processes(
    call: Callable[[Task], Result], tasks: Sequence[Task], workers: int, *, spawn: bool = False
) -> Iterator[Result]:
    """The results of the tasks, with so many processes. `call` is a function of a module. With
    `spawn` they are new processes of Python, else Python decides. They are killed if the caller is
    interrupted or goes on without all results. Raises `WorkerDied`, and what a call raised."""
    done: dict[int, Result] = {}
    yielded = 0
    with contextlib.closing(as_finished(call, tasks, workers, spawn=spawn)) as finished:
        for number, result in finished:
            done[number] = result
            while yielded in done:
                yield done.pop(yielded)
                yielded += 1


def as_finished(
    call: Callable[[Task], Result], tasks: Sequence[Task], workers: int, *, spawn: bool = False
) -> Generator[tuple[int, Result]]:
    """As `in_processes`, but in the order in which results come, each with the number of its
    task."""
    todo = iter(enumerate(tasks))
    running: list[_Worker[Task, Result]] = []
    try:
        with _safe_path():
            context = multiprocessing.get_context("spawn" if spawn else None)
            for number, task in _first(todo, workers):
                running.append(_Worker.start(context, call))
                running[-1].send(number, task)
        while busy := {each.pipe: each for each in running if each.call >= 0}:
            for pipe in wait([*busy]):
                worker = busy[pipe]  # type: ignore[index]
                number, result = worker.call, worker.result()
                if (following := next(todo, None)) is not None:
                    worker.send(*following)
                yield number, result
    finally:
        for each in running:
            each.process.kill()
        for each in running:
            each.process.join()
            each.pipe.close()


def _first(todo: Iterator[tuple[int, Task]], count: int) -> Iterator[tuple[int, Task]]:
    for _, one in zip(range(count), todo, strict=False):
        yield one


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """A context in which new Python processes import nothing from the working folder only since
    they work there."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _serve(call: Callable[[Task], Result], pipe: Connection, parent: int) -> None:
    """What a worker does until its parent ends it, or has gone. The terminal sends Ctrl-C to all
    processes, but the parent decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _ENDED:
        if number := _number(name):
            signal.signal(number, signal.SIG_DFL)
    _die_with(parent)
    with contextlib.suppress(EOFError, OSError):
        while True:
            task: Task = pipe.recv()
            pipe.send(_call(call, task))


def _number(name: str) -> int:
    """A signal; 0 if the system does not have it."""
    return int(getattr(signal, name, 0))


def _call(call: Callable[[Task], Result], task: Task) -> Result | _Raised:
    try:
        return call(task)
    except Exception as error:
        return _Raised(error, traceback.format_exc())


def _die_with(parent: int) -> None:
    """Linux kills this process when its parent ends, however it does (0: not known); elsewhere the
    end of the pipe ends it, unless a process that was forked later has the other end, too."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if parent and os.getppid() != parent:  # it ended before it was asked for
            os._exit(1)


def _obituary(code: int) -> str:
    how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
    return (
        f"one of the processes that share the work {how} before its part was done; if the machine"
        " has too little memory for several, use one (--workers 1, --jobs 1), or end other programs"
    )
