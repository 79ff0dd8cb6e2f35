"""Performs operations one by one on an adapter, in several sessions at once
(docs/formats/adapter.md, "Sessions").

What a session has shown is always the answer to a question with its operations. So a session that
the adapter holds no longer is a question that is put again: its operations are performed from the
beginning, with the next one. This is what happens after a break, when more sessions are open than
the adapter holds, and at each step of an adapter without sessions, which is sent growing questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import orjson

from charter.formats.adapter import Result, Results, is_fault
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.status import Status
from charter.formats.target import Deadlines
from charter.formats.verdict import Kind
from conform.adapters.base import (
    AdapterBroken,
    BatchAnswered,
    Connection,
    SentQuestion,
    SentSteps,
)
from conform.adapters.session import BATCH, BrokenBatch, Patience, start_again
from conform.judging.read_result import BatchTexts, Malformed, ResultReader


class NextStep(NamedTuple):
    """One operation of the session `id`; `args` with references to what the session showed."""

    id: str
    operation: str
    args: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ShownSoFar:
    """The answer of a session, as that of one question with all of its operations. It is `over`
    after a fault or any status but `ok`. If it was `repeated`, the operations were performed again;
    it `varies` if an earlier step showed something else then."""

    results: Results
    over: bool = False
    repeated: bool = False
    varies: bool = False

    @property
    def result(self) -> Result:
        return self.results.results[0]


Answer = ShownSoFar | AdapterBroken
_NOT_READ = (Status.UNSUPPORTED, Status.NOT_LOADABLE, Status.ERROR)
"""The statuses of questions whose steps are not read."""


@dataclass(slots=True)
class _OpenSession:
    """A session as the judge knows it: what it began with, the operations, and what it showed."""

    begun: SentQuestion
    steps: list[NextStep] = field(default_factory=list)
    shown: ShownSoFar | None = None

    def question(self) -> SentQuestion:
        """The session as one question."""
        calls = [{"operation": step.operation, "args": dict(step.args)} for step in self.steps]
        begun = orjson.loads(self.begun.text)
        text = orjson.dumps({**begun, "operations": calls}, option=orjson.OPT_SORT_KEYS)
        return SentQuestion(self.begun.id, self.begun.nonce, text)

    def to_send(self, step: NextStep) -> SentQuestion:
        """One of its operations, as it is sent."""
        call = {"operation": step.operation, "args": dict(step.args)}
        text = orjson.dumps(call, option=orjson.OPT_SORT_KEYS)
        return SentQuestion(self.begun.id, self.begun.nonce, text)


@dataclass(slots=True)
class _Joined:
    """The answer of a session while it is put together from results."""

    values: list[Json] = field(default_factory=list)
    steps: list[list[int]] = field(default_factory=list)
    status: Status = Status.OK
    detail: str = ""
    over: bool = False

    @classmethod
    def of(cls, shown: ShownSoFar) -> _Joined:
        """What was shown before."""
        return cls([*shown.results.values], [*shown.result.steps])

    def add(self, results: Sequence[Result], values: Sequence[Json], performed: int) -> None:
        """Add results up to the one that ends the session. If none does, there are `performed`
        steps then. Raises `Malformed`."""
        places = {-1: -1}
        for result in results:
            for step in result.steps:
                self._add_step(step, values, places)
            self.status, self.detail = result.status, result.detail
            if self.over or result.status is not Status.OK:
                break
        if self.status in _NOT_READ:
            self.steps.clear()
        self.over = self.over or self.status is not Status.OK
        if len(self.steps) != performed and not self.over:
            raise Malformed(f"{len(self.steps)} steps were answered, and {performed} performed")

    def _add_step(self, step: list[int], values: Sequence[Json], places: dict[int, int]) -> None:
        """Add a step; `places` says where the values of this message are among all."""
        if not isinstance(step, list) or len(step) != 3 or not all(map(_is_index, step)):
            raise Malformed("a step is not three indices of values, or -1")
        if max(step) >= len(values):
            raise Malformed("a step has an index that `values` does not have")
        for index in step:
            if index not in places:
                places[index] = len(self.values)
                self.values.append(values[index])
        self.steps.append([places[index] for index in step])
        reply, observation, _ = step
        self.over = observation < 0 and reply >= 0 and is_fault(values[reply])


class OpenSessions:
    """Sessions on one connection. `nonce` must be another one for each such object; counters of the
    `types` are compared by their labels. Nothing else may use the connection until `close`."""

    def __init__(
        self, connection: Connection, deadlines: Deadlines, nonce: str, types: OpaqueTypes
    ) -> None:
        self.connection = connection
        self.deadlines = deadlines
        self._nonce = nonce
        self._reader = ResultReader(types)
        self._begun = 0
        self._open: dict[str, _OpenSession] = {}
        self._held: list[str] = []  # by the adapter, those that stepped last at the end
        self._leaving: list[str] = []  # the adapter does not know yet
        self._fresh = False
        self._patience = Patience()
        self._broken: list[BrokenBatch] = []

    @property
    def at_once(self) -> int:
        """How many sessions one message carries: more than these can be open, and cost more."""
        return self.connection.welcome.sessions or BATCH

    def begin(self, questions: Sequence[tuple[str, bytes]]) -> list[Answer]:
        """Begin sessions: an id, and the JSON of a question without operations. What each showed
        first, or how it broke the adapter: then it is not open. Raises `Incomplete`."""
        made = []
        for identity, text in questions:
            self._begun += 1
            made.append(_OpenSession(SentQuestion(identity, f"{self._nonce}-{self._begun}", text)))
            self._open[identity] = made[-1]
        return self._advance(made)

    def step(self, steps: Sequence[NextStep]) -> list[Answer]:
        """Perform one operation of each of these sessions. After `AdapterBroken` a session is not
        open any more; the others are as they were. Raises `Incomplete`."""
        sessions = [self._open[step.id] for step in steps]
        for session, step in zip(sessions, steps, strict=True):
            session.steps.append(step)
        return self._advance(sessions)

    def end(self, identities: Sequence[str]) -> None:
        """End sessions; the adapter hears of it with the next message."""
        for identity in identities:
            del self._open[identity]
            if identity in self._held:
                self._held.remove(identity)
                self._leaving.append(identity)

    def close(self) -> None:
        """End all sessions, so that others can use the connection."""
        self.end([*self._open])
        if self._leaving and self.connection.alive:
            self.connection.send_steps(SentSteps(tuple(self._leaving)), self.deadlines.one)
            self.connection.receive()
        self._leaving.clear()

    def take_broken(self) -> list[BrokenBatch]:
        """The messages that broke the adapter since the last call."""
        found, self._broken = self._broken, []
        return found

    def _advance(self, sessions: Sequence[_OpenSession]) -> list[Answer]:
        """Perform what is not performed yet. If a message breaks the adapter, each of its sessions
        is tried alone."""
        found: list[Answer] = []
        size = self.at_once
        for begin in range(0, len(sessions), size):
            group = sessions[begin : begin + size]
            first = self._fresh
            answers = self._exchange(group)
            if not isinstance(answers, AdapterBroken):
                found.extend(answers)
                continue
            if first and len(group) == 1:
                alone: list[Answer] = [self._blame(answers)]
            else:
                alone = [self._advance_alone(session) for session in group]
            culprits = sum(isinstance(one, AdapterBroken) for one in alone)
            self._broken.append(BrokenBatch(answers.detail, culprits))
            found.extend(alone)
        for session, answer in zip(sessions, found, strict=True):
            if isinstance(answer, AdapterBroken):
                self.end([session.begun.id])
        return found

    def _advance_alone(self, session: _OpenSession) -> Answer:
        answers = self._exchange([session])
        return self._blame(answers) if isinstance(answers, AdapterBroken) else answers[0]

    def _blame(self, broken: AdapterBroken) -> AdapterBroken:
        self._patience.note_break(broken)
        return broken

    def _exchange(self, group: Sequence[_OpenSession]) -> list[Answer] | AdapterBroken:
        """The answers of sessions in one message; how it broke the adapter, if it did."""
        if not self.connection.alive:
            start_again(self.connection)
            self._held.clear()
            self._leaving.clear()
            self._fresh = True
        if self.connection.welcome.sessions:
            return self._take_steps(group)
        batch = [session.question() for session in group]
        self.connection.send(batch, self._deadline(len(batch)))
        answer = self._receive()
        if isinstance(answer, AdapterBroken):
            return answer
        values = answer.results.values
        return [
            self._keep(session, [result], values, whole=True)
            for session, result in zip(group, answer.results.results, strict=True)
        ]

    def _take_steps(self, group: Sequence[_OpenSession]) -> list[Answer] | AdapterBroken:
        """As `_exchange`, for an adapter with sessions. One that it does not hold begins again."""
        held = {session.begun.id for session in group} & {*self._held}
        others = [session for session in group if session.begun.id not in held]
        self._make_room([session.begun.id for session in group])
        steps = [(session, session.steps[-1]) for session in group if session.begun.id in held]
        steps += [(session, step) for session in others for step in session.steps]
        begun = tuple(session.begun for session in others)
        sent = SentSteps(
            tuple(self._leaving), begun, tuple(session.to_send(step) for session, step in steps)
        )
        self._leaving.clear()
        self.connection.send_steps(sent, self._deadline(len(sent.pairs())))
        answer = self._receive()
        if isinstance(answer, AdapterBroken):
            return answer
        by_session: dict[str, list[Result]] = {session.begun.id: [] for session in group}
        for result in answer.results.results:
            by_session[result.id].append(result)
        return [
            self._keep(
                session,
                by_session[session.begun.id],
                answer.results.values,
                whole=session.begun.id not in held,
            )
            for session in group
        ]

    def _deadline(self, count: int) -> float:
        """Seconds for so many steps or questions: each has its own, and a batch those together that
        it may have."""
        batches = -(-count // BATCH)
        whole = min(self.deadlines.batch * batches, self.deadlines.one * count)
        return whole * self._patience.part

    def _make_room(self, wanted: Sequence[str]) -> None:
        """Let the adapter hold the sessions `wanted`, and end others for which it has no room."""
        others = [identity for identity in self._held if identity not in wanted]
        surplus = max(0, len(others) + len(wanted) - self.connection.welcome.sessions)
        self._leaving.extend(others[:surplus])
        self._held = [*others[surplus:], *wanted]

    def _receive(self) -> BatchAnswered | AdapterBroken:
        answer = self.connection.receive()
        if isinstance(answer, BatchAnswered):
            self._patience.note_answer()
            self._fresh = False
        return answer

    def _keep(
        self,
        session: _OpenSession,
        results: Sequence[Result],
        values: Sequence[Json],
        *,
        whole: bool,
    ) -> Answer:
        """Add what a session showed to what it showed before; if it is the `whole` session, put it
        in that place, and compare."""
        before = session.shown
        made = _Joined() if whole or before is None else _Joined.of(before)
        try:
            made.add(results, values, len(session.steps) + 1)
        except Malformed as error:
            return AdapterBroken(Kind.ADAPTER_ERROR, str(error))
        last = results[-1]
        result = Result(last.id, last.nonce, made.status, made.detail, made.steps)
        shown = ShownSoFar(Results(made.values, [result]), made.over)
        if shown.over and session.begun.id in self._held:
            self._held.remove(session.begun.id)
        if whole and before is not None:
            names = [step.operation for step in session.steps]
            varies = self._is_different(before, shown, names)
            shown = replace(shown, repeated=True, varies=varies)
        session.shown = shown
        return shown

    def _is_different(self, before: ShownSoFar, now: ShownSoFar, operations: Sequence[str]) -> bool:
        """Whether a repetition shows something else in the steps that were shown before."""
        if now.result.status not in (Status.OK, Status.UNRESOLVED):
            return False  # nothing is shown
        one, other = (
            self._reader.read(shown.result, BatchTexts.of(shown.results, None), operations)
            for shown in (before, now)
        )
        count = len(one.states)
        return (one.replies, one.states) != (other.replies[:count], other.states[:count])


def _is_index(index: object) -> bool:
    return type(index) is int and index >= -1
