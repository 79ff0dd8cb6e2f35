"""Suites as Parquet buckets in the cache, under their digest.

A suite comes as a folder of JSON lines, or as a Parquet dataset. The last three stay in the cache,
so that `--suite DIGEST` runs an earlier one again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import platformdirs
import pyarrow as pa
import pyarrow.parquet

from charter.formats.canonical import Json
from charter.formats.reading import BadVector
from charter.formats.suite import (
    LINES,
    MANIFEST,
    Manifest,
    lines_digest,
    read_manifest,
)
from charter.formats.vector import Vector, read_vector
from conform.console.errors import BadSuite, CannotWrite
from conform.judging.assess import Item
from conform.storage.tables import SUITE, Rows
from conform.suites.importing import Imported, import_line, import_value

KEPT = 3
_ROWS = 20_000
_HELD = 500
_SUITES = "suites-1"
_FINGERPRINT = "fingerprint"
_COLUMNS = ["id", "question", "answer", "why", "needs", "ways"]
_TEXTS = ("question", "answer", "why", "ways")


def cache_folder() -> Path:
    """Where suites, jars and compiled adapters stay between runs: CHARTER_CACHE, or the user's
    cache folder."""
    chosen = os.environ.get("CHARTER_CACHE")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("charter-conform"))


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite in the cache: `bucket=NNNN/part-0.parquet` files below `folder`."""

    folder: Path
    manifest: Manifest
    buckets: int

    def path(self, bucket: int) -> Path:
        """The file of one bucket; it may be missing if the bucket is empty."""
        return self.folder / f"bucket={bucket:04d}" / "part-0.parquet"

    def items(self, bucket: int) -> Iterator[Item]:
        """The vectors of one bucket. Raises `BadSuite` for a file that is not one of ours."""
        path = self.path(bucket)
        if path.exists():
            for batch in _batches(path):
                yield from batch_items(batch)

    def find(self, start: str) -> Vector:
        """The one vector whose id starts with `start`. Raises `BadSuite` for none, or several."""
        found = [item for bucket in self._possible(start) for item in self._starting(bucket, start)]
        if len(found) != 1:
            count = "no vector" if not found else f"{len(found)} vectors"
            raise BadSuite(
                f"{count} of suite {self.manifest.digest} starts with {start!r}; the lines of its"
                " vectors.jsonl begin with the ids, and so do the rows of a run's verdicts"
            )
        return vector_of(found[0])

    def _starting(self, bucket: int, start: str) -> list[Item]:
        """The vectors of a bucket whose ids start so; texts of others are not read."""
        path = self.path(bucket)
        if not path.exists():
            return []
        try:
            ids = pa.parquet.read_table(path, columns=["id"])["id"].to_pylist()
            wanted = [name for name in ids if name.startswith(start)][:2]
            if not wanted:
                return []
            table = pa.parquet.read_table(path, columns=_COLUMNS, filters=[("id", "in", wanted)])
        except (pa.ArrowInvalid, OSError) as error:
            raise BadSuite(f"{path} cannot be read as Parquet ({error})") from None
        return [item for batch in table.to_batches() for item in batch_items(batch)]

    def _possible(self, start: str) -> list[int]:
        if not start or set(start) - set("0123456789abcdef"):
            return []
        if len(start) >= 8:
            return [bucket_of(start, self.buckets)]
        return list(range(self.buckets))


def bucket_of(vector_id: str, buckets: int) -> int:
    """The bucket of a question, by its id."""
    return int(vector_id[:8], 16) % buckets


def vector_of(item: Item) -> Vector:
    """The vector of an item, read strictly."""
    value = {
        "question": orjson.loads(item.question),
        "answer": orjson.loads(item.answer),
        "why": orjson.loads(item.why),
    }
    return read_vector(value, f"vector {item.id}")


def batch_items(batch: pa.RecordBatch) -> Iterator[Item]:
    """The vectors of an Arrow batch with the columns of a stored suite."""
    columns = [
        batch.column(name).cast(pa.binary() if name in _TEXTS else pa.string()).to_pylist()
        for name in _COLUMNS
    ]
    for row in zip(*columns, strict=True):
        yield Item(*row)


def open_suite(wanted: str, cores: int) -> Suite:
    """The suite `wanted`: a folder, a JSON lines file in one, or a digest in the cache.

    Raises `BadSuite` in one sentence for whatever cannot be read.
    """
    folder = Path(wanted)
    if folder.name == LINES:
        folder = folder.parent
    try:
        if folder.is_dir():
            manifest = read_manifest(folder)
            cached = cache_folder() / _SUITES / manifest.digest
            if not (cached / MANIFEST).exists():
                _import(folder, manifest, cached, cores)
            elif _fingerprint(folder) != _stored_fingerprint(cached):
                _check(folder, manifest, cached)
        else:
            cached = _by_digest(wanted)
            manifest = read_manifest(cached)
    except BadVector as error:
        raise BadSuite(f"{error}; generate the suite again") from None
    except OSError as error:
        raise BadSuite(
            f"there is no suite at {wanted} ({error.strerror}); `conform vectors` makes one"
        ) from None
    os.utime(cached / MANIFEST)
    _keep_the_last(cached.parent)
    return Suite(cached, manifest, len(list(cached.glob("bucket=*"))))


def _by_digest(wanted: str) -> Path:
    suites = cache_folder() / _SUITES
    found = [path.parent for path in suites.glob(f"{wanted}*/{MANIFEST}")] if wanted else []
    if len(found) == 1:
        return found[0]
    known = sorted(path.parent.name for path in suites.glob(f"*/{MANIFEST}"))
    raise BadSuite(
        f"there is no suite {wanted!r}: it is no folder, and the cache holds"
        f" {', '.join(known) or 'none'}; `conform vectors` makes one"
    )


def _import(folder: Path, manifest: Manifest, cached: Path, cores: int) -> None:
    """Read all vectors strictly, and store them by bucket under the digest."""
    buckets = max(1, 2 * cores, -(-manifest.vectors // _ROWS))
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent) as scratch:
            _write_buckets(folder, manifest, Path(scratch), buckets)
            (Path(scratch) / _FINGERPRINT).write_text(_fingerprint(folder), encoding="utf-8")
            shutil.copy(folder / MANIFEST, Path(scratch) / MANIFEST)
            if not cached.exists():
                shutil.copytree(scratch, cached)
    except FileNotFoundError as error:
        raise BadSuite(f"{error.filename} is missing; generate the suite again") from None
    except OSError as error:
        raise CannotWrite(
            f"the suite could not be stored in {cached.parent} ({error.strerror}); make room, or"
            " set CHARTER_CACHE to another folder"
        ) from None


def _check(folder: Path, manifest: Manifest, cached: Path) -> None:
    """Read a folder whose suite is in the cache already, but not from files like these: it may be
    cut off, or hold something else. Raises as `_import` does."""
    with tempfile.TemporaryDirectory(dir=cached.parent) as scratch:
        _write_buckets(folder, manifest, Path(scratch), 1)
    (cached / _FINGERPRINT).write_text(_fingerprint(folder), encoding="utf-8")


def _fingerprint(folder: Path) -> str:
    """A hash of the files of a suite, but for its manifest."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (".jsonl", ".parquet"):
            total.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _stored_fingerprint(cached: Path) -> str:
    path = cached / _FINGERPRINT
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _write_buckets(folder: Path, manifest: Manifest, scratch: Path, buckets: int) -> None:
    lines = []
    with _Buckets(scratch, buckets) as stored:
        for found in _vectors(folder):
            stored.add(found)
            lines.append(found.line)
    if len(lines) != manifest.vectors or lines_digest(lines) != manifest.digest:
        raise BadVector(
            f"{folder}: {len(lines)} vectors that are not those of the manifest"
            f" ({manifest.vectors}, digest {manifest.digest}); was a file cut off?"
        )


class _Buckets:
    """The files of a suite that is being stored; few rows of each are held in memory."""

    def __init__(self, scratch: Path, buckets: int) -> None:
        self.rows = [Rows(SUITE) for _ in range(buckets)]
        self.writers = []
        for bucket in range(buckets):
            place = scratch / f"bucket={bucket:04d}"
            place.mkdir()
            path = place / "part-0.parquet"
            self.writers.append(pa.parquet.ParquetWriter(path, SUITE, compression="zstd"))

    def add(self, found: Imported) -> None:
        item = found.item
        bucket = bucket_of(item.id, len(self.rows))
        texts = [text.decode() for text in (item.question, item.answer, item.why)]
        obligations: list[str] = list(found.obligations)
        rows = self.rows[bucket]
        rows.add(item.id, bucket, *texts, obligations, item.needs, item.ways.decode())
        if len(rows) >= _HELD:
            self._flush(bucket)

    def _flush(self, bucket: int) -> None:
        self.writers[bucket].write_table(self.rows[bucket].table())
        self.rows[bucket] = Rows(SUITE)

    def __enter__(self) -> _Buckets:
        return self

    def __exit__(self, *_: object) -> None:
        for bucket, writer in enumerate(self.writers):
            self._flush(bucket)
            writer.close()


def _vectors(folder: Path) -> Iterator[Imported]:
    path = folder / LINES
    if path.exists():
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield import_line(line, f"{path}:{number}")
        return
    files = sorted(folder.glob("**/*.parquet"))
    if not files:
        raise BadVector(f"{folder}: neither {LINES} nor Parquet files")
    for path in files:
        for batch in _batches(path, list(_TEXTS[:3])):
            for row in batch.to_pylist():
                value = {name: _parsed(row[name], path) for name in _TEXTS[:3]}
                yield import_value(value, f"{path}: a vector")


def _parsed(text: object, path: Path) -> Json:
    try:
        value: Json = orjson.loads(text)  # type: ignore[arg-type]
        return value
    except orjson.JSONDecodeError as error:
        raise BadVector(f"{path}: a vector is no JSON ({error})") from None


def _batches(path: Path, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    wanted = columns or _COLUMNS
    try:
        file = pa.parquet.ParquetFile(path)
        missing = [name for name in wanted if name not in file.schema_arrow.names]
        if missing:
            raise BadSuite(
                f"{path} is a Parquet file, but not of vectors (it lacks the column"
                f" {missing[0]!r}); give the folder of a suite"
            )
        yield from file.iter_batches(columns=wanted)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadSuite(f"{path} cannot be read as Parquet ({error})") from None


def _keep_the_last(suites: Path) -> None:
    """Drop all but the suites used last."""
    stored = sorted(suites.glob(f"*/{MANIFEST}"), key=lambda path: path.stat().st_mtime)
    for path in stored[:-KEPT]:
        shutil.rmtree(path.parent, ignore_errors=True)
