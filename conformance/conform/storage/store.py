"""Reads and writes the files of a run: Parquet by bucket, atomically, on any filesystem of
pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import orjson
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
from pyarrow import fs

from charter.formats.canonical import Json
from conform.console.errors import BadRun, CannotWrite
from conform.storage.tables import DATASETS, DatasetRows

T = TypeVar("T")


def filesystem(place: str) -> tuple[fs.FileSystem, str]:
    """The filesystem of a path or URI, and the path on it."""
    if "://" in place:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(place)
        return found
    return fs.LocalFileSystem(), place


def guarded(what: str, write: Callable[[], T]) -> T:
    """The result of `write()`; errors of the filesystem become `CannotWrite` with one sentence."""
    try:
        return write()
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotWrite(
            f"{what} could not be written ({reason}); make room or choose another folder with"
            " --out, and repeat the command: what was judged is kept"
        ) from None


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run. `place` is an absolute path or a URI."""

    place: str

    def write_json(self, name: str, value: Json) -> None:
        """Write a JSON file atomically."""
        content = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        self._write(name, lambda path, system: _put(system, path, content + b"\n"))

    def read_json(self, name: str) -> dict[str, Json]:
        """A JSON file of the run. Raises `BadRun` if it is missing or not an object."""
        system, root = filesystem(self.place)
        try:
            with system.open_input_stream(f"{root}/{name}") as file:
                value = orjson.loads(file.read())
        except (OSError, orjson.JSONDecodeError) as error:
            raise BadRun(
                f"{self.place} is not a finished run ({_reason(name, error)}); give the folder"
                " that `conform run` printed"
            ) from None
        if not isinstance(value, dict):
            raise BadRun(f"{self.place}/{name} is not what `conform run` writes")
        return value

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        system, root = filesystem(self.place)
        return bool(system.get_file_info(f"{root}/{name}").type == fs.FileType.File)

    def commit(self, bucket: int, tables: Mapping[str, DatasetRows], summary: Json) -> None:
        """Write all datasets of a bucket, and then its commit file; readers ignore buckets without
        one."""
        for name, rows in tables.items():
            table = rows.table()
            self._write(f"{name}/bucket={bucket:04d}/part-0.parquet", _parquet(table))
        self.write_json(f"commits/bucket={bucket:04d}.json", summary)

    def committed(self) -> dict[int, dict[str, Json]]:
        """The summaries of the committed buckets."""
        system, root = filesystem(self.place)
        selector = fs.FileSelector(f"{root}/commits", allow_not_found=True)
        found = {}
        for info in system.get_file_info(selector):
            name = info.base_name
            if name.startswith("bucket=") and name.endswith(".json"):
                found[int(name[7:-5])] = self.read_json(f"commits/{name}")
        return found

    def table(self, name: str) -> pa.Table:
        """A dataset of the run with the column `bucket`, without uncommitted buckets."""
        tables = []
        for bucket in sorted(self.committed()):
            part = self.bucket(name, bucket)
            column = pa.array([bucket] * part.num_rows, pa.int32())
            tables.append(part.append_column("bucket", column))
        if not tables:
            return DATASETS[name].append(pa.field("bucket", pa.int32())).empty_table()
        return pa.concat_tables(tables)

    def bucket(self, name: str, bucket: int) -> pa.Table:
        """One bucket of a dataset. Raises `BadRun` if it is missing."""
        system, root = filesystem(self.place)
        path = f"{root}/{name}/bucket={bucket:04d}/part-0.parquet"
        try:
            return pa.parquet.read_table(path, filesystem=system, partitioning=None)
        except (OSError, pa.ArrowInvalid) as error:
            raise BadRun(
                f"{path} cannot be read ({error}); remove the run's folder and run it again"
            ) from None

    def _write(self, name: str, write: Callable[[str, fs.FileSystem], None]) -> None:
        """Write under a name that readers ignore, then rename."""
        system, root = filesystem(self.place)
        folder, _, base = f"{root}/{name}".rpartition("/")
        hidden = f"{folder}/_{base}.tmp"

        def whole() -> None:
            system.create_dir(folder, recursive=True)
            write(hidden, system)
            system.move(hidden, f"{folder}/{base}")

        guarded(f"{self.place}/{name}", whole)


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
