"""Defines the interface of a connection to an adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

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


@dataclass(frozen=True, slots=True)
class SentQuestion:
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
class BatchAnswered:
    """The answer to a batch: the received line, and its parsed content."""

    line: bytes
    results: Results


@dataclass(frozen=True, slots=True)
class AdapterBroken:
    """The adapter crashed, timed out, or violated the protocol, and has been ended."""

    kind: Kind
    detail: str


class Connection(Protocol):
    """A connection to a started adapter. Batches are answered in the order in which they were
    sent."""

    @property
    def welcome(self) -> Welcome: ...

    @property
    def alive(self) -> bool: ...

    def send(self, batch: Sequence[SentQuestion], deadline: float) -> None:
        """Send a batch; the `deadline` in seconds counts from the moment when it is the next to be
        answered."""

    def receive(self) -> BatchAnswered | AdapterBroken:
        """Receive the answer to the oldest unanswered batch. After `AdapterBroken` the connection
        is dead and all other batches are lost."""

    def restart(self) -> None:
        """Start the adapter again. Raises `CannotStart`."""

    def close(self) -> None:
        """Say goodbye, and make sure that the adapter is gone."""
