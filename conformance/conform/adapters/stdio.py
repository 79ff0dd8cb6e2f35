"""Runs an adapter as a child process that speaks JSON lines.

A single thread waits for the oldest answer, writes pending messages and collects stderr at the same
time, so that neither side can block the other, and every wait has a deadline. The child has a
process group of its own, which is ended as a whole, with processes that left it: they inherit a
mark in their environment.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

import orjson

from charter.formats import adapter as messages
from charter.formats.adapter import BadMessage, Welcome
from charter.formats.target import FILE
from charter.formats.verdict import BETWEEN, STDERR, Kind
from conform.adapters.base import (
    AdapterBroken,
    AdapterStart,
    BatchAnswered,
    SentQuestion,
    SentSteps,
)
from conform.console.errors import CannotStart
from conform.console.terminal import shorten
from conform.storage.scratch import dying_with_parent, end_marked

_PIPE_BYTES = 1 << 20
_STDERR_BYTES = 16 << 10
_LINE_BYTES = 32 << 20
_GOODBYE_SECONDS = 5.0
_MARK = "CONFORM_ADAPTER"
_LATE = f", to the message hello; how long it may take is `hello` of [deadlines] in {FILE}"
_FIRST, _LAST = 5, 8
_BEFORE = 40
_WIDTH = 1_000
_FRAME = re.compile(r"\s+at ")
_PYTHON_FRAME = re.compile(r'File "(?P<file>[^"]+)", line [0-9]+')
_OF_OTHERS = re.compile(r"/(site|dist)-packages/|/lib/python[0-9]|^<frozen |/conform/sdk\.py$")
"""Files of Python and of what is installed: an author looks for the line of the adapter."""


@dataclass(frozen=True, slots=True)
class _Sent:
    run: int
    pairs: tuple[tuple[str, str], ...]
    deadline: float


@dataclass(slots=True)
class _Child:
    """A process with its pipes and buffers."""

    process: subprocess.Popen[bytes]
    mark: str
    selector: selectors.BaseSelector
    outgoing: bytearray = field(default_factory=bytearray)
    incoming: bytearray = field(default_factory=bytearray)
    scanned: int = 0
    stderr: bytearray = field(default_factory=bytearray)
    eof: bool = False
    ended: bool = False

    def pump(self, timeout: float) -> None:
        """Move bytes for at most `timeout` seconds, or until something moved."""
        for key, _ in self.selector.select(timeout):
            if key.data == "out":
                self._write()
            elif key.data == "in":
                self._read_answer()
            else:
                self._read_stderr()

    def queue(self, line: bytes) -> None:
        if not self.outgoing and self.process.stdin is not None and not self.process.stdin.closed:
            self.selector.register(self.process.stdin, selectors.EVENT_WRITE, "out")
        self.outgoing += line
        self.pump(0)

    def take_line(self) -> bytes | None:
        """The next complete line, or None."""
        end = self.incoming.find(b"\n", self.scanned)
        if end < 0:
            self.scanned = len(self.incoming)
            return None
        line = bytes(self.incoming[:end])
        del self.incoming[: end + 1]
        self.scanned = 0
        return line

    def read_stderr(self) -> str:
        """What stderr said, for messages: its lines that matter."""
        with contextlib.suppress(OSError, ValueError):
            self.pump(0)
        return BETWEEN.join(last_words(self.stderr.decode("utf-8", "replace")))

    def forget_stderr(self) -> None:
        """Drop what stderr said so far: it is about answers that came."""
        self.pump(0)
        self.stderr.clear()

    def _write(self) -> None:
        stdin = _pipe(self.process.stdin)
        try:
            written = os.write(stdin.fileno(), memoryview(self.outgoing)[: 1 << 18])
            del self.outgoing[:written]
        except BlockingIOError:
            return
        except OSError:
            self.outgoing.clear()
        if not self.outgoing:
            self.selector.unregister(stdin)

    def _read_answer(self) -> None:
        stdout = _pipe(self.process.stdout)
        chunk = _read(stdout)
        if chunk == b"":
            self.eof = True
            self.selector.unregister(stdout)
        elif chunk:
            self.incoming += chunk

    def _read_stderr(self) -> None:
        stderr = _pipe(self.process.stderr)
        chunk = _read(stderr)
        if chunk == b"":
            self.selector.unregister(stderr)
        elif chunk:
            self.stderr += chunk
            del self.stderr[:-_STDERR_BYTES]


def last_words(stderr: str) -> list[str]:
    """The first and the last lines of what an adapter wrote to stderr. Of a stack only the top is
    kept: some languages print it after the message, others before."""
    lines: list[str] = []
    frames = 0
    for line in stderr.splitlines():
        frames = frames + 1 if _FRAME.match(line) else 0
        if line.strip() and frames <= 1:
            lines.append(shorten(line.strip(), _WIDTH))
    if len(lines) <= _FIRST + _LAST:
        return lines
    own = _own_frame(lines[_FIRST:-_LAST])
    left = len(lines) - _FIRST - _LAST - len(own)
    return [*lines[:_FIRST], f"… ({left} lines)", *own, *lines[-_LAST:]]


def _own_frame(lines: list[str]) -> list[str]:
    """The last frame of a Python traceback that is of the adapter's own files, with its line of
    code."""
    for number in range(len(lines) - 1, -1, -1):
        frame = _PYTHON_FRAME.match(lines[number])
        if frame and not _OF_OTHERS.search(frame["file"]):
            return lines[number : number + 2]
    return []


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _read(pipe: IO[bytes]) -> bytes | None:
    """The available bytes: None if there are none yet, empty at the end."""
    try:
        return os.read(pipe.fileno(), 1 << 18)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _spawn(start: AdapterStart) -> _Child:
    mark = f"{os.getpid()}-{time.time_ns():x}"
    try:
        process = subprocess.Popen(
            list(start.command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **start.environment, _MARK: mark},
            start_new_session=True,
            preexec_fn=dying_with_parent(),  # noqa: PLW1509, two system calls
            bufsize=0,
        )
    except OSError as error:
        remedy = "install it" if isinstance(error, FileNotFoundError) else "mend that"
        raise CannotStart(
            f"the adapter could not be started: {start.command[0]}: {error.strerror}; {remedy}, or"
            f" change `start` in {FILE}"
        ) from None
    child = _Child(process, mark, selectors.DefaultSelector())
    pipes = (process.stdin, process.stdout, process.stderr)
    for pipe in map(_pipe, pipes):
        os.set_blocking(pipe.fileno(), False)
        _widen(pipe)
    child.selector.register(_pipe(process.stdout), selectors.EVENT_READ, "in")
    child.selector.register(_pipe(process.stderr), selectors.EVENT_READ, "err")
    return child


def _widen(pipe: IO[bytes]) -> None:
    """Enlarge the pipe for a whole batch, so that the adapter works while this process judges."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


class StdioConnection:
    """A connection to a child process. Raises `CannotStart` if it does not start."""

    def __init__(self, start: AdapterStart) -> None:
        self._start = start
        self._sent: deque[_Sent] = deque()
        self._runs = 0
        self._child = _spawn(start)
        self._welcome = self._greet()

    @property
    def welcome(self) -> Welcome:
        return self._welcome

    @property
    def alive(self) -> bool:
        return not self._child.eof and self._child.process.poll() is None

    @property
    def said(self) -> tuple[str, ...]:
        """The lines that matter of what the adapter wrote to stderr since the last batch was
        sent."""
        text = self._child.read_stderr()
        return tuple(text.split(BETWEEN)) if text else ()

    def send(self, batch: Sequence[SentQuestion], deadline: float) -> None:
        questions = b",".join([question.message() for question in batch])
        pairs = tuple((question.id, question.nonce) for question in batch)
        self._queue(b'{"run":%d,"questions":[%b]}\n' % (self._runs + 1, questions), pairs, deadline)

    def send_steps(self, steps: SentSteps, deadline: float) -> None:
        self._queue(steps.message(self._runs + 1), steps.pairs(), deadline)

    def _queue(self, line: bytes, pairs: tuple[tuple[str, str], ...], deadline: float) -> None:
        """Write the line of the next run."""
        if not self._sent:
            self._child.forget_stderr()
        self._runs += 1
        self._child.queue(line)
        self._sent.append(_Sent(self._runs, pairs, deadline))

    def receive(self) -> BatchAnswered | AdapterBroken:
        sent = self._sent.popleft()
        line = self._line(sent.deadline)
        if isinstance(line, AdapterBroken):
            return self._break(line)
        try:
            message = orjson.loads(line)
            return BatchAnswered(line, messages.read_results(message, sent.run, sent.pairs))
        except orjson.JSONDecodeError as error:
            return self._break(AdapterBroken(Kind.ADAPTER_ERROR, not_json(line, error)))
        except BadMessage as error:
            return self._break(AdapterBroken(Kind.ADAPTER_ERROR, str(error)))

    def restart(self) -> None:
        self._end()
        self._sent.clear()
        self._child = _spawn(self._start)
        self._welcome = self._greet()

    def close(self) -> None:
        try:
            if self.alive:
                self._say_goodbye()
        except (OSError, KeyError, ValueError):
            pass  # Ctrl-C came while a pipe was given to the selector, or taken from it
        finally:
            self._end()

    def _say_goodbye(self) -> None:
        self._child.queue(b'{"bye":true}\n')
        until = time.monotonic() + _GOODBYE_SECONDS
        while not self._child.eof and time.monotonic() < until:
            self._child.pump(0.05)
            self._child.incoming.clear()

    def _greet(self) -> Welcome:
        start = self._start
        hello = messages.hello(start.release, start.variant, start.errors, start.consts)
        self._child.queue(orjson.dumps(hello) + b"\n")
        line = self._line(start.deadlines.hello)
        try:
            if isinstance(line, AdapterBroken):
                how, *said = line.detail.partition(STDERR)
                late = _LATE if line.kind is Kind.TIMED_OUT else ""
                raise BadMessage("".join([how, late, *said]))
            welcome = messages.read_welcome(orjson.loads(line))
        except (BadMessage, orjson.JSONDecodeError) as error:
            shown = (
                f"its first line is {not_json(line, error)}"
                if isinstance(error, orjson.JSONDecodeError) and isinstance(line, bytes)
                else str(error)
            )
            self._end()
            raise CannotStart(f"the adapter did not start: {lines_of(shown)}") from None
        if start.expect and welcome.version != start.expect:
            self._end()
            raise CannotStart(
                f"release {start.expect} was asked for, but the adapter found"
                f" {welcome.version} at run time; clear its cache and prepare it again"
            )
        return welcome

    def _line(self, seconds: float) -> bytes | AdapterBroken:
        until = time.monotonic() + seconds
        child = self._child
        while (line := child.take_line()) is None:
            left = until - time.monotonic()
            if child.eof:
                return AdapterBroken(Kind.CRASHED, self._obituary())
            if left <= 0:
                said = child.read_stderr()
                shown = f"{STDERR}{said}" if said else ""
                return AdapterBroken(Kind.TIMED_OUT, f"no answer in {seconds:g} s{shown}")
            if len(child.incoming) > _LINE_BYTES:
                return AdapterBroken(
                    Kind.ADAPTER_ERROR, f"a line of more than {_LINE_BYTES >> 20} MB"
                )
            child.pump(min(left, 1.0))
        return line

    def _obituary(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.process.wait(1.0)
        code = self._child.process.poll()
        if code is None:
            how = "it closed its stdout"
        elif code < 0:
            how = f"it was ended by signal {-code}"
        else:
            how = f"it ended with {code}"
        said = self._child.read_stderr()
        return f"{how}{STDERR}{said}" if said else how

    def _break(self, broken: AdapterBroken) -> AdapterBroken:
        self._end()
        return broken

    def _end(self) -> None:
        """End the process group and what left it, and wait for the child; once, since another
        process may have its number later."""
        if self._child.ended:
            return
        self._child.ended = True
        process = self._child.process
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GOODBYE_SECONDS)
        end_marked(_MARK, self._child.mark)
        self._child.selector.close()
        self._child.eof = True
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def lines_of(detail: str) -> str:
    """How an adapter ended, with what it wrote to stderr in lines of its own."""
    how, _, said = detail.partition(STDERR)
    if not said:
        return how
    return f"{how}; its stderr:" + "".join(f"\n  | {line}" for line in said.split(BETWEEN))


def not_json(line: bytes, error: orjson.JSONDecodeError) -> str:
    """That a line is no JSON, with what stands where it ceases to be."""
    whole = line.decode("utf-8", "replace")
    if not whole.lstrip().startswith("{"):
        return f"no message: {_shorten(line)}; stdout is for messages only, print to stderr"
    start = max(0, error.pos - _BEFORE)
    part = whole[start : error.pos + _BEFORE // 2]
    before, after = "…" if start else "", "…" if len(whole) > error.pos + _BEFORE // 2 else ""
    return f"no JSON: {error.msg} in {before + part + after!r}"


def _shorten(line: bytes) -> str:
    shown = line[:80].decode("utf-8", "replace")
    return repr(shown + ("…" if len(line) > 80 else ""))
