"""Defines the interface of a connection to an adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from charter.formats.adapter import Results, Welcome
from charter.formats.target import DEADLINES, Deadlines
from charter.formats.verdict import Kind


@dataclass(frozen=True, slots=True)
class AdapterStart:
    """How to start an adapter; texts only, so that it can be sent to Spark workers.

    `expect` is what the adapter must report as its version ("" for anything). `consts` are the
    constants that questions have values for, with their types.
    """

    command: tuple[str, ...]
    release: str = ""
    variant: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    consts: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    deadlines: Deadlines = DEADLINES
    expect: str = ""


class SentQuestion(NamedTuple):
    """A question that is sent: `text` is its canonical JSON."""

    id: str
    nonce: str
    text: bytes

    def message(self) -> bytes:
        """The JSON of the question in a `run` message."""
        return b'{"id":"%b","nonce":"%b",%b' % (
            self.id.encode(),
            self.nonce.encode(),
            self.text[1:],
        )


@dataclass(frozen=True, slots=True)
class SentSteps:
    """What one message says of sessions: the ids of those that `end`, then what those `begin` with,
    then one operation of each of others. `text` of a beginning is the canonical JSON of a question
    without operations, of a step that of the operation with its arguments; `id` is the session."""

    end: tuple[str, ...] = ()
    begin: tuple[SentQuestion, ...] = ()
    steps: tuple[SentQuestion, ...] = ()

    def message(self, run: int) -> bytes:
        """The line of the message."""
        return b'{"run":%d,"end":[%b],"begin":[%b],"steps":[%b]}\n' % (
            run,
            b",".join(b'"%b"' % ended.encode() for ended in self.end),
            b",".join(begun.message() for begun in self.begin),
            b",".join(step.message() for step in self.steps),
        )

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The id and the nonce of each result, in their order."""
        return tuple((sent.id, sent.nonce) for sent in (*self.begin, *self.steps))


@dataclass(frozen=True, slots=True)
class BatchAnswered:
    """The answer to a batch, or to steps of sessions: the received line, and its parsed content."""

    line: bytes
    results: Results


@dataclass(frozen=True, slots=True)
class AdapterBroken:
    """The adapter crashed, timed out, or violated the protocol, and has been ended."""

    kind: Kind
    detail: str


class Connection(Protocol):
    """A connection to a started adapter. Batches and steps of sessions are answered in the order in
    which they were sent."""

    @property
    def welcome(self) -> Welcome: ...

    @property
    def alive(self) -> bool: ...

    def send(self, batch: Sequence[SentQuestion], deadline: float) -> None:
        """Send a batch; the `deadline` in seconds counts from the moment when it is the next to be
        answered."""

    def send_steps(self, steps: SentSteps, deadline: float) -> None:
        """Send what happens in sessions, with a deadline as for a batch."""

    def receive(self) -> BatchAnswered | AdapterBroken:
        """Receive the answer to the oldest unanswered message. After `AdapterBroken` the connection
        is dead and all other messages are lost."""

    def restart(self) -> None:
        """Start the adapter again. Raises `CannotStart`."""

    def close(self) -> None:
        """Say goodbye, and make sure that the adapter is gone."""
