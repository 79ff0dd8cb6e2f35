"""Searches breadth-first, level by level: blocks of states are expanded into buffers, new keys
enter the visited set, and the new states form the next frontier, in the order of their discovery.

The order of discovery does not depend on the number of workers, nor does any count of a search that
ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from math import inf

from charter.explore.model_checker import EngineUnsupported
from charter.explore.native.emit.unit import FATAL_COUNTER, WHY
from charter.explore.native.memory.arrays import Array, NoRoom, Room
from charter.explore.native.memory.blocks import Blocks
from charter.explore.native.memory.layout import MOST_COUNTER
from charter.explore.native.memory.machine_context import (
    FATAL,
    GENERATED,
    HEAD,
    MARGIN,
    NOTE,
    OUTSIDE,
    PARTITIONS,
    SOURCE,
    MachineContext,
)
from charter.explore.native.memory.state_store import States
from charter.explore.native.program.anchor import Anchor, anchor_of, use
from charter.explore.native.program.compile_instance import Program, first_row
from charter.explore.native.search.journal import Journal, JournalLevel
from charter.explore.native.search.worker import BUFFER, Worker, empty, fill_lists
from charter.explore.result import WRONG

BUFFERED = 1 << 17
"""Records in the buffers of one partition of all workers, as long as each has room for a state."""
BLOCK = 2048
"""States that a worker takes at once, at most."""
MIN_BLOCK_STATES = 64
"""The smallest block of a chunk, and the size of the first block, when the cost of a state is not
known yet."""
CONTENTION_DIVISOR = 4
"""Divides the block size after workers contended."""
MOST_SPAN = 1 << 40
CHUNK_SECONDS_MIN, CHUNK_SECONDS_MAX = 0.25, 1.0
"""How long a chunk should take: an interrupt and the progress wait for its end."""
FIRST_TABLE = 1 << 10
TABLE_FILL = 0.75
"""The share of a table that is used before it grows."""
SYMMETRY_CHECK_STATES = 1 << 7
"""States after which a search checks whether symmetry merges anything."""


class GaveUp(EngineUnsupported):
    """The engine reached something that it does not support; the message is a phrase."""


class CounterTooLarge(GaveUp):
    """A counter grew past the greatest value that the engine can hold."""


@dataclass(frozen=True, slots=True)
class SearchCounts:
    """The counts of a running search; `queue` is the number of known states not yet expanded."""

    distinct: int
    generated: int
    depth: int
    queue: int


@dataclass(slots=True)
class KeyTable:
    """The visited set of one partition."""

    array: Array
    size: int
    used: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """How often something occurred, and its first occurrence: state, outcome, and the failing place
    in the model."""

    count: int
    source: int
    outcome: int
    site: int


@dataclass(slots=True)
class Search:
    """A search and all that it has found so far. `expanded` is the number of the first state that
    is not expanded; `tried`: whether an anchor was already looked for; `first`: whether to stop at
    the end of the level in which something is wrong; `until`: in which this property is."""

    program: Program
    room: Room
    workers: int = 1
    most: int = 0
    journal: Journal | None = None
    levels: list[int] = field(default_factory=list)
    expanded: int = 0
    complete: bool = False
    stopped: str = ""
    anchor: Anchor | None = None
    tried: bool = True
    first: bool = False
    until: str = ""
    states: States = field(init=False)
    _crew: list[Worker] = field(default_factory=list)
    _tables: list[KeyTable] = field(default_factory=list)
    _fresh: list[Array] = field(default_factory=list)
    _unwritten: list[tuple[int, JournalLevel]] = field(default_factory=list)
    _block: int = BLOCK
    _tried_block: int = MIN_BLOCK_STATES
    _span: int = BLOCK
    _spent: float = 0.0
    """Seconds of processor time of all chunks so far."""

    @property
    def plan(self) -> MachineContext:
        """The offsets of the program's data in memory."""
        return self.program.plan.context

    @property
    def buffer(self) -> int:
        """The capacity, in records, of one worker's buffer for one partition."""
        return max(2 * MARGIN, min(BUFFER, BUFFERED // self.workers))

    # --- results ---------------------------------------------------------------------------------

    def total(self, at: int) -> int:
        """The sum over all workers of the count at offset `at`."""
        return sum(worker.context.view[at] for worker in self._crew)

    @property
    def distinct(self) -> int:
        """The number of states."""
        return self.states.total

    @property
    def spilled(self) -> int:
        """The number of bytes spilled to files."""
        return self.room.spilled

    @property
    def bytes_each(self) -> int:
        """The bytes used per state, in memory and files."""
        room = self.room
        return (room.used - room.reserved + room.spilled) // max(1, self.distinct)

    @property
    def generated(self) -> int:
        """The number of transitions, including those that leave the instance."""
        return self.total(GENERATED)

    @property
    def outside(self) -> int:
        """The number of transitions that leave the instance."""
        return self.total(OUTSIDE)

    def count_taken(self) -> tuple[int, ...]:
        """How often each branch was taken."""
        return tuple(self.total(self.plan.taken + i) for i in range(self.plan.labels))

    def tables(self) -> list[int]:
        """The address and size of each partition's table."""
        return [number for t in self._tables for number in (t.array.address, t.size)]

    def note(self, number: int) -> Note:
        """The note with this number, over all workers."""
        at = self.plan.noted + NOTE * number
        found = [Note(*worker.context.numbers(at, NOTE)) for worker in self._crew]
        hits = [note for note in found if note.count]
        if not hits:
            return Note(0, 0, 0, 0)
        first = min(hits, key=lambda note: (note.source, note.outcome))
        return Note(sum(n.count for n in hits), first.source, first.outcome, first.site)

    # --- the search ------------------------------------------------------------------------------

    def run(self, on_progress: Callable[[SearchCounts], None] | None = None) -> None:
        """Search until all states are expanded, `most` states are found, a counter that nothing
        bounds is past 63, or room runs out; otherwise than for the first two `stopped` gives the
        reason. Raises GaveUp."""
        first, plan = first_row(self.program), self.program.plan
        if self.journal and self.journal.levels:
            self.anchor = self.journal.anchor
        elif plan.quotient.sorts and anchor_of(plan, [first.numbers(0, plan.context.words)]):
            self.anchor, self.tried = (), False
        while not self._run(on_progress):
            self._forget()

    def _run(self, on_progress: Callable[[SearchCounts], None] | None) -> bool:
        """Search until the end. Returns False if the states must be discarded because symmetry may
        merge some."""
        use(self.program.library, self.anchor)
        self._prepare()
        try:
            done = self._resume() if self.journal and self.journal.levels else self._begin()
            with ThreadPoolExecutor(self.workers) as pool:
                while 0 <= done < self.distinct:
                    done = self._level(done, pool, on_progress)
                    done = -1 if self._may_stop() else done
                    is_last = not 0 <= done < self.distinct
                    if (is_last or self.distinct >= SYMMETRY_CHECK_STATES) and not self._try():
                        return False
            self.complete = done >= 0
        except (NoRoom, CounterTooLarge) as reason:
            # Another engine would search for ever where counters are not renamed, and need not
            # search after a violation.
            exact = self.program.plan.quotient.exact
            if isinstance(reason, CounterTooLarge) and not (exact or self._is_wrong()):
                raise
            if not self._try():
                return False
            self.stopped = self._why_stopped(reason)
            self._tables.clear()  # nothing is inserted any more, and traces need the memory
            self._fresh.clear()
            self._check_rest()
        return True

    def _why_stopped(self, reason: NoRoom | CounterTooLarge) -> str:
        """Why the search ends early, with its numbers and a remedy."""
        known = f"{self.distinct:,} states were found"
        left = f"{self.distinct - self.expanded:,} of them were not searched further"
        if isinstance(reason, NoRoom):
            return f"{reason}; {known}, at {self.bytes_each} bytes each, and {left}"
        return (
            f"the search stopped since a counter would exceed {MOST_COUNTER}; {known}, and {left}; "
            "`only OPERATION if CONDITION` in the instance bounds it"
        )

    def _may_stop(self) -> bool:
        """Whether what was searched for is found."""
        noted = enumerate(self.program.plan.noted)
        if self.until:
            wanted = ("always", self.until), ("stepwise", self.until)
            return any(note in wanted and self.note(i).count for i, note in noted)
        return self.first and self._is_wrong()

    def _is_wrong(self) -> bool:
        """Whether a property is violated, a value is undefined, or a state is a deadlock."""
        noted = enumerate(self.program.plan.noted)
        return any(kind in WRONG and self.note(i).count for i, (kind, _) in noted)

    def _try(self) -> bool:
        """Look for an anchor unless that was done. Returns whether the states found so far remain
        valid: with an anchor each is its own canonical form."""
        if self.tried:
            return True
        rows = (self.states.get(number)[0] for number in range(self.distinct))
        self.anchor, self.tried = anchor_of(self.program.plan, rows), True
        use(self.program.library, self.anchor)
        if self.anchor is not None:
            self._write()
        return self.anchor is not None

    def _forget(self) -> None:
        """Discard all states."""
        self._crew, self._tables, self._fresh, self._unwritten = [], [], [], []
        self.levels, self.expanded = [], 0
        self.room.clear()

    def _level(
        self, done: int, pool: ThreadPoolExecutor, tell: Callable[[SearchCounts], None] | None
    ) -> int:
        """Expand one level; returns the number of the state after its last, or -1 if `most` is
        reached."""
        start, end = done, self.distinct
        self.levels.append(end - done)
        while done < end:
            if self.most and self.distinct >= self.most:
                self._check_rest()
                return -1
            done = self._chunk(done, end, pool)
            self.states.move_out(start)
            if tell is not None:
                depth, queue = len(self.levels), self.distinct - done
                tell(SearchCounts(self.distinct, self.generated, depth, queue))
        self._finish(end)
        return done

    def _prepare(self) -> None:
        context = self.plan
        self._crew = [Worker.of(context, self.buffer) for _ in range(self.workers)]
        size = self.buffer * self.workers * context.fresh
        self._fresh = [Array.of(size) for _ in range(PARTITIONS)]
        for array in (*(worker.buffers for worker in self._crew), *self._fresh):
            self.room.reserve(array)
        self.states = States(context.width, context.words, self.room)
        self._tables = [
            KeyTable(self.room.array(FIRST_TABLE * context.entry), FIRST_TABLE)
            for _ in range(PARTITIONS)
        ]

    def _begin(self) -> int:
        self._recall(first_row(self.program), 1)
        self._finish(0)
        return 0

    # --- the journal -----------------------------------------------------------------------------

    def _resume(self) -> int:
        """Load the journal; returns the number of the first state of its last level."""
        assert self.journal is not None
        last = self.journal.levels[-1]
        for part in self.journal.parts():
            rows = Array.of(len(part) // 8)
            rows.view[: len(part) // 8] = memoryview(part).cast("Q")
            self._recall(rows, len(part) // (8 * self.states.width))
            self.states.move_out(self.distinct)
        view, context = self._crew[0].context.view, self.plan
        view[GENERATED], view[OUTSIDE] = last.generated, last.outside
        self._crew[0].context.write(context.taken, list(last.taken))
        notes = [number for note in last.notes for number in note]
        self._crew[0].context.write(context.noted, notes)
        self.levels = [level.count for level in self.journal.levels[:-1]]
        self.expanded = self.distinct - last.count
        return self.expanded

    def _recall(self, rows: Array, count: int) -> None:
        """Insert states whose rows are known, in the order of their tags."""
        recall, context = self.program.library["recall"], self._crew[0].context
        done = 0
        while done < count:
            empty(self._crew, self.plan)
            part = min(self.buffer // 2, count - done)
            recall(context.address, rows.at(done * self.states.width), part)
            lists = fill_lists(self._crew, self.plan)
            self._merge([self._insert(p, lists) for p in range(PARTITIONS)])
            done += part
        empty(self._crew, self.plan)

    def _finish(self, first: int) -> None:
        """Record in the journal that the level from number `first` on is complete."""
        if self.journal is None:
            return
        notes = [self.note(i) for i in range(self.plan.notes)]
        level = JournalLevel(
            self.distinct - first,
            0,
            self.generated,
            self.outside,
            self.count_taken(),
            tuple((x.count, x.source, x.outcome, x.site) for x in notes),
        )
        self._unwritten.append((first, level))
        if self.tried:
            self._write()

    def _write(self) -> None:
        """Write the levels that are not in the journal yet."""
        if self.journal is not None:
            self.journal.anchor = self.anchor
            for first, level in self._unwritten:
                parts = list(self.states.parts(first, first + level.count))
                self.journal.add(parts, level)
            self._unwritten.clear()

    # --- one chunk -------------------------------------------------------------------------------

    def _chunk(self, done: int, end: int, pool: ThreadPoolExecutor) -> int:
        """Expand as many states as fit into the buffers; returns the number of the next state."""
        source = self.program.optimizing_source
        if source is not None and self._spent >= source.optimize_after_seconds:
            self.program = self.program.optimize()
            use(self.program.library, self.anchor)
        end = min(end, done + self._span)
        if self.most:
            end = min(end, done + max(1, self.most - self.distinct))
        begun, used = time.monotonic(), time.process_time()
        blocks = self._expand_all(done, end, pool)
        self.expanded = blocks.next
        lists = fill_lists(self._crew, self.plan)
        if self.workers == 1:
            counts = [self._insert(p, lists) for p in range(PARTITIONS)]
        else:
            counts = list(pool.map(self._insert, range(PARTITIONS), repeat(lists)))
        self._merge(counts)
        took = time.monotonic() - begun
        self._spent += time.process_time() - used
        if took > CHUNK_SECONDS_MAX:
            self._span = max(1, self._span // 2)
        elif took < CHUNK_SECONDS_MIN:
            self._span = min(2 * self._span, MOST_SPAN)
        if took <= CHUNK_SECONDS_MAX:
            self._tried_block = min(2 * self._tried_block, BLOCK)
        return blocks.next

    def _expand_all(self, done: int, end: int, pool: ThreadPoolExecutor) -> Blocks:
        """Expand into the buffers. If a worker could not finish its block after a later block was
        taken, everything is repeated with smaller blocks."""
        counted = [(0, HEAD), (self.plan.taken, self.plan.outs - self.plan.taken)]
        before = [[w.context.numbers(*part) for part in counted] for w in self._crew]
        # Where the search stops must not depend on how long something takes.
        until = inf if self.most else time.monotonic() + CHUNK_SECONDS_MAX
        while True:
            share = max(MIN_BLOCK_STATES, (end - done) // (2 * self.workers))
            size = min(self._block, self._tried_block, share)
            blocks = Blocks(done, end, size, until)
            empty(self._crew, self.plan)
            if self.workers == 1:
                self._expand(self._crew[0], blocks)
            else:
                list(pool.map(self._expand, self._crew, repeat(blocks)))
            if not blocks.is_torn:
                return blocks
            self._block = max(1, self._block // CONTENTION_DIVISOR)
            for worker, numbers in zip(self._crew, before, strict=True):
                for (start, _), part in zip(counted, numbers, strict=True):
                    worker.context.write(start, part)

    def _expand(self, worker: Worker, blocks: Blocks) -> None:
        expand = self.program.library["expand"]
        view = worker.context.view
        for number, count in blocks.take(lambda: self._roomy(worker)):
            view[SOURCE] = number
            finished = expand(worker.context.address, self.states.address(number), count)
            if view[FATAL]:
                large = view[FATAL] == FATAL_COUNTER
                raise (CounterTooLarge if large else GaveUp)(WHY[view[FATAL]])
            if finished < count:
                blocks.give_back(number + finished, count - finished)
                return

    def _roomy(self, worker: Worker) -> bool:
        outs = self.plan.outs
        counts = worker.context.numbers(outs, 2 * PARTITIONS)[1::2]
        return max(counts) + MARGIN + self._block < self.buffer

    def _insert(self, p: int, lists: Array) -> int:
        """Insert the records of one partition into its table; returns how many were new. Raises
        NoRoom."""
        start, table = 2 * self.workers * p, self._tables[p]
        coming = sum(lists.numbers(start, 2 * self.workers)[1::2])
        if not coming:
            return 0
        while int(table.size * TABLE_FILL) - table.used < coming:
            table = self._tables[p] = self._grow(table)
        new = self.program.library["insert"](
            table.array.address, table.size, lists.at(start), self.workers,
            self._fresh[p].address, self.states.directory.address,
        )  # fmt: skip
        table.used += new
        return new

    def _grow(self, table: KeyTable) -> KeyTable:
        size = table.size * 2 if table.size < 1 << 16 else table.size * 3 // 2
        array = self.room.array(size * self.plan.entry)
        self.program.library["grow"](table.array.address, table.size, array.address, size)
        self.room.release(table.array)
        return KeyTable(array, size, table.used)

    def _merge(self, counts: list[int]) -> None:
        first = self.states.add(sum(counts))
        lists = Array.of(2 * PARTITIONS)
        pairs = zip(self._fresh, counts, strict=True)
        lists.write(0, [number for fresh, count in pairs for number in (fresh.address, count)])
        self.program.library["merge"](lists.address, self.states.directory.address, first)

    def _check_rest(self) -> None:
        """Check the properties of states that will not be expanded."""
        worker, check = self._crew[0], self.program.library["check"]
        rest = Blocks(self.expanded, self.distinct, BLOCK)
        for number, count in rest.take(lambda: True):
            worker.context.view[SOURCE] = number
            check(worker.context.address, self.states.address(number), count)
