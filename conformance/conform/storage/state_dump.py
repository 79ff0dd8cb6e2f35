"""Saves the states of a search in a folder: Parquet, and a manifest that identifies the search.

A folder is written under another name and renamed when it is complete (docs/formats/states.md).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.states import FORMAT, Chunk, Column, Form, StateTable
from conform.console.errors import CannotWrite, ConformError
from conform.storage.arrow import pa

ROWS = 100_000
"""Rows of a file."""
CHUNK = 10_000
"""Rows of a row group, and the most rows in memory."""
MANIFEST = "manifest.json"
STATES = "states"
"""The folder with only the Parquet files, so that it can be given to readers of Parquet."""
TYPES: Mapping[Form, pa.DataType] = {
    "truth": pa.bool_(),
    "number": pa.int64(),
    "text": pa.string(),
    "json": pa.string(),
}


class NotKept(ConformError):
    """A folder does not contain all of the wanted states."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """A Parquet file with some of the states: its size in bytes and its rows."""

    name: str
    size: int
    rows: int


def open_dump(folder: Path) -> tuple[dict[str, Json], tuple[Path, ...]]:
    """The manifest of saved states, and their files in order. Raises NotKept if the folder contains
    something else, or if files are missing."""
    try:
        manifest = orjson.loads(regular(folder / MANIFEST).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        raise _foreign(folder, f"it has no {MANIFEST} that can be read") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != "states":
        raise _foreign(folder, f"its {MANIFEST} is of something else")
    if manifest.get("format") != FORMAT:
        raise _foreign(folder, f"its format is not {FORMAT}")
    files = list(_files(manifest))
    for file in files:
        if _rows(folder / file.name, file.size) != file.rows:
            raise NotKept(
                f"{folder} is damaged: {file.name} is missing, truncated or changed; remove the"
                " folder, or name another one"
            )
    if sum(file.rows for file in files) != manifest.get("distinct"):
        raise NotKept(f"{folder} is damaged: its {MANIFEST} contradicts itself; remove the folder")
    return manifest, tuple(folder / file.name for file in files)


def _foreign(folder: Path, why: str) -> NotKept:
    return NotKept(
        f"{folder} is not a folder of stored states ({why}); name an empty or a new folder"
    )


def _files(manifest: Mapping[str, Json]) -> Iterator[StateFile]:
    listed = manifest.get("files")
    for item in listed if isinstance(listed, list) else []:
        match item:
            case {"name": str(name), "bytes": int(size), "rows": int(rows)}:
                yield StateFile(f"{STATES}/{Path(name).name}", size, rows)
            case _:
                yield StateFile("?", 0, -1)


def _rows(path: Path, size: int) -> int:
    """The number of rows of a Parquet file of this size; -2 if it is not one."""
    try:
        if path.stat().st_size != size:
            return -2
        rows: int = pa.parquet.read_metadata(path).num_rows
    except (OSError, UnicodeDecodeError, pa.ArrowException):
        return -2
    return rows


def refuse_other(folder: Path, place: Mapping[str, Json]) -> None:
    """Raises NotKept if the states of `place` (protocol, variant, mutant, machine, instance,
    bounds) cannot be saved in a folder because it contains something else. States of the same
    `place` may be replaced."""
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if not folder.exists():
        return
    manifest, _ = open_dump(folder)
    for name, value in place.items():
        if manifest.get(name) != value:
            raise NotKept(
                f"{folder} holds states of another search: its {name} is"
                f" {orjson.dumps(manifest.get(name)).decode()}; name another folder, or remove it"
            )


def keep(table: StateTable, folder: Path, progress: Callable[[int, int], None]) -> int:
    """Write all states into a folder, atomically; returns the number of files. `progress` is called
    with the numbers of written and of all states. Raises CannotWrite, and NotKept if the folder has
    all states and `table` is incomplete."""
    _refuse_fewer(table, folder)
    beside = folder.parent / f".{folder.name}.part"
    try:
        shutil.rmtree(beside, ignore_errors=True)
        (beside / STATES).mkdir(parents=True)
        files = list(_write(table, beside, progress))
        listed: list[Json] = [{"name": f.name, "bytes": f.size, "rows": f.rows} for f in files]
        manifest = {**table.head.json(), "files": listed}
        content = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
        (beside / MANIFEST).write_bytes(content + b"\n")
        _move(beside, folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotWrite(
            f"the states could not be kept in {folder} ({reason}); make room or name another folder"
        ) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return len(files)


def _refuse_fewer(table: StateTable, folder: Path) -> None:
    if table.head.complete or not (folder / MANIFEST).exists():
        return
    manifest, _ = open_dump(folder)
    if manifest.get("complete"):
        raise NotKept(
            f"{folder} holds all {manifest.get('distinct')} states, and this search gave up after"
            f" {table.head.distinct}: they stay; name another folder, or remove it"
        )


def _move(made: Path, folder: Path) -> None:
    if not folder.exists():
        made.rename(folder)
        return
    old = folder.parent / f".{folder.name}.old"
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    try:
        made.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old)


def _write(
    table: StateTable, folder: Path, progress: Callable[[int, int], None]
) -> Iterator[StateFile]:
    head = table.head
    schema = pa.schema([(column.name, TYPES[column.form]) for column in head.columns])
    chunks = table.chunks(CHUNK)
    done = 0
    for number in range((head.distinct + ROWS - 1) // ROWS):
        name = f"{STATES}/part-{number:05}.parquet"
        path = folder / name
        rows = min(ROWS, head.distinct - number * ROWS)
        with pa.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for _ in range((rows + CHUNK - 1) // CHUNK):
                batch = _batch(next(chunks), head.columns, schema)
                writer.write_batch(batch)
                done += batch.num_rows
                progress(done, head.distinct)
        yield StateFile(name, path.stat().st_size, rows)


def _batch(chunk: Chunk, columns: tuple[Column, ...], schema: pa.Schema) -> pa.RecordBatch:
    pairs = zip(chunk, columns, strict=True)
    arrays = [pa.array(cells, TYPES[column.form]) for cells, column in pairs]
    return pa.record_batch(arrays, schema=schema)
