"""Sends a stream of vectors to one adapter in batches, two at a time. If the adapter breaks, the
questions of the batch are repeated one by one, so that a bad vector affects only its own
verdict. Batches begin with one question and double while the adapter answers: one that hangs is
found after the deadline of a small batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from charter.formats.adapter import Welcome, constant
from charter.formats.target import Deadlines
from charter.formats.verdict import Kind, Verdict
from conform.adapters.base import AdapterBroken, BatchAnswered, Connection, SentQuestion
from conform.console.errors import CannotStart, Incomplete
from conform.judging.automaton import Judge
from conform.judging.read_result import BatchTexts
from conform.judging.refutations import LOAD
from conform.judging.siblings import Siblings
from conform.judging.verdict import Assessment, VectorItem, assess
from conform.judging.visible_references import visible

BATCH = 64
_IN_FLIGHT = 2
HOPELESS = 100
"""Questions in a row that break an adapter before it is given up."""
LEAST_PATIENCE = 0.1
"""The least part of the deadlines that an adapter has after it timed out: each question that times
out halves them, since the run is not fine any more, and others probably hang, too."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of one batch: assessments in the order of the items, and the adapter's line."""

    items: tuple[VectorItem, ...]
    assessments: tuple[Assessment, ...]
    line: bytes = b""


@dataclass(frozen=True, slots=True)
class BrokenBatch:
    """A batch on which the adapter broke: how, and how many of its questions broke it again alone.
    If none did, the questions do not explain it."""

    detail: str
    culprits: int


@dataclass(slots=True)
class Patience:
    """How long an adapter may take, as a part of its deadlines, and how often it broke in a row."""

    part: float = 1.0
    broken_in_a_row: int = 0

    def note_answer(self) -> None:
        """Note that the adapter answered."""
        self.broken_in_a_row = 0

    def note_break(self, broken: AdapterBroken) -> None:
        """Note that one question broke it. Raises `Incomplete` if it breaks on everything."""
        self.broken_in_a_row += 1
        if broken.kind is Kind.TIMED_OUT:
            self.part = max(self.part / 2, LEAST_PATIENCE)
        if self.broken_in_a_row >= HOPELESS:
            raise Incomplete(
                f"the adapter broke on {HOPELESS} questions in a row, the last time like this:"
                f" {broken.detail}; fix it and repeat the command to continue"
            )


class Session:
    """Judges vectors through `connection`, one stream at a time.

    `nonce` must be different for each session; `siblings` as in `assess`.
    """

    def __init__(
        self,
        connection: Connection,
        siblings: Siblings | None,
        deadlines: Deadlines,
        nonce: str,
        variables: Sequence[str] | None = None,
    ) -> None:
        self.connection = connection
        self.siblings = siblings
        self.deadlines = deadlines
        welcome = connection.welcome
        self.judge = Judge(
            select_compared(welcome, variables), welcome.operations | welcome.capabilities
        )
        self._broken: list[BrokenBatch] = []
        self._nonce = nonce
        self._asked = 0
        self._size = 1
        self._fresh = True
        self._ended = False
        self._patience = Patience()
        self._unsupported: dict[str, str] = {}

    def run(self, items: Iterable[VectorItem], batch: int = BATCH) -> Iterator[Judgement]:
        """Judge `items`. Raises `Incomplete` if the adapter breaks on everything."""
        waiting: deque[list[VectorItem]] = deque()
        stream = iter(items)
        while group := list(islice(stream, min(batch, self._size))):
            sendable = []
            for item in group:
                missing = self._missing(item.needs)
                if missing:
                    yield _judge_unsent(item, missing)
                else:
                    sendable.append(visible(item, self.judge, self.siblings))
            if not sendable:
                continue
            waiting.append(sendable)
            self._send(sendable)
            if len(waiting) >= _IN_FLIGHT:
                yield from self._collect(waiting)
        while waiting:
            yield from self._collect(waiting)

    def rename(self, nonce: str) -> str:
        """Use another nonce from here on; returns the one before."""
        before, self._nonce = self._nonce, nonce
        return before

    def make_nonce(self) -> str:
        """A nonce that no question has."""
        self._asked += 1
        return f"{self._nonce}-{self._asked}"

    def take_broken(self) -> list[BrokenBatch]:
        """The batches that broke since this was last asked."""
        found, self._broken = self._broken, []
        return found

    def _missing(self, needs: str) -> str:
        """The first thing that the target lacks, or ""."""
        known = self._unsupported.get(needs)
        if known is None:
            offered = offers(self.connection.welcome)
            lacking = [need for need in needs.split() if need not in offered]
            known = lacking[0] if lacking else ""
            self._unsupported[needs] = known
        return known

    def _send(self, items: Sequence[VectorItem]) -> None:
        if self._ended and not self.connection.alive:  # else others have started it again
            start_again(self.connection)
        self._ended = False
        asked = []
        for item in items:
            asked.append(SentQuestion(item.id, self.make_nonce(), item.question))
        whole = min(self.deadlines.batch, self.deadlines.one * len(items))
        self.connection.send(asked, whole * self._patience.part)

    def _collect(self, waiting: deque[list[VectorItem]]) -> Iterator[Judgement]:
        items = waiting.popleft()
        answer = self.connection.receive()
        if isinstance(answer, BatchAnswered):
            self._size = min(2 * self._size, BATCH)
            yield self._judge(items, answer)
            return
        self._size = 1
        if self._fresh and len(items) == 1:
            yield self._broke_alone(items[0], answer)
            self._broken.append(BrokenBatch(answer.detail, 1))
        else:
            yield from self._one_by_one(items, answer)
        for batch in waiting:
            self._send(batch)

    def _one_by_one(
        self, items: Sequence[VectorItem], answer: AdapterBroken
    ) -> Iterator[Judgement]:
        """Judge each question of a batch that broke the adapter."""
        self._fresh = self._ended = True
        culprits = 0
        for item in items:
            alone = self._alone(item)
            culprits += not alone.line
            yield alone
        self._broken.append(BrokenBatch(answer.detail, culprits))

    def _alone(self, item: VectorItem) -> Judgement:
        """Judge one question of a batch that broke the adapter."""
        self._send([item])
        answer = self.connection.receive()
        if isinstance(answer, BatchAnswered):
            return self._judge([item], answer)
        return self._broke_alone(item, answer)

    def _broke_alone(self, item: VectorItem, answer: AdapterBroken) -> Judgement:
        """The verdict about a question that broke the adapter, which is started again for the next
        one."""
        self._patience.note_break(answer)
        self._fresh = self._ended = True
        return _judge_broken(item, answer)

    def _judge(self, items: Sequence[VectorItem], answer: BatchAnswered) -> Judgement:
        self._patience.note_answer()
        self._fresh = False
        results = answer.results
        batch = BatchTexts.of(results, self.judge.observes)
        assessments = tuple(
            assess(item, result, batch, self.judge, self.siblings)
            for item, result in zip(items, results.results, strict=True)
        )
        return Judgement(tuple(items), assessments, answer.line)


def start_again(connection: Connection) -> None:
    """Start an adapter that broke. Raises `Incomplete` if that fails twice."""
    try:
        connection.restart()
    except CannotStart:
        try:
            connection.restart()
        except CannotStart as error:
            raise Incomplete(f"the adapter broke, and cannot be started again: {error}") from None


def offers(welcome: Welcome) -> frozenset[str]:
    """What questions may need of an adapter (`VectorItem.needs`) according to its hello."""
    consts = {constant(name) for name in welcome.consts}
    return welcome.operations | (welcome.capabilities & {LOAD}) | consts


def select_compared(welcome: Welcome, variables: Sequence[str] | None) -> tuple[str, ...] | None:
    """The variables to compare, or None if the target shows all `variables` of the charter."""
    if variables is None or set(variables) <= set(welcome.observes):
        return None
    return tuple(name for name in variables if name in welcome.observes)


def _judge_unsent(item: VectorItem, missing: str) -> Judgement:
    verdict = Verdict(item.id, Kind.UNSUPPORTED, missing)
    return Judgement((item,), (Assessment(verdict),))


def _judge_broken(item: VectorItem, broken: AdapterBroken) -> Judgement:
    return Judgement((item,), (Assessment(Verdict(item.id, broken.kind, broken.detail)),))
