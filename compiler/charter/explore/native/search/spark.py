"""Explores an instance as Spark jobs, one for each level, with frontier and visited set as Parquet
files partitioned by the hash of the key.

The caller creates the session, so nothing here imports Spark. A level is complete once the journal
lists it: a search that was stopped resumes after the last complete level.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol, TypedDict, cast

from charter.analysis.known_faults import refuse_faults
from charter.core import nodes as n
from charter.explore.model_checker import CannotExplore
from charter.explore.native.memory.index import DAMAGED, IndexContent, SearchIndex, explain_damage
from charter.explore.native.memory.machine_context import NOTE, SEQ_BITS
from charter.explore.native.program.compile_instance import Program, first_row, program
from charter.explore.native.program.llvm import machine_digest
from charter.explore.native.search.explore import Exploration, NativeOptions, result_of
from charter.explore.native.search.levels import Note, SearchCounts
from charter.explore.native.search.search_files import UNREADABLE, Store
from charter.explore.native.search.tasks import (
    DONE_SQL,
    FOUND_SQL,
    KEPT,
    SLICE,
    SUMMARY,
    Expand,
    Insert,
    Slice,
    TaskKernel,
    add_counts,
    at_once,
    initial_row,
    row_at,
)
from charter.explore.native.search.violations import watch

ALONE = 4 * SLICE
"""States of a level that this process expands by itself: a job takes longer to start."""
FEWEST_BITS, MOST_BITS = 4, 14
"""Bits of a hash that choose the bucket of a key: four buckets for each core at least, so that
what is found in one bucket of a level fits into the memory of a worker."""
INDEX = "spark.json"
OTHER_VERSION = "the journal is of another version of charter: the search starts again"
POLL = 0.2
"""Seconds between looks at a running job."""


class Failed(CannotExplore):
    """A Spark job failed; the message is a sentence for the user."""


class SparkRow(Protocol):
    """A row of a result."""

    def __getitem__(self, name: str, /) -> int | str: ...


class Grouped(Protocol):
    """Grouped rows of Spark."""

    def applyInArrow(self, func: Insert, schema: str) -> Frame: ...


class Frame(Protocol):
    """A dataset of Spark."""

    def mapInArrow(self, func: Expand, schema: str) -> Frame: ...
    def repartition(self, count: int, column: str, /) -> Frame: ...
    def groupBy(self, column: str, /) -> Grouped: ...
    def collect(self) -> list[SparkRow]: ...


class SparkContext(Protocol):
    """The part of Spark's SparkContext that is used here."""

    @property
    def defaultParallelism(self) -> int: ...
    def cancelAllJobs(self) -> None: ...


class SparkSession(Protocol):
    """The part of Spark's SparkSession that is used here."""

    @property
    def sparkContext(self) -> SparkContext: ...
    def range(self, start: int, end: int, step: int, numPartitions: int) -> Frame: ...


@dataclass(frozen=True, slots=True)
class Level:
    """A complete level: rows, size in bytes and CRC-32 of each bucket (0 for an empty one), and the
    counts of the search after it (as of `tasks.counts_of`)."""

    rows: tuple[int, ...]
    sizes: tuple[int, ...]
    checksums: tuple[int, ...]
    counts: list[list[int]]

    @property
    def total(self) -> int:
        """The number of states."""
        return sum(self.rows)


@dataclass(frozen=True, slots=True)
class StoredStates:
    """The states of a search on disk, by number."""

    kernel: TaskKernel
    levels: list[Level]

    @property
    def total(self) -> int:
        """The number of states."""
        return sum(level.total for level in self.levels)

    def get(self, number: int) -> tuple[list[int], int, int]:
        """A state's words, the number of its source, and the number of the outcome that led to it.
        Raises Failed if the file cannot be read."""
        left = number
        for depth, level in enumerate(self.levels):
            for bucket, rows in enumerate(level.rows):
                if left < rows:
                    try:
                        words, tag = row_at(self.kernel, self.kernel.name(depth, bucket), left)
                    except UNREADABLE as error:
                        raise Failed(_unreadable(error)) from None
                    return words, tag >> SEQ_BITS, tag % (1 << SEQ_BITS)
                left -= rows
        raise IndexError(number)


@dataclass(slots=True)
class SparkSearch:
    """A search on Spark and all that it has found so far. `kept`: whether its folder is kept after
    a failure."""

    program: Program
    session: SparkSession
    store: Store
    most: int = 0
    alone: int = ALONE
    bits: int = 0
    kept: bool = True
    stopped: str = ""
    complete: bool = False
    message: str = ""
    found: list[Level] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    kernel: TaskKernel = field(init=False)
    counts: list[list[int]] = field(init=False)

    # --- results ---------------------------------------------------------------------------------

    @property
    def states(self) -> StoredStates:
        """The states found."""
        return StoredStates(self.kernel, self.found)

    @property
    def spilled(self) -> int:
        """0: all states are in files in any case."""
        return 0

    @property
    def bytes_each(self) -> int:
        """The bytes per state in files."""
        return sum(sum(level.sizes) for level in self.found) // max(1, self.distinct)

    @property
    def distinct(self) -> int:
        """The number of states."""
        return sum(level.total for level in self.found)

    @property
    def generated(self) -> int:
        """The number of transitions, including those that leave the instance."""
        return self.counts[0][0]

    @property
    def outside(self) -> int:
        """The number of transitions that leave the instance."""
        return self.counts[0][1]

    def count_taken(self) -> tuple[int, ...]:
        """How often each branch was taken."""
        return tuple(self.counts[1])

    def note(self, number: int) -> Note:
        """The note with this number."""
        return Note(*self.counts[2][NOTE * number : NOTE * number + NOTE])

    # --- the search ------------------------------------------------------------------------------

    def run(self, on_progress: Callable[[SearchCounts], None] | None = None) -> None:
        """Search to the end, or until a level ends with at least `most` states. Raises OtherSearch
        if the folder holds another search, Failed if a task or Spark fails."""
        with self._files():
            self._open()
        self.levels = [level.total for level in self.found]
        while self.found[-1].total:
            if self.most and self.distinct >= self.most:
                self._expand(check_only=True)
                return
            self._expand(check_only=False)
            if on_progress is not None:
                depth, queue = len(self.levels), self.found[-1].total
                on_progress(SearchCounts(self.distinct, self.generated, depth, queue))
            self.levels.append(self.found[-1].total)
        self.levels.pop()
        self.complete = True

    def _open(self) -> None:
        """Resume the search that the folder holds, or begin a new one."""
        self.store.prepare()
        self.counts = add_counts(self.program.plan.context, [])
        read = self._read()
        if read is not None:
            self.bits = read[0]
        elif not self.bits:
            wanted = (4 * self.session.sparkContext.defaultParallelism - 1).bit_length()
            self.bits = min(MOST_BITS, max(FEWEST_BITS, wanted))
        context, code = self.program.plan.context, self.program.code
        self.kernel = TaskKernel(code, machine_digest(), context, self.store, self.bits)
        if read is not None:
            self._resume(read[1])
        if not self.found:
            self._begin()

    def _begin(self) -> None:
        bucket, size, checksum = initial_row(self.kernel, first_row(self.program))
        self._commit({bucket: (1, size, checksum)})

    def _slices(self) -> Iterator[Slice]:
        """The slices of the last level, one per row group."""
        level = len(self.found) - 1
        first = self.distinct - self.found[-1].total
        for bucket, rows in enumerate(self.found[-1].rows):
            for group in range((rows + SLICE - 1) // SLICE):
                yield Slice(level, bucket, group, first + group * SLICE)
            first += rows

    def _expand(self, *, check_only: bool) -> None:
        """Expand the last level into the next one, or only check the properties of its states."""
        slices = tuple(self._slices())
        wide = 2 * self.session.sparkContext.defaultParallelism
        expand = Expand(self.kernel, slices, check_only)
        known = tuple(
            tuple(depth for depth, level in enumerate(self.found) if level.rows[bucket])
            for bucket in range(1 << self.bits)
        )
        insert = Insert(self.kernel, len(self.found), known)
        rows: Iterable[SparkRow]
        if self.found[-1].total <= self.alone:
            with self._files():
                rows = list(at_once(expand, insert))
        else:
            tasks = min(len(slices), wide)
            frame = self.session.range(0, len(slices), 1, tasks).mapInArrow(expand, FOUND_SQL)
            groups = frame.repartition(min(1 << self.bits, wide), "bucket").groupBy("bucket")
            rows = self._collect(groups.applyInArrow(insert, DONE_SQL))
        buckets: dict[int, tuple[int, int, int]] = {}
        for row in rows:
            bucket = int(row["bucket"])
            if bucket == SUMMARY:
                more = json.loads(str(row["counts"]))
                self.counts = add_counts(self.kernel.context, [self.counts, more])
            else:
                buckets[bucket] = int(row["rows"]), int(row["size"]), int(row["checksum"])
        if not check_only:
            with self._files():
                self._commit(buckets)

    @contextmanager
    def _files(self) -> Iterator[None]:
        """A context for file access in this process. Raises Failed for unreadable files."""
        try:
            yield
        except UNREADABLE as error:
            raise Failed(f"{_unreadable(error)}; {self._remedy}") from None

    def _collect(self, frame: Frame) -> list[SparkRow]:
        """The rows of a job. An interrupt cancels the job."""
        with ThreadPoolExecutor(1) as pool:
            job: Future[list[SparkRow]] = pool.submit(frame.collect)
            try:
                while not wait([job], POLL).done:
                    pass  # returns every POLL seconds so that an interrupt is noticed
                return job.result()
            except KeyboardInterrupt:
                self.session.sparkContext.cancelAllJobs()
                raise
            except Exception as error:  # of many kinds, including py4j's
                said = f"a task of Spark failed ({_reason(error)})"
                raise Failed(f"{said}; {self._remedy}") from None

    @property
    def _remedy(self) -> str:
        """What the user can do after a failed level."""
        if self.kept:
            return f"the same command continues from the levels in {self.store.place}"
        return "nothing is kept (--journal DIR keeps each finished level)"

    # --- the journal -----------------------------------------------------------------------------

    @property
    def _index(self) -> SearchIndex:
        place = self.store.place
        return SearchIndex(Path(place) / INDEX, self.program.digest, place)

    def _commit(self, buckets: Mapping[int, tuple[int, int, int]]) -> None:
        """Write the new level into the journal."""
        files = [buckets.get(bucket, (0, 0, 0)) for bucket in range(1 << self.bits)]
        rows, sizes, checksums = zip(*files, strict=True)
        self.found.append(Level(rows, sizes, checksums, self.counts))
        text = self._index.text(
            {"bits": self.bits, "columns": KEPT.names}, [asdict(level) for level in self.found]
        )
        self.store.write(INDEX, text.encode())

    def _read(self) -> tuple[int, list[Level]] | None:
        """The content of the journal: bits of a bucket, and levels; None without a journal. Raises
        OtherSearch."""
        content = self.store.read(INDEX)
        found = IndexContent({}, ()) if content is None else self._index.parse(content)
        self.message = found.message
        if not found.rows:
            return None
        if found.head.get("columns") != KEPT.names:
            self.message = OTHER_VERSION
            return None
        try:
            bits = found.head["bits"]
            assert isinstance(bits, int)
            return bits, [_level(cast("_Written", level), 1 << bits) for level in found.rows]
        except (ValueError, KeyError, TypeError):
            self.message = DAMAGED
            return None

    def _resume(self, levels: list[Level]) -> None:
        """Resume after these levels."""
        for depth, level in enumerate(levels):
            files = zip(level.rows, level.sizes, level.checksums, strict=True)
            for bucket, (rows, *file) in enumerate(files):
                if rows and not self.store.is_whole(self.kernel.name(depth, bucket), *file):
                    self.message = explain_damage(depth)
                    return
            self.found.append(level)
            self.counts = level.counts


def explore(
    session: SparkSession,
    model: n.Model,
    instance: n.Instance,
    options: NativeOptions,
    on_progress: Callable[[SearchCounts], None] | None = None,
) -> Exploration:
    """Search `instance` exhaustively with the workers of `session`. `options.store` is the URI of
    a folder that all of them reach; without it they are on this machine, and the folder is
    `options.journal` or a temporary one. Raises as
    `explore` of the native engine does."""
    refuse_faults(model)
    compiled = program(model, instance, options.choices, options.cache)
    with tempfile.TemporaryDirectory(prefix="charter-") as folder:
        place = options.store or str((options.journal or Path(folder)).resolve())
        kept = bool(options.store or options.journal)
        search = SparkSearch(compiled, session, Store(place), options.most_states, kept=kept)
        search.run(watch(search, on_progress, options.on_violation))
        return result_of(search, search.message, options.silent)


RAISED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception|GaveUp): (?P<said>.+)")


def _reason(error: Exception) -> str:
    """Why a job failed: what a worker raised, or else the first line of Spark's message."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    raised = [found["said"] for line in lines if (found := RAISED.fullmatch(line))]
    return (raised[-1] if raised else lines[0])[:200]


def _unreadable(error: Exception) -> str:
    said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
    return f"the levels of the search cannot be read or written ({said})"


class _Written(TypedDict):
    """A level as the journal stores it."""

    rows: list[int]
    sizes: list[int]
    checksums: list[int]
    counts: list[list[int]]


def _level(read: _Written, buckets: int) -> Level:
    """A level read from the journal. Raises KeyError, TypeError or ValueError if it is
    malformed."""
    rows, sizes, checksums = (
        tuple(int(number) for number in numbers)
        for numbers in (read["rows"], read["sizes"], read["checksums"])
    )
    if not len(rows) == len(sizes) == len(checksums) == buckets:
        raise ValueError(buckets)
    return Level(rows, sizes, checksums, list(read["counts"]))
