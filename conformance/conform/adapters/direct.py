"""Runs a Python adapter in this process: faster than a child process, but crashes and hangs are
not contained.

Messages are encoded as JSON as over stdio, so that no object is shared by accident.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import orjson

from charter.formats import adapter as messages
from charter.formats.adapter import BadMessage, Welcome
from charter.formats.verdict import Kind
from conform import sdk
from conform.adapters.base import (
    AdapterBroken,
    AdapterStart,
    BatchAnswered,
    SentQuestion,
    SentSteps,
)
from conform.console.errors import CannotStart


class DirectConnection:
    """A connection to an `sdk.Implementation`, which `make` creates at each restart, and for
    each of the `sessions` at once. Unless `quiet`, its exceptions are printed to stderr."""

    def __init__(
        self,
        make: Callable[[], sdk.Implementation],
        start: AdapterStart | None = None,
        *,
        sessions: int = 1,
        quiet: bool = False,
    ) -> None:
        self._make = make
        self._sessions = sessions
        self._quiet = quiet
        self._start = start or AdapterStart(())
        self._runs = 0
        self._sent: deque[tuple[int, bytes, Sequence[tuple[str, str]]]] = deque()
        self.alive = True
        self.restart()

    @property
    def welcome(self) -> Welcome:
        return self._welcome

    def send(self, batch: Sequence[SentQuestion], deadline: float) -> None:
        questions = b",".join([question.message() for question in batch])
        pairs = [(question.id, question.nonce) for question in batch]
        self._runs += 1
        line = b'{"run":%d,"questions":[%b]}' % (self._runs, questions)
        self._sent.append((self._runs, line, pairs))

    def send_steps(self, steps: SentSteps, deadline: float) -> None:
        self._runs += 1
        self._sent.append((self._runs, steps.message(self._runs), steps.pairs()))

    def receive(self) -> BatchAnswered | AdapterBroken:
        run, request, pairs = self._sent.popleft()
        try:
            line = self._server.answer_line(orjson.loads(request)).encode()
            return BatchAnswered(line, messages.read_results(orjson.loads(line), run, pairs))
        except BadMessage as error:
            self.alive = False
            return AdapterBroken(Kind.ADAPTER_ERROR, str(error))

    def restart(self) -> None:
        self._sent.clear()
        self._server = sdk.Server(self._make, self._sessions, quiet=self._quiet)
        start = self._start
        hello = messages.hello(start.release, start.variant, start.errors, start.consts)
        try:
            self._welcome = messages.read_welcome(self._server.answer(hello))
        except BadMessage as error:
            raise CannotStart(f"the adapter did not start: {error}") from None
        self.alive = True

    def close(self) -> None:
        self.alive = False
