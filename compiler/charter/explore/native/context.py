"""Layout of a worker's memory: an array of numbers, and the offset of each part in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ERROR, FATAL, GENERATED, OUTSIDE, SEQ, SOURCE, ENABLED = range(7)
"""The first failure, why the engine cannot go on, counts, the number of the outcome, of the state
that is expanded, and how many outcomes it had."""
TELL, TOLD, TELL_ROOM, OP, CAPACITY = range(7, 12)
"""Where outcomes are told (0: nowhere), how many were and may be; the operation; how many records
a buffer holds."""
LINKS = 12
"""Where the edges of states are written (0: nowhere): see `links`."""
ROW = 13
"""Where the outcome that is told stands: its branch, its reply, the state after it."""
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

Memory = Literal["keys", "numbers", "fingerprints"]
"""What a search remembers of a state in its table: its key; the hash of its key and its number; the
hash alone."""
NARROW = 2
"""Keys of so many words stand in the table themselves."""


@dataclass(frozen=True, slots=True)
class MachineContext:
    """Offsets. `words` is the length of a packed state; `raw` says whether states are kept as they
    were reached, beside their keys. `reply` and `trail` are what is told of an outcome beside its
    state, if it is told in detail: the slots of a reply, and the words of what its guards read."""

    slots: int
    args: int
    row: int
    words: int
    raw: bool
    labels: int
    notes: int
    issued: int
    memory: Memory
    detailed: bool = False
    reply: int = 0
    trail: int = 0

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
    def guards(self) -> int:
        """What the guards of the operation read (see `guards`)."""
        return self.masks + self.issued

    @property
    def rows(self) -> int:
        """Outcomes of the operation."""
        return self.guards + self.trail

    @property
    def size(self) -> int:
        """Numbers in all."""
        return self.rows + (ROWS_ROOM + 1) * self.row

    @property
    def record(self) -> int:
        """Words of a record in a buffer: key, state as it is (if `raw`), hash, tag."""
        return self.words * (2 if self.raw else 1) + 2

    @property
    def entry(self) -> int:
        """Words of an entry in a table."""
        return {"keys": self.words, "numbers": 2, "fingerprints": 1}[self.memory]

    @property
    def width(self) -> int:
        """Words of a row in the list of states: the state as it is expanded, its key (if that is
        another and entries hold numbers), its tag."""
        return self.key_at + self.words + 1

    @property
    def key_at(self) -> int:
        """Where in a row the key stands, if entries hold numbers."""
        return self.words if self.raw and self.memory == "numbers" else 0

    @property
    def fresh(self) -> int:
        """Words of a row of a state that is new, with its entry's address if it is to get its
        number."""
        return self.width + (1 if self.memory == "numbers" else 0)

    @property
    def told(self) -> int:
        """Words of what is told of an outcome: operation, number of the outcome, branch (or minus
        the place that failed), key, arguments, state after in slots, reply, what guards read."""
        return self.told_reply + self.reply + self.trail

    @property
    def told_reply(self) -> int:
        """Where in what is told the reply stands."""
        return 3 + self.words + self.args + self.slots
