"""Writes the datasets of a bucket while it is judged, so that few of its rows are in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType

from pyarrow import fs

from conform.storage.arrow import pa
from conform.storage.tables import DatasetRows


@dataclass(slots=True)
class _File:
    """A Parquet file in work, under the name that it has until it is whole."""

    hidden: str
    sink: pa.NativeFile
    parquet: pa.parquet.ParquetWriter


@dataclass(slots=True)
class BucketWriter:
    """Files by dataset; `paths` are those that they get at the end, `hidden` those before. As a
    context it removes what was not moved. Raises OSError."""

    system: fs.FileSystem
    paths: Mapping[str, tuple[str, str]]
    files: dict[str, _File] = field(default_factory=dict)

    def spill(self, tables: Mapping[str, DatasetRows]) -> None:
        """Write rows of some datasets, and empty them."""
        for name, rows in tables.items():
            file, taken = self._file(name, rows), rows.take_table()
            if taken.num_rows:
                file.parquet.write_table(taken)

    def finish(self, tables: Mapping[str, DatasetRows]) -> None:
        """Write the last rows of all datasets, and give the files their names."""
        self.spill(tables)
        for name, file in list(self.files.items()):
            file.parquet.close()
            file.sink.close()
            self.system.move(file.hidden, self.paths[name][0])
            del self.files[name]

    def _file(self, name: str, rows: DatasetRows) -> _File:
        found = self.files.get(name)
        if found is None:
            path, hidden = self.paths[name]
            self.system.create_dir(path.rpartition("/")[0], recursive=True)
            sink = self.system.open_output_stream(hidden)
            parquet = pa.parquet.ParquetWriter(sink, rows.schema, compression="zstd")
            found = self.files[name] = _File(hidden, sink, parquet)
        return found

    def __enter__(self) -> BucketWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        for file in self.files.values():
            with contextlib.suppress(OSError, ValueError):
                file.parquet.close()
                file.sink.close()
            with contextlib.suppress(OSError):
                self.system.delete_file(file.hidden)
