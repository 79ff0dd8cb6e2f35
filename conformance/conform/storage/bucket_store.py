"""Reads and writes the files of a run: Parquet by bucket, atomically, on any filesystem of
pyarrow."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar
from uuid import uuid4

import orjson
from pyarrow import fs

from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.reading import own_object
from charter.formats.run_description import RunDescription
from conform.console.errors import BadRun, CannotWrite, first_line
from conform.storage.arrow import pa
from conform.storage.row_buffer import BucketWriter
from conform.storage.tables import DATASETS, OF_WALKS, WALKS, DatasetRows

T = TypeVar("T")
Dataset: TypeAlias = pa.dataset.Dataset
Condition: TypeAlias = pa.dataset.Expression
"""What rows of a dataset must fulfil."""

_BESIDE = ("run.json", "prepared.json", "canaries.json")
_KEPT = ("suite/manifest.json", "suite/bucket=0000/part-0.parquet")
"""Files that a run has only if it keeps vectors."""
_CHUNK = 1 << 20
_NOTES = "progress"
_NUMBERED = re.compile(r"bucket=(\d{4,9})\.json")


@functools.lru_cache(maxsize=4)
def filesystem(place: str) -> tuple[fs.FileSystem, str]:
    """The filesystem of a path or URI, and the path on it. Raises `CannotWrite` for another URI."""
    if "://" not in place:
        return fs.LocalFileSystem(), place
    try:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(place)
    except (OSError, ValueError) as error:
        raise CannotWrite(
            f"{place} names no file system that can be reached ({first_line(error)}); use a URI"
            " such as file:///FOLDER, s3://BUCKET/FOLDER or hdfs://HOST/FOLDER"
        ) from None
    return found


def open_files(files: Sequence[str], schema: pa.Schema | None = None) -> Dataset:
    """Parquet files as one dataset; without `schema` they have that of the first file. Raises
    OSError for what is no file."""
    for file in files:
        regular(Path(file))
    return pa.dataset.dataset(files, schema=schema, format="parquet", partitioning=None)


def _open(system: fs.FileSystem, path: str) -> pa.NativeFile:
    """A file, open for reading. Raises OSError."""
    if isinstance(system, fs.LocalFileSystem):
        regular(Path(path))
    return system.open_input_stream(path)


def guard_write(what: str, write: Callable[[], T]) -> T:
    """The result of `write()`; errors of the filesystem become `CannotWrite` with one sentence."""
    try:
        return write()
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotWrite(f"{what} could not be written ({reason}); {_remedy(error)}") from None


def _remedy(error: OSError) -> str:
    """What to do about a run that cannot be written. `conform test` has no --out."""
    if error.errno in _FORBIDDEN:
        return (
            "change its permissions, or name another folder: --out of `conform run`, or `runs` in"
            " charter.toml"
        )
    return "make room, and repeat the command: a run goes on with what was judged"


_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run. `place` is an absolute path or a URI."""

    place: str

    def check_reachable(self, option: str = "--out") -> None:
        """Raises `CannotWrite` if files here cannot be written, read and removed; `option` named
        the folder."""
        system, root = filesystem(self.place)
        probe = f"{root}/.probe-{uuid4().hex}"
        try:
            system.create_dir(root, recursive=True)
            _put(system, probe, b"charter")
            system.get_file_info(probe)
            system.delete_file(probe)
        except OSError as error:
            raise CannotWrite(
                f"{self.place} cannot be read and written ({first_line(error)}); name another"
                f" folder with {option}, or make this one reachable"
            ) from None

    def write_json(self, name: str, value: Json) -> None:
        """Write a JSON file atomically."""
        content = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        self._write(name, lambda path, system: _put(system, path, content + b"\n"))

    def read_json(self, name: str) -> dict[str, Json]:
        """A JSON file of the run. Raises `BadRun` if it is missing or not an object."""
        system, root = filesystem(self.place)
        try:
            with _open(system, f"{root}/{name}") as file:
                value = orjson.loads(file.read())
        except (OSError, orjson.JSONDecodeError) as error:
            raise BadRun(
                f"{self.place} is not a finished run ({_reason(name, error)}); give the folder"
                " that `conform run` printed"
            ) from None
        if not isinstance(value, dict):
            raise BadRun(f"{self.place}/{name} is not what `conform run` writes")
        return value

    def read_run(self) -> RunDescription:
        """The description of the run. Raises `BadRun` if it is missing or not an object."""
        return RunDescription.read(self.read_json("run.json"))

    def write_run(self, about: RunDescription) -> None:
        """Write the description of the run."""
        self.write_json("run.json", about.json())

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        system, root = filesystem(self.place)
        return bool(system.get_file_info(f"{root}/{name}").type == fs.FileType.File)

    def write_table(self, name: str, table: pa.Table) -> None:
        """Write a Parquet file atomically."""
        self._write(name, _parquet(table))

    def writer(self, bucket: int) -> BucketWriter:
        """A writer for the datasets of a bucket, to be given to `commit`."""
        system, root = filesystem(self.place)
        attempt = uuid4().hex
        paths = {}
        for name in (*DATASETS, OF_WALKS):
            folder, _, base = f"{root}/{_part(name, bucket)}".rpartition("/")
            paths[name] = (f"{folder}/{base}", f"{folder}/_{base}.{attempt}.tmp")
        return BucketWriter(system, paths)

    def spill(self, writer: BucketWriter, tables: Mapping[str, DatasetRows]) -> None:
        """Write rows of a bucket before it is committed, and empty them."""
        guard_write(self.place, lambda: writer.spill(tables))

    def commit(
        self,
        bucket: int,
        tables: Mapping[str, DatasetRows],
        summary: Mapping[str, Json],
        writer: BucketWriter | None = None,
    ) -> None:
        """Write all datasets of a bucket, and then its commit file with their digests; readers
        ignore buckets without one. `writer` has the rows that were written before. A bucket that
        another worker committed meanwhile stays as it is."""
        with writer or self.writer(bucket) as last:
            if self.has(_commit(bucket)):
                return
            guard_write(f"{self.place}, bucket {bucket},", lambda: last.finish(tables))
        files: dict[str, Json] = {
            path: self._digest(path) for path in (_part(name, bucket) for name in tables)
        }
        self.write_json(_commit(bucket), seal({**summary, "files": files}))

    def rewrite(self, bucket: int, name: str, table: pa.Table, summary: Mapping[str, Json]) -> None:
        """Write a dataset of a committed bucket again, and change its commit. A bucket that this
        leaves half written is judged again."""
        content = self.commit_of(bucket)
        path = _part(name, bucket)
        self._write(path, _parquet(table))
        files = {**own_object(content["files"]), path: self._digest(path)}
        rest = {key: value for key, value in content.items() if key != "digest"}
        self.write_json(_commit(bucket), seal({**rest, **summary, "files": files}))

    def read_committed(self) -> dict[int, dict[str, Json]]:
        """The summaries of the committed buckets."""
        return {bucket: self.commit_of(bucket) for bucket in self.buckets_done()}

    def commit_of(self, bucket: int) -> dict[str, Json]:
        """The summary of a committed bucket."""
        return self.read_json(_commit(bucket))

    def drop_damaged(self) -> int:
        """Make buckets whose files are not as they were committed count as not judged; returns how
        many there were. A power cut can leave them."""
        damaged = [bucket for bucket in self.buckets_done() if not self._is_whole(bucket)]
        system, root = filesystem(self.place)
        for bucket in damaged:
            path = f"{root}/{_commit(bucket)}"
            guard_write(path, functools.partial(system.delete_file, path))
        return len(damaged)

    def finish(self, summary: Mapping[str, Json]) -> None:
        """Write summary.json, the last file of a run, with the digest of all others; files that
        killed workers began are removed."""
        self._sweep()
        self.write_json("summary.json", seal({**summary, "files": self._files()}))

    def check(self) -> None:
        """Raises `BadRun` if the run did not end, or if its files are not as it wrote them."""
        about, summary = self.read_run(), self.read_json("summary.json")
        if "digest" not in summary:
            raise BadRun(
                f"{self.place} was written by another version of conform, without digests; run it"
                " again"
            )
        changed = [] if is_sealed(summary) else ["summary.json"]
        changed += [_commit(bucket) for bucket in self.buckets_done() if not self._is_whole(bucket)]
        missing = set(range(about.buckets)) - set(self.buckets_done())
        changed += [_commit(bucket) for bucket in sorted(missing)]
        if not changed and summary.get("files") != self._files():
            changed = ["one of its JSON files"]
        if changed:
            raise BadRun(
                f"{self.place} was changed since the run ended ({changed[0]}, or what belongs to"
                " it); run it again"
            )

    def buckets_done(self) -> list[int]:
        """The buckets that have a commit file."""
        return self._list_buckets("commits")

    def note(self, bucket: int, judged: int) -> None:
        """Note how many vectors of an unfinished bucket are judged, for those who watch the run."""
        with contextlib.suppress(CannotWrite):
            self.write_json(_note(bucket), judged)

    def read_noted(self, besides: Collection[int] = ()) -> dict[int, int]:
        """The numbers that were noted, by bucket, without those of the buckets `besides`."""
        found: dict[int, int] = {}
        system, root = filesystem(self.place)
        for bucket in set(self._list_buckets(_NOTES)).difference(besides):
            with contextlib.suppress(OSError, ValueError):
                found[bucket] = int(_open(system, f"{root}/{_note(bucket)}").read())
        return found

    def drop_notes(self) -> None:
        """Remove what was noted."""
        system, root = filesystem(self.place)
        with contextlib.suppress(OSError):
            system.delete_dir(f"{root}/{_NOTES}")

    def _list_buckets(self, name: str) -> list[int]:
        """The buckets that have a JSON file in a folder of the run."""
        system, root = filesystem(self.place)
        selector = fs.FileSelector(f"{root}/{name}", allow_not_found=True)
        names = (_NUMBERED.fullmatch(info.base_name) for info in system.get_file_info(selector))
        return sorted(int(name[1]) for name in names if name)

    def _sweep(self) -> None:
        system, root = filesystem(self.place)
        for name in ("commits", *DATASETS, OF_WALKS):
            inside = fs.FileSelector(f"{root}/{name}", allow_not_found=True, recursive=True)
            for left in system.get_file_info(inside):
                if left.base_name.startswith("_") and left.extension == "tmp":
                    with contextlib.suppress(FileNotFoundError):  # its worker still lives
                        system.delete_file(left.path)

    def _is_whole(self, bucket: int) -> bool:
        """Whether the commit of a bucket and its datasets are as they were written."""
        try:
            content = self.read_json(_commit(bucket))
        except BadRun:
            return False
        files = content.get("files")
        if not is_sealed(content) or not isinstance(files, dict):
            return False
        names = {_part(name, bucket) for name in DATASETS}
        if files.keys() - {_part(OF_WALKS, bucket)} != names:
            return False
        return all(self._digest(name) == digest for name, digest in files.items())

    def _files(self) -> str:
        """The digest of everything beside summary.json."""
        present = [name for name in _KEPT if self.has(name)]
        names = [*_BESIDE, *present, *map(_commit, self.buckets_done())]
        return _sha256(orjson.dumps([[name, self._digest(name)] for name in names]))

    def _digest(self, name: str) -> str:
        """The SHA-256 of a file, "" if it cannot be read."""
        system, root = filesystem(self.place)
        total = hashlib.sha256()
        try:
            with _open(system, f"{root}/{name}") as file:
                while chunk := file.read(_CHUNK):
                    total.update(chunk)
        except OSError:
            return ""
        return total.hexdigest()

    def table(
        self, name: str, columns: Sequence[str] = (), rows: Condition | None = None
    ) -> pa.Table:
        """A dataset of the run with the column `bucket`, without uncommitted buckets: all columns
        and rows, or some."""
        tables = []
        for bucket in self.buckets_done():
            if name == OF_WALKS and not self.has(_part(name, bucket)):
                continue
            part = self.bucket(name, bucket, columns, rows)
            column = pa.array([bucket] * part.num_rows, pa.int32())
            tables.append(part.append_column("bucket", column))
        if not tables:
            kinds = (WALKS if name == OF_WALKS else DATASETS[name]).empty_table()
            kinds = kinds.select(list(columns)) if columns else kinds
            return kinds.append_column("bucket", pa.array([], pa.int32()))
        return pa.concat_tables(tables, promote_options="default")  # older buckets lack columns

    def bucket(
        self,
        name: str,
        bucket: int,
        columns: Sequence[str] = (),
        rows: Condition | None = None,
    ) -> pa.Table:
        """One bucket of a dataset: all columns and rows, or some. Raises `BadRun` if it is
        missing."""
        system, root = filesystem(self.place)
        path = f"{root}/{_part(name, bucket)}"
        try:
            if isinstance(system, fs.LocalFileSystem):
                regular(Path(path))
            if rows is None:  # a fifth of the time that a dataset takes
                with pa.parquet.ParquetFile(path, filesystem=system) as file:
                    return file.read(list(columns) or None, use_threads=False)
            return pa.parquet.read_table(
                path, columns=list(columns) or None, filters=rows, filesystem=system,
                partitioning=None,
            )  # fmt: skip
        except (OSError, pa.ArrowInvalid) as error:
            raise BadRun(
                f"{path} cannot be read ({error}); remove the run's folder and run it again"
            ) from None

    def _write(self, name: str, write: Callable[[str, fs.FileSystem], None]) -> None:
        """Write under a name that readers ignore, then rename."""
        system, root = filesystem(self.place)
        folder, _, base = f"{root}/{name}".rpartition("/")
        hidden = f"{folder}/_{base}.{uuid4().hex}.tmp"  # a lost worker may still be writing

        def whole() -> None:
            system.create_dir(folder, recursive=True)
            write(hidden, system)
            system.move(hidden, f"{folder}/{base}")

        guard_write(f"{self.place}/{name}", whole)


def seal(content: Mapping[str, Json]) -> dict[str, Json]:
    """The content of a JSON file with its own digest."""
    return {**content, "digest": _own_digest(content)}


def is_sealed(content: Mapping[str, Json]) -> bool:
    """Whether the content of a JSON file has the digest that it says."""
    return content.get("digest") == _own_digest(content)


def _own_digest(content: Mapping[str, Json]) -> str:
    rest = {name: value for name, value in content.items() if name != "digest"}
    return _sha256(orjson.dumps(rest, option=orjson.OPT_SORT_KEYS))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _part(name: str, bucket: int) -> str:
    return f"{name}/bucket={bucket:04d}/part-0.parquet"


def _commit(bucket: int) -> str:
    return f"commits/bucket={bucket:04d}.json"


def _note(bucket: int) -> str:
    return f"{_NOTES}/bucket={bucket:04d}.json"


def _reason(name: str, error: Exception) -> str:
    """A sentence why a JSON file of a run could not be read."""
    if isinstance(error, orjson.JSONDecodeError):
        return f"{name} is not JSON"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"it holds no {name}"
    reason = getattr(error, "strerror", None) or "it cannot be read"
    return f"{name}: {reason}"


def _parquet(table: pa.Table) -> Callable[[str, fs.FileSystem], None]:
    def write(path: str, system: fs.FileSystem) -> None:
        pa.parquet.write_table(table, path, filesystem=system, compression="zstd")

    return write


def _put(system: fs.FileSystem, path: str, content: bytes) -> None:
    with system.open_output_stream(path) as file:
        file.write(content)
