"""Executes the tasks of Spark workers in an exploration: expand states, and filter out known ones.

A level of the search is a folder of Parquet files, one for each bucket of keys with new states. A
row is the key of a state, the state as it was reached (null if equal to the key), its path (null
likewise), and its tag. A state's number is its position: level by level, bucket by bucket, row by
row.

The path is the sequence of outcome numbers from the initial state to the state. A search in one
process finds the states of a level in the order of their paths. If a state is reached in several
ways, both keep the first in that order: the values that the environment can offer depend on the
state as it was reached, so that choice must not depend on buckets.

Workers receive only object code and offsets, nothing else of the compiler. A task can be repeated:
it writes the same bytes to the same file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from charter.explore.native.emit.unit import WHY
from charter.explore.native.memory.arrays import Array
from charter.explore.native.memory.machine_context import (
    FATAL,
    GENERATED,
    NOTE,
    OUTSIDE,
    PARTITIONS,
    SEQ_BITS,
    SOURCE,
    MachineContext,
)
from charter.explore.native.program.llvm import Library, ObjectCode, link, machine_digest
from charter.explore.native.search.levels import GaveUp
from charter.explore.native.search.search_files import Store
from charter.explore.native.search.worker import Worker

SEQ_BYTES = SEQ_BITS // 8
SLICE = 1 << 15
"""Rows of a row group, which one task expands at a time."""
SUMMARY = -1
"""In place of a bucket, in rows that hold the counts of a task."""

KEPT = pa.schema(
    [("key", pa.binary()), ("state", pa.binary()), ("path", pa.binary()), ("tag", pa.int64())]
)
ORDER = [("path", "ascending"), ("tag", "ascending")]
"""The order in which the states of a bucket were found: by tag alone where there are no paths."""
FOUND = pa.schema([pa.field("bucket", pa.int32()), *KEPT])
FOUND_SQL = "bucket int, key binary, state binary, path binary, tag bigint"
DONE = pa.schema(
    [
        ("bucket", pa.int32()),
        ("rows", pa.int64()),
        ("size", pa.int64()),
        ("checksum", pa.int64()),
        ("counts", pa.string()),
    ]
)
DONE_SQL = "bucket int, rows bigint, size bigint, checksum bigint, counts string"


@dataclass(frozen=True, slots=True)
class TaskKernel:
    """The task data sent to Spark workers: object code, the digest of the kind of machine that it
    was compiled for, offsets, the files of the search, and how many bits of a hash choose the
    bucket (at least 4)."""

    code: ObjectCode
    machine: str
    context: MachineContext
    store: Store
    bits: int

    def library(self) -> Library:
        """The functions, linked once per process. Raises GaveUp on another kind of machine."""
        return _library(self.code, self.machine)

    def name(self, level: int, bucket: int) -> str:
        """The file of a bucket of a level."""
        return f"level-{level:05}/bucket-{bucket:05}.parquet"


@lru_cache(maxsize=2)
def _library(code: ObjectCode, machine: str) -> Library:
    if machine_digest() != machine:
        raise GaveUp("a worker has another kind of processor, or another llvmlite, than the driver")
    return link(code)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a level: one row group of a bucket, and the number of its first state."""

    level: int
    bucket: int
    group: int
    first: int


# --- expansion -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expand:
    """Expands slices, given by their indexes in `slices`; with `check_only` it only checks
    properties. Yields the states found, then the counts of the task."""

    kernel: TaskKernel
    slices: tuple[Slice, ...]
    check_only: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        worker = Worker.of(self.kernel.context)
        library = self.kernel.library()
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from self._slice(worker, library, self.slices[place])
        counts = json.dumps(counts_of(self.kernel.context, worker)).encode()
        yield pa.record_batch([[SUMMARY], [counts], [None], [None], [0]], schema=FOUND)

    def _slice(self, worker: Worker, library: Library, part: Slice) -> Iterator[pa.RecordBatch]:
        name = self.kernel.name(part.level, part.bucket)
        table = self.kernel.store.parquet(name).read_row_group(part.group)
        rows, count = rows_of(self.kernel.context, table)
        view, width = worker.context.view, self.kernel.context.width
        run = library["check" if self.check_only else "expand"]
        done = 0
        while done < count:
            view[SOURCE] = part.first + done
            done += run(worker.context.address, rows.at(done * width), count - done)
            if view[FATAL]:
                raise GaveUp(WHY[view[FATAL]])
            yield from empty_buffers(self.kernel, worker, Paths(part.first, table["path"]))


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of the states being expanded, of which the first has the number `first`."""

    first: int
    paths: pa.ChunkedArray

    def behind(self, tags: pa.Array) -> pa.Array:
        """The paths of successors with these tags: the source's path and the outcome's number."""
        sources = pc.subtract(pc.shift_right(tags, SEQ_BITS), self.first)
        given = memoryview(tags.buffers()[1]).cast("B")[8 * tags.offset :][: 8 * len(tags)]
        data = bytearray(SEQ_BYTES * len(tags))
        for place in range(SEQ_BYTES):  # the most significant byte first: bytes sort like numbers
            data[place::SEQ_BYTES] = given[SEQ_BYTES - 1 - place :: 8]
        last = pa.Array.from_buffers(
            pa.binary(SEQ_BYTES), len(tags), [None, pa.py_buffer(bytes(data))]
        )
        before = self.paths.take(sources)
        return pc.binary_join_element_wise(before, last.cast(pa.binary()), b"")


def rows_of(context: MachineContext, table: pa.Table) -> tuple[Array, int]:
    """Converts Parquet rows to rows of the kernel; returns them and their number. The result is
    strided: each row starts with the words of its state."""
    column = table.column("state" if context.raw else "key").combine_chunks()
    count, words = len(column), context.words
    rows = Array.of(count * context.width)
    start = column.offset + 0
    _, offsets, data = column.buffers()
    first = memoryview(offsets).cast("i")[start]
    source = memoryview(data)[first : first + 8 * words * count].cast("Q")
    for word in range(words):
        rows.view[word : count * context.width : context.width] = source[word::words]
    return rows, count


def empty_buffers(
    kernel: TaskKernel, worker: Worker, expanded: Paths | None
) -> Iterator[pa.RecordBatch]:
    """The keys in a worker's buffers, each once, with its lowest tag. `expanded` are the states
    that they are successors of (None for the initial state)."""
    context, outs = kernel.context, kernel.context.outs
    size = worker.buffers.length // PARTITIONS
    for p in range(PARTITIONS):
        count = worker.context.view[outs + 2 * p + 1]
        worker.context.view[outs + 2 * p + 1] = 0
        if count:
            records = worker.buffers.view[p * size : p * size + count * context.record]
            yield from _collect_keys(kernel, records, count, expanded)


def _collect_keys(
    kernel: TaskKernel, records: memoryview, count: int, expanded: Paths | None
) -> Iterator[pa.RecordBatch]:
    context = kernel.context
    words, record = context.words, context.record
    state = _binary(records, record, words, words) if context.raw else pa.nulls(count, pa.binary())
    table = pa.table(
        {
            "key": _binary(records, record, 0, words),
            "state": state,
            "tag": _numbers(records[record - 1 :: record], pa.int64()),
            "hash": _numbers(records[record - 2 :: record], pa.uint64()),
        }
    )
    first = firsts(table, ("hash", "state", "tag"))
    shift = pa.scalar(64 - kernel.bits, pa.uint64())
    bucket = pc.shift_right(first["hash"], shift).cast(pa.int32())
    if not context.raw:
        path = pa.nulls(len(bucket), pa.binary())
    elif expanded is None:
        path = pa.array([b""] * len(bucket), pa.binary())
    else:
        path = expanded.behind(first["tag"].combine_chunks())
    columns = [bucket, first["key"], first["state"], path, first["tag"]]
    yield from pa.table(columns, schema=FOUND).to_batches()


def firsts(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """One row per key, with these columns of the key's first row."""
    grouped = table.group_by("key", use_threads=False)
    found = grouped.aggregate([(name, "first") for name in names])
    return found.rename_columns([name.removesuffix("_first") for name in found.column_names])


def _numbers(strided: memoryview, kind: pa.DataType) -> pa.Array:
    copy = Array.of(len(strided))
    copy.view[: len(strided)] = strided
    return pa.Array.from_buffers(kind, len(strided), [None, pa.py_buffer(copy.view)])


def _binary(records: memoryview, record: int, start: int, words: int) -> pa.Array:
    """The given words, from `start` on, of every record, as binary values."""
    count = len(records) // record
    copy = Array.of(count * words)
    for word in range(words):
        copy.view[word : count * words : words] = records[start + word :: record]
    data = pa.py_buffer(copy.view[: count * words].cast("B"))
    fixed = pa.Array.from_buffers(pa.binary(8 * words), count, [None, data])
    return fixed.cast(pa.binary())


def counts_of(context: MachineContext, worker: Worker) -> list[list[int]]:
    """The counts of a worker: [transitions, those outside the instance], per branch, per note."""
    view = worker.context.view
    notes = worker.context.numbers(context.noted, NOTE * context.notes)
    return [
        [view[GENERATED], view[OUTSIDE]],
        worker.context.numbers(context.taken, context.labels),
        notes,
    ]


def add_counts(context: MachineContext, parts: Sequence[list[list[int]]]) -> list[list[int]]:
    """The counts of several workers together: sums, and the first occurrence of each note."""
    total = [[0, 0], [0] * context.labels, [0] * (NOTE * context.notes)]
    for head, taken, notes in parts:
        total[0] = [a + b for a, b in zip(total[0], head, strict=True)]
        total[1] = [a + b for a, b in zip(total[1], taken, strict=True)]
        for at in range(0, len(notes), NOTE):
            total[2][at : at + NOTE] = _earlier(total[2][at : at + NOTE], notes[at : at + NOTE])
    return total


def _earlier(one: list[int], other: list[int]) -> list[int]:
    hits = [note for note in (one, other) if note[0]]
    if not hits:
        return one
    first = min(hits, key=lambda note: (note[1], note[2]))
    return [one[0] + other[0], *first[1:]]


# --- new and known -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Insert:
    """Filters one bucket of found states: drops those in the levels `known` (comparing whole keys)
    and duplicates, and writes the rest, sorted by `ORDER`, as the bucket of `level`. Adds up
    counts."""

    kernel: TaskKernel
    level: int
    known: tuple[tuple[int, ...], ...]

    def __call__(self, *given: pa.Table) -> pa.Table:
        """Spark passes the group's key before the table or not, by the number of parameters; only
        the last argument is used."""
        table = given[-1]
        bucket = table["bucket"][0].as_py()
        if bucket == SUMMARY:
            parts = [json.loads(row) for row in table["key"].to_pylist()]
            counts = json.dumps(add_counts(self.kernel.context, parts))
            return pa.table([[SUMMARY], [0], [0], [0], [counts]], schema=DONE)
        ordered = table.select(KEPT.names).sort_by(ORDER)
        new = firsts(ordered, ("state", "path", "tag")).select(KEPT.names)
        store, keys = self.kernel.store, pa.schema([KEPT.field("key")])
        files = [store.path(self.kernel.name(level, bucket)) for level in self.known[bucket]]
        if files:
            seen = ds.dataset(files, keys, format="parquet", filesystem=store.system)
            left = seen.join(ds.dataset(new), "key", join_type="right anti", use_threads=False)
            new = left.to_table().select(KEPT.names).sort_by(ORDER)
        name = self.kernel.name(self.level, bucket)
        size, checksum = write_bucket(new, store, name) if new.num_rows else (0, 0)
        return pa.table([[bucket], [new.num_rows], [size], [checksum], [""]], schema=DONE)


def at_once(expand: Expand, insert: Insert) -> Iterator[dict[str, int | str]]:
    """Expands and inserts in this process, as a Spark job does in workers."""
    places = pa.record_batch([range(len(expand.slices))], names=["id"])
    table = pa.Table.from_batches(list(expand(iter((places,)))))
    table = table.sort_by("bucket")
    at = 0
    for count in pc.value_counts(table["bucket"]).to_pylist():
        yield from insert(table.slice(at, count["counts"])).to_pylist()
        at += count["counts"]


def write_bucket(table: pa.Table, store: Store, name: str) -> tuple[int, int]:
    """Writes a bucket atomically; returns its size and its CRC-32."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=SLICE, compression="zstd", use_dictionary=False)
    content = sink.getvalue()
    store.write(name, content)
    return content.size, crc32(content)


def row_at(kernel: TaskKernel, name: str, row: int) -> tuple[list[int], int]:
    """A state and its tag."""
    group, inside = divmod(row, SLICE)
    table = kernel.store.parquet(name).read_row_group(group)
    data = table.column("state" if kernel.context.raw else "key")[inside].as_py()
    return memoryview(data).cast("Q").tolist(), table.column("tag")[inside].as_py()


def initial_row(kernel: TaskKernel, row: Array) -> tuple[int, int, int]:
    """Writes the initial state, a row of the kernel, as level 0; returns its bucket, the file's
    size and its CRC-32."""
    worker, library = Worker.of(kernel.context), kernel.library()
    library["recall"](worker.context.address, row.address, 1)
    (batch,) = empty_buffers(kernel, worker, None)
    bucket: int = batch.column("bucket")[0].as_py()
    table = pa.table([batch.column(name) for name in KEPT.names], schema=KEPT)
    return bucket, *write_bucket(table, kernel.store, kernel.name(0, bucket))
