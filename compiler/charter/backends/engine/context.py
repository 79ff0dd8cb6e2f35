"""The memory that one worker works in: an array of numbers, and where everything stands in it."""

from __future__ import annotations

from dataclasses import dataclass

ERROR, FATAL, GENERATED, OUTSIDE, SEQ, SOURCE, ENABLED = range(7)
"""The first failure, why the engine cannot go on, counts, the number of the outcome, of the state
that is expanded, and how many outcomes it had."""
TELL, TOLD, TELL_ROOM, OP, CAPACITY = range(7, 12)
"""Where outcomes are told (0: nowhere), how many were and may be; the operation; how many records
a buffer holds."""
HEAD = 16

PARTITIONS = 16
PARTITION_BITS = 4
MARGIN = 1 << 13
"""Successors that a state may have in one partition."""
SEQ_BITS = 24
"""A record's tag is the number of its source, shifted by so many bits, and the number of the
outcome there: tags grow in the order of discovery."""
ROWS_ROOM = 1 << 12
"""Outcomes that an operation may have for one list of arguments."""
NOTE = 4
"""A note: how often, source and outcome of the first time, and the place that failed."""


@dataclass(frozen=True, slots=True)
class Context:
    """Offsets. `words` is the length of a packed state; `raw` says whether states are kept as they
    were reached, beside their keys."""

    slots: int
    args: int
    row: int
    words: int
    raw: bool
    labels: int
    notes: int
    issued: int

    @property
    def fields(self) -> int:
        """The state that is expanded, in slots."""
        return HEAD

    @property
    def arguments(self) -> int:
        """The arguments of the operation."""
        return self.fields + self.slots

    @property
    def key(self) -> int:
        """The key of a successor, then its words as it is."""
        return self.arguments + self.args

    @property
    def taken(self) -> int:
        """How often each branch was taken."""
        return self.key + 2 * self.words

    @property
    def noted(self) -> int:
        """Notes."""
        return self.taken + self.labels

    @property
    def outs(self) -> int:
        """For each partition its buffer and how many records it holds."""
        return self.noted + NOTE * self.notes

    @property
    def masks(self) -> int:
        """Counters in the state: all of a type, then those under each element of each sort."""
        return self.outs + 2 * PARTITIONS

    @property
    def rows(self) -> int:
        """Outcomes of the operation."""
        return self.masks + self.issued

    @property
    def size(self) -> int:
        """Numbers in all."""
        return self.rows + (ROWS_ROOM + 1) * self.row

    @property
    def kept(self) -> int:
        """Words of a state as it is kept for expansion, before its tag."""
        return self.words

    @property
    def record(self) -> int:
        """Words of a record in a buffer: key, state as it is (if `raw`), tag."""
        return self.words * (2 if self.raw else 1) + 1

    @property
    def told(self) -> int:
        """Words of what is told of an outcome: operation, number of the outcome, branch (or minus
        the place that failed), key, arguments, state after in slots."""
        return 3 + self.words + self.args + self.slots
