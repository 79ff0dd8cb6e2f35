"""The states of a search in the order of their discovery, each with its tag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from charter.backends.engine.context import SEQ_BITS
from charter.backends.engine.memory import LARGE, Array, Room


@dataclass(frozen=True, slots=True)
class Segment:
    """Some states that follow each other."""

    first: int
    count: int
    array: Array


@dataclass(slots=True)
class States:
    """`width` is the numbers of a state with its tag."""

    width: int
    room: Room
    segments: list[Segment] = field(default_factory=list)
    total: int = 0
    moved: int = 0

    def add(self, count: int) -> Array:
        """Room for more states, which the caller writes at once."""
        array = self.room.array(count * self.width)
        self.segments.append(Segment(self.total, count, array))
        self.total += count
        return array

    def index(self, number: int) -> int:
        """The number of the segment that a state is in."""
        low, high = 0, len(self.segments)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.segments[middle].first <= number else (low, middle)
        return low

    def address(self, segment: Segment, number: int) -> int:
        """Where a state of a segment stands."""
        return segment.array.at((number - segment.first) * self.width)

    def get(self, number: int) -> tuple[list[int], int, int]:
        """A state as it is kept, the number of the one before it, and by which outcome."""
        segment = self.segments[self.index(number)]
        *words, tag = segment.array.numbers((number - segment.first) * self.width, self.width)
        return words, tag >> SEQ_BITS, tag % (1 << SEQ_BITS)

    def parts(self, first: int) -> Iterator[memoryview]:
        """The states from number `first` on, as bytes; a segment begins there."""
        for segment in self.segments[self.index(first) :]:
            yield segment.array.view[: segment.count * self.width].cast("B")

    def move_out(self, end: int) -> None:
        """Put what lies before number `end` into files, once memory is half used: only traces need
        it. Raises NoRoom."""
        while self.moved < len(self.segments) and self.room.used > self.room.budget // 2:
            segment = self.segments[self.moved]
            if segment.first + segment.count > end:
                return
            size = segment.count * self.width
            if size * 8 >= LARGE:
                array = self.room.file(size)
                array.view[:size] = segment.array.view[:size]
                self.segments[self.moved] = Segment(segment.first, segment.count, array)
                self.room.release(segment.array)
            self.moved += 1
