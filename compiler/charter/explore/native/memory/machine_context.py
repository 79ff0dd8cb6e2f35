"""Lays out a worker's memory: an array of numbers, and the offset of each part in it."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Literal

ERROR, FATAL, GENERATED, OUTSIDE, SEQ, SOURCE, ENABLED = range(7)
"""ERROR: the site of the first undefined value. FATAL: why the engine gave up. Counts of
transitions. SEQ: the number of the outcome. SOURCE: the number of the expanded state. ENABLED: how
many outcomes it had."""
OUTCOMES, OUTCOME_COUNT, OUTCOME_ROOM, OP, CAPACITY = range(7, 12)
"""The log of outcomes: its address (0: off), count, capacity. OP: the number of the operation.
CAPACITY: the records of a buffer."""
LINKS = 12
"""The address of the arrays for edges (0: off): see `transition_graph`."""
ROW = 13
"""The address of the logged outcome: its branch, its reply, the state after it."""
HEAD = 16

PARTITIONS = 16
PARTITION_BITS = 4
MARGIN = 1 << 13
"""The most successors of a state in one partition."""
SEQ_BITS = 24
"""A record's tag is the number of its source, shifted by so many bits, and the number of the
outcome there: tags grow in the order of discovery."""
ROWS_ROOM = 1 << 12
"""The most outcomes of an operation for one list of arguments."""
NOTE = 4
"""Words of a note: count, source and outcome of the first occurrence, and the site that failed."""

Memory = Literal["keys", "numbers", "fingerprints"]
"""The entry of a state in the visited set: its key; the hash of its key and its number; or the hash
alone."""
NARROW = 2
"""Keys of at most so many words are stored in the table."""


@dataclass(frozen=True, slots=True)
class MachineContext:
    """Offsets. `words` is the length of a packed state; `raw` says whether states are kept as they
    were reached, beside their keys. With `detailed`, outcomes are logged with `reply` slots and
    `trail` words (what guards read)."""

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
        """The expanded state, in slots."""
        return HEAD

    @property
    def arguments(self) -> int:
        """The arguments of the operation."""
        return self.fields + self.slots

    @property
    def key(self) -> int:
        """The key of a successor, then its packed words."""
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
        """For each partition its buffer and the number of its records."""
        return self.noted + NOTE * self.notes

    @property
    def masks(self) -> int:
        """Masks of the counter values in the state: all of a type, then those under each element of
        each sort."""
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
        """The total size."""
        return self.rows + (ROWS_ROOM + 1) * self.row

    @property
    def record(self) -> int:
        """Words of a record in a buffer: key, packed state (if `raw`), hash, tag."""
        return self.words * (2 if self.raw else 1) + 2

    @property
    def entry(self) -> int:
        """Words of an entry in a table."""
        return {"keys": self.words, "numbers": 2, "fingerprints": 1}[self.memory]

    @property
    def width(self) -> int:
        """Words of a row in the list of states: the state to expand, its key (if different and
        entries hold numbers), its tag."""
        return self.key_at + self.words + 1

    @property
    def key_at(self) -> int:
        """The offset of the key in a row, if entries hold numbers."""
        return self.words if self.raw and self.memory == "numbers" else 0

    @property
    def fresh(self) -> int:
        """Words of the row of a new state, with the address of its entry if entries hold
        numbers."""
        return self.width + (1 if self.memory == "numbers" else 0)

    @property
    def outcome_size(self) -> int:
        """Words of a logged outcome: operation, number of the outcome, branch (or minus the site
        that failed), key, arguments, state after in slots, reply, what guards read."""
        return self.outcome_reply + self.reply + self.trail

    @property
    def outcome_row(self) -> Struct:
        """Reads logged outcomes: operation, number of the outcome, branch, and as bytes the key,
        the arguments, the state after, and the rest."""
        parts = (self.words, self.args, self.slots, self.reply + self.trail)
        return Struct("=3Q" + "".join(f"{8 * words}s" for words in parts))

    @property
    def outcome_args(self) -> int:
        """The offset of the arguments in a logged outcome."""
        return 3 + self.words

    @property
    def outcome_after(self) -> int:
        """The offset of the state after in a logged outcome."""
        return self.outcome_args + self.args

    @property
    def outcome_reply(self) -> int:
        """The offset of the reply in a logged outcome."""
        return self.outcome_after + self.slots
