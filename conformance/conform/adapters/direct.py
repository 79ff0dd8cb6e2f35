"""Runs a Python adapter in this process: faster than a child process, but crashes and hangs are
not contained.

Messages are encoded as JSON as over stdio, so that no object is shared by accident.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import orjson

from charter.formats import adapter as messages
from charter.formats import canonical
from charter.formats.adapter import BadMessage, Welcome
from charter.formats.verdict import Kind
from conform import sdk
from conform.adapters.base import AdapterBroken, AdapterStart, BatchAnswered, SentQuestion
from conform.console.errors import CannotStart


class DirectConnection:
    """A connection to an `sdk.Implementation`, which `make` creates anew at each restart. Unless
    `quiet`, its exceptions are printed to stderr."""

    def __init__(
        self,
        make: Callable[[], sdk.Implementation],
        start: AdapterStart | None = None,
        *,
        quiet: bool = False,
    ) -> None:
        self._make = make
        self._quiet = quiet
        self._start = start or AdapterStart(())
        self._runs = 0
        self._sent: deque[tuple[int, tuple[SentQuestion, ...]]] = deque()
        self.alive = True
        self.restart()

    @property
    def welcome(self) -> Welcome:
        return self._welcome

    def send(self, batch: Sequence[SentQuestion], deadline: float) -> None:
        self._runs += 1
        self._sent.append((self._runs, tuple(batch)))

    def receive(self) -> BatchAnswered | AdapterBroken:
        run, batch = self._sent.popleft()
        questions = b",".join([asked.message() for asked in batch])
        request = orjson.loads(b'{"run":%d,"questions":[%b]}' % (run, questions))
        try:
            answer = sdk.answer_message(self._implementation, request, quiet=self._quiet)
            line = canonical.text(answer).encode()
            asked = [(question.id, question.nonce) for question in batch]
            return BatchAnswered(line, messages.read_results(orjson.loads(line), run, asked))
        except BadMessage as error:
            self.alive = False
            return AdapterBroken(Kind.ADAPTER_ERROR, str(error))

    def restart(self) -> None:
        self._sent.clear()
        self._implementation = self._make()
        start = self._start
        hello = messages.hello(start.release, start.variant, start.errors, start.consts)
        try:
            self._welcome = messages.read_welcome(sdk.answer_message(self._implementation, hello))
        except BadMessage as error:
            raise CannotStart(f"the adapter did not start: {error}") from None
        self.alive = True

    def close(self) -> None:
        self.alive = False
