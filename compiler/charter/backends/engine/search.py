"""Level by level through all states of a program: blocks of states are expanded into buffers, the
buffers go into a table of keys, what was new is the next level, in the order of its discovery.

The order, and with it every count, does not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

from charter.backends.engine.context import (
    CAPACITY,
    FATAL,
    GENERATED,
    MARGIN,
    NOTE,
    OUTSIDE,
    PARTITIONS,
    SEQ_BITS,
    SOURCE,
    Context,
)
from charter.backends.engine.memory import Array
from charter.backends.engine.program import Program
from charter.backends.engine.unit import WHY

BUFFER = 1 << 15
"""Records in the buffer of one partition of one worker."""
BLOCK = 2048
"""States that a worker takes at once."""
AHEAD = 16
"""Records behind a buffer that may be read though they mean nothing."""
FIRST_TABLE = 1 << 10
FULL = 0.75
"""How much of a table is used before it grows."""


class GaveUp(Exception):
    """The engine met something that it was not compiled for; a phrase for a person."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`queue`: states that are known and not yet expanded."""

    distinct: int
    generated: int
    depth: int
    queue: int


@dataclass(slots=True)
class Worker:
    """The memory of one thread."""

    context: Array
    buffers: Array

    @staticmethod
    def of(plan: Context) -> Worker:
        """Empty buffers."""
        size = (BUFFER + AHEAD) * plan.record
        worker = Worker(Array.of(plan.size), Array.of(PARTITIONS * size))
        worker.context.view[CAPACITY] = BUFFER
        for p in range(PARTITIONS):
            worker.context.view[plan.outs + 2 * p] = worker.buffers.at(p * size)
        return worker


@dataclass(slots=True)
class Table:
    """The keys of one partition."""

    array: Array
    size: int
    used: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """Some states in the order of their discovery, each with its tag."""

    first: int
    count: int
    array: Array


@dataclass(frozen=True, slots=True)
class Note:
    """How often something was seen, and the first time: state, outcome, place that failed."""

    count: int
    source: int
    outcome: int
    site: int


@dataclass(slots=True)
class Search:
    """A search and all that it has found so far."""

    program: Program
    workers: int = 1
    most: int = 0
    segments: list[Segment] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    distinct: int = 0
    complete: bool = False
    _crew: list[Worker] = field(default_factory=list)
    _tables: list[Table] = field(default_factory=list)
    _fresh: list[Array] = field(default_factory=list)

    @property
    def plan(self) -> Context:
        """Offsets."""
        return self.program.plan.context

    # --- results ---------------------------------------------------------------------------------

    def total(self, at: int) -> int:
        """A count of all workers."""
        return sum(worker.context.view[at] for worker in self._crew)

    @property
    def generated(self) -> int:
        """Transitions, those that leave the instance among them."""
        return self.total(GENERATED)

    @property
    def outside(self) -> int:
        """Transitions that leave the instance."""
        return self.total(OUTSIDE)

    def taken(self) -> tuple[int, ...]:
        """How often each branch was taken."""
        return tuple(self.total(self.plan.taken + i) for i in range(self.plan.labels))

    def note(self, number: int) -> Note:
        """What is noted under a number, by all workers."""
        at = self.plan.noted + NOTE * number
        found = [Note(*worker.context.numbers(at, NOTE)) for worker in self._crew]
        hits = [note for note in found if note.count]
        if not hits:
            return Note(0, 0, 0, 0)
        first = min(hits, key=lambda note: (note.source, note.outcome))
        return Note(sum(n.count for n in hits), first.source, first.outcome, first.site)

    def state(self, number: int) -> tuple[list[int], int, int]:
        """A state as it is kept, the number of the one before it, and by which outcome."""
        low, high = 0, len(self.segments)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.segments[middle].first <= number else (low, middle)
        segment, width = self.segments[low], self.plan.kept + 1
        *words, tag = segment.array.numbers((number - segment.first) * width, width)
        return words, tag >> SEQ_BITS, tag % (1 << SEQ_BITS)

    # --- the search ------------------------------------------------------------------------------

    def run(self, on_progress: Callable[[Progress], None] | None = None) -> None:
        """Search to the end, or until there are `most` states. Raises GaveUp."""
        self._begin()
        done = 0
        with ThreadPoolExecutor(self.workers) as pool:
            while done < self.distinct:
                self.levels.append(self.distinct - done)
                end = self.distinct
                while done < end:
                    if self.most and self.distinct >= self.most:
                        self._check_rest(done)
                        return
                    done = self._chunk(done, end, pool)
                    if on_progress is not None:
                        queue = self.distinct - done
                        depth = len(self.levels)
                        on_progress(Progress(self.distinct, self.generated, depth, queue))
        self.complete = True

    def _begin(self) -> None:
        plan, library = self.program.plan, self.program.library
        context = self.plan
        self._crew = [Worker.of(context) for _ in range(self.workers)]
        width = context.kept + 1
        room = (BUFFER * self.workers + AHEAD) * width
        self._fresh = [Array.of(room) for _ in range(PARTITIONS)]
        self._tables = [
            Table(Array.of(FIRST_TABLE * context.words), FIRST_TABLE) for _ in range(PARTITIONS)
        ]
        initial = plan.machine.initial()
        slots = Array.of(context.slots)
        encoded = [
            slot
            for v in plan.machine.variables
            for slot in plan.layout.encode(v.type, initial[v.name])
        ]
        slots.write(0, encoded)
        record = Array.of((AHEAD + 1) * context.record)
        library["key"](slots.address, record.address)
        if context.raw:
            library["pack"](slots.address, record.at(context.words))
        self._insert_first(record)

    def _insert_first(self, record: Array) -> None:
        context = self.plan
        for table, fresh in zip(self._tables[:1], self._fresh, strict=False):
            del table, fresh
        start = context.words if context.raw else 0
        state = record.numbers(start, context.kept)
        segment = Array.of(context.kept + 1)
        segment.write(0, [*state, 0])
        self.segments.append(Segment(0, 1, segment))
        self.distinct = 1
        lists = Array.of(4)
        part = self._partition(record.numbers(0, context.words))
        lists.write(0, [record.address, 1, record.address, 0])
        table = self._tables[part]
        insert = self.program.library["insert"]
        insert(table.array.address, table.size, 1, lists.address, self._fresh[part].address)
        table.used = 1

    @staticmethod
    def _partition(words: list[int]) -> int:
        from charter.backends.engine.kernel import hash_of

        return hash_of(words) >> 60

    # --- one chunk -------------------------------------------------------------------------------

    def _chunk(self, done: int, end: int, pool: ThreadPoolExecutor) -> int:
        """Expand what fits into the buffers; the number of the first state that is left."""
        if self.most:
            end = min(end, done + max(1, self.most - self.distinct))
        blocks = _Blocks(self, done, end)
        for worker in self._crew:
            for p in range(PARTITIONS):
                worker.context.view[self.plan.outs + 2 * p + 1] = 0
        if self.workers == 1:
            self._expand(self._crew[0], blocks)
            counts = [self._insert(p) for p in range(PARTITIONS)]
        else:
            list(pool.map(lambda worker: self._expand(worker, blocks), self._crew))
            counts = list(pool.map(self._insert, range(PARTITIONS)))
        self._merge(counts)
        return blocks.next

    def _expand(self, worker: Worker, blocks: _Blocks) -> None:
        expand = self.program.library["expand"]
        view, width = worker.context.view, self.plan.kept + 1
        for number, segment, count in blocks.taken(lambda: self._roomy(worker)):
            view[SOURCE] = number
            start = segment.array.at((number - segment.first) * width)
            finished = expand(worker.context.address, start, count)
            if view[FATAL]:
                raise GaveUp(WHY[view[FATAL]])
            if finished < count:
                blocks.give_back(number + finished, count - finished)
                return

    def _roomy(self, worker: Worker) -> bool:
        outs = self.plan.outs
        counts = worker.context.numbers(outs, 2 * PARTITIONS)[1::2]
        return max(counts) + MARGIN + BLOCK < BUFFER

    def _insert(self, p: int) -> int:
        """The records of one partition into its table; how many were new."""
        lists = Array.of(4)
        at = self.plan.outs + 2 * p
        pairs = [worker.context.numbers(at, 2) for worker in self._crew[:2]]
        pairs += [[pairs[0][0], 0]] * (2 - len(pairs))
        lists.write(0, [*pairs[0], *pairs[1]])
        table, fresh, width = self._tables[p], self._fresh[p], self.plan.kept + 1
        insert, count = self.program.library["insert"], 0
        while lists.view[1] or lists.view[3]:
            room = int(table.size * FULL) - table.used
            if room <= 0:
                table = self._tables[p] = self._grown(table)
                continue
            new = insert(
                table.array.address, table.size, room, lists.address, fresh.at(count * width)
            )
            table.used += new
            count += new
        return count

    def _grown(self, table: Table) -> Table:
        size = table.size * 2 if table.size < 1 << 16 else table.size * 3 // 2
        array = Array.of(size * self.plan.words)
        self.program.library["grow"](table.array.address, table.size, array.address, size)
        return Table(array, size, table.used)

    def _merge(self, counts: list[int]) -> None:
        total, width = sum(counts), self.plan.kept + 1
        if not total:
            return
        array = Array.of(total * width)
        lists = Array.of(2 * PARTITIONS)
        pairs = zip(self._fresh, counts, strict=True)
        lists.write(0, [number for fresh, count in pairs for number in (fresh.address, count)])
        self.program.library["merge"](lists.address, array.address)
        self.segments.append(Segment(self.distinct, total, array))
        self.distinct += total

    def _check_rest(self, done: int) -> None:
        """The properties of the states that will not be expanded."""
        worker, width = self._crew[0], self.plan.kept + 1
        check = self.program.library["check"]
        for number, segment, count in _Blocks(self, done, self.distinct).taken(lambda: True):
            worker.context.view[SOURCE] = number
            start = segment.array.at((number - segment.first) * width)
            check(worker.context.address, start, count)


@dataclass(slots=True)
class _Blocks:
    """Blocks of states that workers take, in order; one that was not finished ends the taking."""

    search: Search
    next: int
    end: int
    _segment: int = -1
    _lock: Lock = field(default_factory=Lock)
    _closed: bool = False

    def taken(self, ready: Callable[[], bool]) -> Iterator[tuple[int, Segment, int]]:
        """Blocks for one worker while it is ready: first number, segment, count."""
        while True:
            with self._lock:
                if self._closed or self.next >= self.end:
                    return
                if not ready():
                    self._closed = True
                    return
                block = self._block()
            yield block

    def _block(self) -> tuple[int, Segment, int]:
        segments = self.search.segments
        if self._segment < 0:
            self._segment = _segment_of(segments, self.next)
        segment = segments[self._segment]
        while segment.first + segment.count <= self.next:
            self._segment += 1
            segment = segments[self._segment]
        number = self.next
        count = min(BLOCK, self.end - number, segment.first + segment.count - number)
        self.next += count
        return number, segment, count

    def give_back(self, number: int, count: int) -> None:
        """The rest of a block that was not finished is the first of the next chunk."""
        if len(self.search._crew) > 1 and self.next != number + count:
            raise GaveUp(WHY[4])
        self.next, self._segment, self._closed = number, -1, True


def _segment_of(segments: list[Segment], number: int) -> int:
    low, high = 0, len(segments)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if segments[middle].first <= number else (low, middle)
    return low
