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
    SOURCE,
    Context,
)
from charter.backends.engine.journal import Journal, Level
from charter.backends.engine.memory import Array, NoRoom, Room
from charter.backends.engine.program import Program, initial_slots
from charter.backends.engine.states import BLOCK_ROWS, States
from charter.backends.engine.table import SOON
from charter.backends.engine.unit import WHY

BUFFER = 1 << 15
"""Records in the buffer of one partition of one worker."""
BLOCK = 2048
"""States that a worker takes at once."""
AHEAD = 2 * SOON
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
    room: Room
    workers: int = 1
    most: int = 0
    journal: Journal | None = None
    levels: list[int] = field(default_factory=list)
    complete: bool = False
    stopped: str = ""
    states: States = field(init=False)
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
    def distinct(self) -> int:
        """States."""
        return self.states.total

    @property
    def spilled(self) -> int:
        """Bytes that went to files."""
        return self.room.spilled

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

    # --- the search ------------------------------------------------------------------------------

    def run(self, on_progress: Callable[[Progress], None] | None = None) -> None:
        """Search to the end, until there are `most` states, or until there is no room (`stopped`
        says so). Raises GaveUp."""
        self._prepare()
        done = self._resumed() if self.journal and self.journal.levels else self._begin()
        try:
            with ThreadPoolExecutor(self.workers) as pool:
                while done < self.distinct:
                    done = self._level(done, pool, on_progress)
                    if done < 0:
                        return
        except NoRoom as reason:
            known = self.distinct
            each = (self.room.used + self.room.spilled) // known
            self.stopped = (
                f"{reason}; {known:,} states are known, at {each} bytes each, and "
                f"{known - sum(self.levels[:-1]):,} of them may not be searched yet"
            )
            return
        self.complete = True

    def _level(
        self, done: int, pool: ThreadPoolExecutor, tell: Callable[[Progress], None] | None
    ) -> int:
        """Expand one level; the number of its end, or -1 if there are enough states."""
        start, end = done, self.distinct
        self.levels.append(end - done)
        while done < end:
            if self.most and self.distinct >= self.most:
                self._check_rest(done)
                return -1
            done = self._chunk(done, end, pool)
            self.states.move_out(start)
            if tell is not None:
                depth, queue = len(self.levels), self.distinct - done
                tell(Progress(self.distinct, self.generated, depth, queue))
        self._finished(end)
        return done

    def _prepare(self) -> None:
        context = self.plan
        self._crew = [Worker.of(context) for _ in range(self.workers)]
        room = BUFFER * self.workers * context.fresh
        self._fresh = [Array.of(room) for _ in range(PARTITIONS)]
        self.states = States(context.width, context.words, self.room)
        self._tables = [
            Table(self.room.array(FIRST_TABLE * context.entry), FIRST_TABLE)
            for _ in range(PARTITIONS)
        ]

    def _begin(self) -> int:
        plan, context = self.program.plan, self.plan
        slots, row = Array.of(context.slots), Array.of(context.width)
        slots.write(0, initial_slots(plan))
        self.program.library["pack"](slots.address, row.address)
        if not context.raw:
            key = Array.of(context.words)
            self.program.library["key"](slots.address, key.address)
            row.write(0, key.numbers(0, context.words))
        self._recall(row, 1)
        self._finished(0)
        return 0

    # --- the journal -----------------------------------------------------------------------------

    def _resumed(self) -> int:
        """Take over what the journal holds; the number of the first state of its last level."""
        assert self.journal is not None
        last = self.journal.levels[-1]
        for part in self.journal.parts():
            rows = Array.of(len(part) // 8)
            rows.view[: len(part) // 8] = memoryview(part).cast("Q")
            self._recall(rows, len(part) // (8 * self.states.width))
        view, context = self._crew[0].context.view, self.plan
        view[GENERATED], view[OUTSIDE] = last.generated, last.outside
        self._crew[0].context.write(context.taken, list(last.taken))
        notes = [number for note in last.notes for number in note]
        self._crew[0].context.write(context.noted, notes)
        self.levels = [level.count for level in self.journal.levels[:-1]]
        if not last.count:
            return self.distinct
        return self.distinct - last.count

    def _recall(self, rows: Array, count: int) -> None:
        """Take in states whose rows are known, in the order of their tags."""
        recall, context = self.program.library["recall"], self._crew[0].context
        done = 0
        while done < count:
            self._emptied()
            part = min(BUFFER // 2, count - done)
            recall(context.address, rows.at(done * self.states.width), part)
            self._merge([self._insert(p) for p in range(PARTITIONS)])
            done += part
        self._emptied()

    def _finished(self, first: int) -> None:
        """Write down the level that begins at number `first`."""
        if self.journal is None:
            return
        notes = [self.note(i) for i in range(self.plan.notes)]
        level = Level(
            self.distinct - first,
            0,
            self.generated,
            self.outside,
            self.taken(),
            tuple((x.count, x.source, x.outcome, x.site) for x in notes),
        )
        parts = list(self.states.parts(first)) if first < self.distinct else []
        self.journal.add(parts, level)

    # --- one chunk -------------------------------------------------------------------------------

    def _chunk(self, done: int, end: int, pool: ThreadPoolExecutor) -> int:
        """Expand what fits into the buffers; the number of the first state that is left."""
        if self.most:
            end = min(end, done + max(1, self.most - self.distinct))
        blocks = _Blocks(self, done, end)
        self._emptied()
        if self.workers == 1:
            self._expand(self._crew[0], blocks)
            counts = [self._insert(p) for p in range(PARTITIONS)]
        else:
            list(pool.map(lambda worker: self._expand(worker, blocks), self._crew))
            counts = list(pool.map(self._insert, range(PARTITIONS)))
        self._merge(counts)
        return blocks.next

    def _emptied(self) -> None:
        for worker in self._crew:
            for p in range(PARTITIONS):
                worker.context.view[self.plan.outs + 2 * p + 1] = 0

    def _expand(self, worker: Worker, blocks: _Blocks) -> None:
        expand = self.program.library["expand"]
        view = worker.context.view
        for number, count in blocks.taken(lambda: self._roomy(worker)):
            view[SOURCE] = number
            finished = expand(worker.context.address, self.states.address(number), count)
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
        """The records of one partition into its table; how many were new. Raises NoRoom."""
        lists = Array.of(4)
        at = self.plan.outs + 2 * p
        pairs = [worker.context.numbers(at, 2) for worker in self._crew[:2]]
        pairs += [[pairs[0][0], 0]] * (2 - len(pairs))
        lists.write(0, [*pairs[0], *pairs[1]])
        coming = lists.view[1] + lists.view[3]
        while int(self._tables[p].size * FULL) - self._tables[p].used < coming:
            self._tables[p] = self._grown(self._tables[p])
        table, fresh = self._tables[p], self._fresh[p].address
        new = self.program.library["insert"](
            table.array.address, table.size, lists.address, fresh, self.states.directory.address
        )
        table.used += new
        return new

    def _grown(self, table: Table) -> Table:
        size = table.size * 2 if table.size < 1 << 16 else table.size * 3 // 2
        array = self.room.array(size * self.plan.entry)
        self.program.library["grow"](table.array.address, table.size, array.address, size)
        self.room.release(table.array)
        return Table(array, size, table.used)

    def _merge(self, counts: list[int]) -> None:
        first = self.states.add(sum(counts))
        lists = Array.of(2 * PARTITIONS)
        pairs = zip(self._fresh, counts, strict=True)
        lists.write(0, [number for fresh, count in pairs for number in (fresh.address, count)])
        self.program.library["merge"](lists.address, self.states.directory.address, first)

    def _check_rest(self, done: int) -> None:
        """The properties of the states that will not be expanded."""
        worker, check = self._crew[0], self.program.library["check"]
        for number, count in _Blocks(self, done, self.distinct).taken(lambda: True):
            worker.context.view[SOURCE] = number
            check(worker.context.address, self.states.address(number), count)


@dataclass(slots=True)
class _Blocks:
    """Blocks of states that workers take, in order; one that was not finished ends the taking."""

    search: Search
    next: int
    end: int
    _lock: Lock = field(default_factory=Lock)
    _closed: bool = False

    def taken(self, ready: Callable[[], bool]) -> Iterator[tuple[int, int]]:
        """Blocks for one worker while it is ready: first number, count."""
        while True:
            with self._lock:
                if self._closed or self.next >= self.end:
                    return
                if not ready():
                    self._closed = True
                    return
                block = self._block()
            yield block

    def _block(self) -> tuple[int, int]:
        number = self.next
        count = min(BLOCK, self.end - number, BLOCK_ROWS - number % BLOCK_ROWS)
        self.next += count
        return number, count

    def give_back(self, number: int, count: int) -> None:
        """The rest of a block that was not finished is the first of the next chunk."""
        if len(self.search._crew) > 1 and self.next != number + count:
            raise GaveUp(WHY[4])
        self.next, self._closed = number, True
