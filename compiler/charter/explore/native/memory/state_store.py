"""Stores the states of a search in the order of their discovery, each with its tag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from charter.explore.native.memory.arrays import Array, Room
from charter.explore.native.memory.machine_context import SEQ_BITS

BLOCK_BITS = 16
"""The number of rows of a block is two to the power of this."""
BLOCK_ROWS = 1 << BLOCK_BITS
KEPT = 7 / 8
"""The part of the budget used before states go to files; tables grow in the rest."""


@dataclass(slots=True)
class States:
    """`width` is the numbers of a row, of which the first `words` are the state and the last is its
    tag. `directory` holds the addresses of the blocks, for native code."""

    width: int
    words: int
    room: Room
    total: int = 0
    moved: int = 0
    directory: Array = field(default_factory=lambda: Array.of(1 << 10))
    _blocks: list[Array] = field(default_factory=list)

    def add(self, count: int) -> int:
        """Room for more states, which the caller writes at once; the number of the first. Raises
        NoRoom."""
        first = self.total
        while len(self._blocks) << BLOCK_BITS < first + count:
            self._blocks.append(self.room.array(self.width << BLOCK_BITS))
            self._enter(len(self._blocks) - 1)
        self.total += count
        return first

    def _enter(self, block: int) -> None:
        if block >= self.directory.length:
            larger = Array.of(2 * self.directory.length)
            larger.view[:block] = self.directory.view[:block]
            self.directory = larger
        self.directory.view[block] = self._blocks[block].address

    def address(self, number: int) -> int:
        """The address of a state's row; the rest of its block follows."""
        block, inside = divmod(number, BLOCK_ROWS)
        return self._blocks[block].at(inside * self.width)

    def get(self, number: int) -> tuple[list[int], int, int]:
        """A state as it is kept, the number of the one before it, and by which outcome."""
        block, inside = divmod(number, BLOCK_ROWS)
        row = self._blocks[block].numbers(inside * self.width, self.width)
        return row[: self.words], row[-1] >> SEQ_BITS, row[-1] % (1 << SEQ_BITS)

    def parts(self, first: int, end: int) -> Iterator[memoryview]:
        """The rows from number `first` on, before number `end`, as bytes."""
        while first < end:
            block, inside = divmod(first, BLOCK_ROWS)
            last = min(BLOCK_ROWS, end - (block << BLOCK_BITS))
            view = self._blocks[block].view
            yield view[inside * self.width : last * self.width].cast("B")
            first = (block << BLOCK_BITS) + last

    def move_out(self, end: int) -> None:
        """Put blocks that end before number `end` into files, once memory is nearly used. Raises
        NoRoom."""
        most = int(self.room.budget * KEPT)
        while self.moved < end >> BLOCK_BITS and self.room.used > most:
            block = self._blocks[self.moved]
            if not self.room.holds(block):
                self.moved += 1
                continue
            moved = self.room.file(block.length)
            moved.view[: block.length] = block.view[: block.length]
            self._blocks[self.moved] = moved
            self._enter(self.moved)
            self.room.release(block)
            self.moved += 1
