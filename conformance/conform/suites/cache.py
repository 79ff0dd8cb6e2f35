"""Suites as Parquet buckets in the cache, under their digest.

A suite is imported from a folder of JSON lines or a Parquet dataset. The last three are kept, so
that `--suite DIGEST` can run an earlier one again; one that is in use is never deleted. The digests
of its files are stored with it: a damaged suite is imported again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import orjson
import platformdirs

from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.reading import BadVector
from charter.formats.suite import LINES, MANIFEST, Manifest, lines_digest, read_manifest
from charter.formats.vector import Vector, read_vector
from conform.console.errors import BadSuite, CannotWrite
from conform.judging.verdict import VectorItem
from conform.storage.arrow import pa
from conform.storage.lease import Lease
from conform.storage.tables import SUITE, DatasetRows
from conform.suites.importing import Imported, import_line, import_value, importer_digest

KEPT = 3
_ATTEMPTS = 3
_FEWEST = 30
"""The fewest vectors of a bucket, on the average: each has files and canaries of its own."""
_ROWS = 20_000
_HELD = 500
"""The most vectors of a bucket in memory."""
_SUITES = "suites-1"
_FINGERPRINT = "fingerprint"
_FILES = "files.json"
_UNFINISHED = "unfinished-"
_COLUMNS = ["id", "question", "answer", "why", "needs", "ways"]
_TEXTS = ("question", "answer", "why", "ways")


def cache_folder() -> Path:
    """The cache folder of suites, jars and compiled adapters: CHARTER_CACHE, or the user's cache
    folder. Raises `CannotWrite` for a user without a home."""
    if chosen := os.environ.get("CHARTER_CACHE"):
        return Path(chosen)
    try:
        found = Path(platformdirs.user_cache_dir("charter-conform"))
    except RuntimeError:  # no home; earlier versions of platformdirs give a path from "~"
        found = Path("~")
    if not found.is_absolute():
        raise CannotWrite("this user has no home folder for the cache; set CHARTER_CACHE")
    return found


@dataclass(frozen=True, slots=True)
class Bucket:
    """One stored file of a suite: its number of vectors and its SHA-256."""

    vectors: int
    digest: str


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite in the cache: `bucket=NNNN/part-0.parquet` files below `folder`, in the order of
    `stored`. The `lease` keeps other processes from deleting the files while this object exists."""

    folder: Path
    manifest: Manifest
    stored: tuple[Bucket, ...]
    lease: Lease | None = field(default=None, compare=False, repr=False)

    @property
    def buckets(self) -> int:
        return len(self.stored)

    def path(self, bucket: int) -> Path:
        """The file of one bucket."""
        return _path(self.folder, bucket)

    def check(self, bucket: int) -> Path:
        """The file of one bucket. Raises `BadSuite` if it is not as it was stored."""
        path = self.path(bucket)
        if _digest_of(path) != self.stored[bucket].digest:
            raise BadSuite(
                f"{path} is missing, or was changed; repeat the command, with the folder"
                " of the suite, to have it stored again"
            )
        return path

    def items(self, bucket: int) -> Iterator[VectorItem]:
        """The vectors of one bucket. Raises `BadSuite` for a file that is not as it was stored."""
        path = self.check(bucket)
        with regular(path).open("rb") as file:
            yield from file_items(file, str(path))

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

    def rows(self, ids: Collection[str]) -> pa.Table:
        """The rows of vectors with these ids, in the order of their ids. Raises `BadSuite`."""
        wanted: dict[int, list[str]] = {}
        for vector_id in ids:
            wanted.setdefault(bucket_of(vector_id, self.buckets), []).append(vector_id)
        found = [
            pa.parquet.read_table(
                self.check(bucket), schema=SUITE, filters=[("id", "in", some)], partitioning=None
            )
            for bucket, some in sorted(wanted.items())
        ]
        return pa.concat_tables(found).sort_by("id")

    def _starting(self, bucket: int, start: str) -> list[VectorItem]:
        """The vectors of a bucket whose ids start with `start`; texts of others are not read."""
        path = self.check(bucket)
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


def vector_of(item: VectorItem) -> Vector:
    """The vector of an item, validated."""
    value = {
        "question": orjson.loads(item.question),
        "answer": orjson.loads(item.answer),
        "why": orjson.loads(item.why),
    }
    return read_vector(value, f"vector {item.id}")


def file_items(file: IO[bytes], name: str) -> Iterator[VectorItem]:
    """The vectors of a stored bucket, a few at a time in memory; `name` is for messages. Raises
    `BadSuite`."""
    for batch in _batches(file, name):
        yield from batch_items(batch)


def batch_items(batch: pa.RecordBatch) -> Iterator[VectorItem]:
    """The vectors of an Arrow batch with the columns of a stored suite."""
    columns = [
        batch.column(name).cast(pa.binary() if name in _TEXTS else pa.string()).to_pylist()
        for name in _COLUMNS
    ]
    for row in zip(*columns, strict=True):
        yield VectorItem(*row)


def store_in(folder: Path, buckets: int) -> Suite:
    """A suite that is stored in a folder outside of the cache. Raises `BadSuite`."""
    try:
        manifest = read_manifest(folder)
        counts = [pa.parquet.read_metadata(_path(folder, n)).num_rows for n in range(buckets)]
    except (BadVector, OSError, pa.ArrowInvalid) as error:
        raise BadSuite(
            f"{folder} cannot be read ({error}); run again, or `conform rejudge` with a suite of"
            " today"
        ) from None
    digests = [_digest_of(_path(folder, number)) for number in range(buckets)]
    return Suite(folder, manifest, tuple(map(Bucket, counts, digests)))


def open_suite(wanted: str, cores: int) -> Suite:
    """The suite `wanted`: a folder, a JSON lines file in one, or a digest in the cache.

    Raises `BadSuite` with one sentence if it cannot be read.
    """
    folder = Path(wanted)
    if folder.name == LINES:
        folder = folder.parent
    try:
        opened = _of_folder(folder, cores) if folder.is_dir() else _by_digest(wanted)
    except BadVector as error:
        raise BadSuite(f"{error}; generate the suite again") from None
    except OSError as error:
        raise BadSuite(f"there is no suite at {wanted} {_instead(folder, error)}") from None
    with contextlib.suppress(OSError):
        os.utime(opened.folder / MANIFEST)
    _keep_the_last(opened.folder.parent)
    return opened


def _instead(folder: Path, error: OSError) -> str:
    """Why a folder is no suite, and what to name instead."""
    there = (folder / MANIFEST).exists()
    below = [] if there else sorted(one.parent.as_posix() for one in folder.rglob(MANIFEST))[:6]
    if below:
        return f"itself; name one of those below it: {', '.join(below)}"
    why = f"it has no {MANIFEST}" if folder.is_dir() and not there else error.strerror
    return f"({why}); `conform vectors` makes one"


def _of_folder(folder: Path, cores: int) -> Suite:
    """The suite in `folder`, imported if it is missing or damaged in the cache."""
    manifest = read_manifest(folder)
    cached = cache_folder() / _SUITES / manifest.digest
    lease = _lease(cached)
    for _ in range(_ATTEMPTS):
        lease.share()
        stored = _intact(cached)
        if stored:
            if _fingerprint(folder) != _read_fingerprint(cached):
                _check(folder, manifest, cached)
            return Suite(cached, manifest, stored, lease)
        if (lease.take() or not lease.works) and not _intact(cached):
            shutil.rmtree(cached, ignore_errors=True)
            _import(folder, manifest, cached, cores)
    raise BadSuite(
        f"{cached} was changed, and another run reads it; repeat the command when that run has"
        " ended"
    )


def _by_digest(wanted: str) -> Suite:
    suites = cache_folder() / _SUITES
    held = [path.parent for path in suites.glob(f"*/{MANIFEST}") if not _is_unfinished(path.parent)]
    found = [path for path in held if wanted and path.name.startswith(wanted)]
    if len(found) == 1:
        lease = _lease(found[0])
        lease.share()
        stored = _intact(found[0])
        if not stored:
            raise BadSuite(
                f"{found[0]} was changed, or another version of conform stored it;"
                " give the folder of the suite, and it is stored again"
            )
        return Suite(found[0], read_manifest(found[0]), stored, lease)
    known = sorted(path.name for path in held)
    raise BadSuite(
        f"there is no suite {wanted!r}: it is no folder, and the cache holds"
        f" {', '.join(known) or 'none'}; `conform vectors` makes one"
    )


def _import(folder: Path, manifest: Manifest, cached: Path, cores: int) -> None:
    """Validate all vectors, and store them by bucket under the digest, atomically: in a scratch
    folder that is renamed."""
    buckets = max(1, min(2 * cores, manifest.vectors // _FEWEST), -(-manifest.vectors // _ROWS))
    try:
        with _scratch(cached) as scratch:
            stored, lines = _write_buckets(folder, manifest, scratch, buckets)
            (scratch / _FINGERPRINT).write_text(_fingerprint(folder), encoding="utf-8")
            listed = [{"vectors": bucket.vectors, "sha256": bucket.digest} for bucket in stored]
            about = {"importer": importer_digest(), "lines": lines, "buckets": listed}
            (scratch / _FILES).write_bytes(orjson.dumps(about))
            shutil.copy(folder / MANIFEST, scratch / MANIFEST)
            scratch.rename(cached)
    except OSError as error:
        raise CannotWrite(
            f"the suite could not be stored in {cached.parent} ({error.strerror}); make room, or"
            " set CHARTER_CACHE to another folder"
        ) from None


def _check(folder: Path, manifest: Manifest, cached: Path) -> None:
    """Validate a folder whose suite is already in the cache, imported from other files: it may be
    truncated or damaged. Raises as `_import` does."""
    with _scratch(cached) as scratch:
        _write_buckets(folder, manifest, scratch, 1)
    (cached / _FINGERPRINT).write_text(_fingerprint(folder), encoding="utf-8")


@contextlib.contextmanager
def _scratch(cached: Path) -> Iterator[Path]:
    """A scratch folder beside a suite, deleted unless it was renamed. After a crash others may
    delete it when the lease in its name is free."""
    cached.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{_UNFINISHED}{cached.name}-", dir=cached.parent))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _is_unfinished(folder: Path) -> bool:
    return folder.name.startswith(_UNFINISHED)


def _lease(cached: Path) -> Lease:
    """The lease of a suite in the cache. Its file is beside the suite, and is never deleted."""
    return Lease(cached.with_suffix(".lease"))


def _path(folder: Path, bucket: int) -> Path:
    return folder / f"bucket={bucket:04d}" / "part-0.parquet"


def _digest_of(path: Path) -> str:
    """The SHA-256 of a file, "" if it cannot be read."""
    try:
        with regular(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _intact(cached: Path) -> tuple[Bucket, ...]:
    """The files of a stored suite if all are intact and were stored by this version of the
    importer; another version may have derived other columns."""
    try:
        about = orjson.loads((cached / _FILES).read_bytes())
        if about["importer"] != importer_digest():
            return ()
        listed, lines = about["buckets"], str(about["lines"])
        stored = tuple(Bucket(int(item["vectors"]), str(item["sha256"])) for item in listed)
        held = read_manifest(cached)
    except (OSError, ValueError, KeyError, TypeError, BadVector):
        return ()
    same = all(
        _digest_of(_path(cached, bucket)) == file.digest for bucket, file in enumerate(stored)
    )
    whole = sum(file.vectors for file in stored) == held.vectors
    sealed = held == held.seal(lines) and held.digest == cached.name
    return stored if same and whole and sealed else ()


def _fingerprint(folder: Path) -> str:
    """A hash of the files of a suite."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        is_of_it = path.suffix in (".jsonl", ".parquet") or path.name == MANIFEST
        if path.is_file() and is_of_it:
            total.update(path.relative_to(folder).as_posix().encode())
            with regular(path).open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _read_fingerprint(cached: Path) -> str:
    path = cached / _FINGERPRINT
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _write_buckets(
    folder: Path, manifest: Manifest, scratch: Path, buckets: int
) -> tuple[list[Bucket], str]:
    """Store the vectors of a suite; returns the files, and the digest of the vectors' lines."""
    lines = []
    counts = [0] * buckets
    with _Buckets(scratch, buckets) as stored:
        for found in _vectors(folder):
            stored.add(found)
            lines.append(found.line)
            counts[bucket_of(found.item.id, buckets)] += 1
    if len(lines) != manifest.vectors:
        raise BadVector(
            f"{folder}: there are {len(lines)} vectors, and {manifest.vectors} in the manifest; was"
            " a file cut off?"
        )
    digest = lines_digest(lines)
    if manifest != manifest.seal(digest):
        raise BadVector(
            f"{folder}: the vectors and the manifest do not have the digest {manifest.digest}; they"
            " were changed, or an earlier version of conform wrote them"
        )
    written = [Bucket(count, _digest_of(_path(scratch, n))) for n, count in enumerate(counts)]
    return written, digest


class _Buckets:
    """Writes the files of a suite, with few rows of each in memory."""

    def __init__(self, scratch: Path, buckets: int) -> None:
        self.rows = [DatasetRows(SUITE) for _ in range(buckets)]
        self.writers = []
        for bucket in range(buckets):
            path = _path(scratch, bucket)
            path.parent.mkdir()
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
        rows = self.rows[bucket]
        if len(rows):
            self.writers[bucket].write_table(rows.table())
            self.rows[bucket] = DatasetRows(SUITE)

    def __enter__(self) -> _Buckets:
        return self

    def __exit__(self, *_: object) -> None:
        for bucket, writer in enumerate(self.writers):
            self._flush(bucket)
            writer.close()


def _vectors(folder: Path) -> Iterator[Imported]:
    path = folder / LINES
    if path.exists():
        with regular(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield import_line(line, f"{path}:{number}")
        return
    files = sorted(folder.glob("**/*.parquet"))
    if not files:
        raise BadVector(f"{folder}: neither {LINES} nor Parquet files")
    for path in files:
        with regular(path).open("rb") as file:
            for batch in _batches(file, str(path), list(_TEXTS[:3])):
                for row in batch.to_pylist():
                    value = {name: _parse(row[name], path) for name in _TEXTS[:3]}
                    yield import_value(value, f"{path}: a vector")


def _parse(text: object, path: Path) -> Json:
    try:
        value: Json = orjson.loads(text)  # type: ignore[arg-type]
        return value
    except orjson.JSONDecodeError as error:
        raise BadVector(f"{path}: a vector is no JSON ({error})") from None


def _batches(
    file: IO[bytes], name: str, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    wanted = columns or _COLUMNS
    try:
        read = pa.parquet.ParquetFile(file)
        missing = [column for column in wanted if column not in read.schema_arrow.names]
        if missing:
            raise BadSuite(
                f"{name} is a Parquet file, but not of vectors (it lacks the column"
                f" {missing[0]!r}); give the folder of a suite"
            )
        yield from read.iter_batches(_HELD, columns=wanted)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadSuite(f"{name} cannot be read as Parquet ({error})") from None


def _keep_the_last(suites: Path) -> None:
    """Delete all but the most recently used suites, and leftovers of killed processes. Suites in
    use are kept: their lease cannot be taken."""
    held = [path.parent for path in suites.glob(f"*/{MANIFEST}") if not _is_unfinished(path.parent)]
    held.sort(key=_last_used)
    for folder in held[:-KEPT]:
        _drop(folder, _lease(folder))
    for folder in suites.glob(f"{_UNFINISHED}*"):
        name = folder.name.removeprefix(_UNFINISHED).rpartition("-")[0]
        _drop(folder, _lease(suites / name))


def _last_used(folder: Path) -> float:
    try:
        return (folder / MANIFEST).stat().st_mtime
    except OSError:  # another process deletes it
        return 0.0


def _drop(folder: Path, lease: Lease) -> None:
    try:
        if lease.take():
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        lease.close()
