"""Stores the files of a search on Spark: in a folder that is a path, or a URI of a file system that
pyarrow knows and all workers reach."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from uuid import uuid4
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from charter.explore.native.search.journal import CHUNK

UNREADABLE = (OSError, UnicodeDecodeError, pa.ArrowException)
"""What is raised where files of a search are missing, damaged, or cannot be written."""
PART = ".part"
"""How the names of files end that are not whole."""


@lru_cache(maxsize=4)
def _filesystem(place: str) -> tuple[fs.FileSystem, str]:
    if "://" not in place:
        return fs.LocalFileSystem(), place
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(place)
    return found


@dataclass(frozen=True, slots=True)
class Store:
    """The folder of a search. All methods raise `UNREADABLE`."""

    place: str

    @property
    def system(self) -> fs.FileSystem:
        """The file system."""
        return _filesystem(self.place)[0]

    def path(self, name: str) -> str:
        """The path of a file on the file system."""
        return f"{_filesystem(self.place)[1]}/{name}"

    def prepare(self) -> None:
        """Make the folder, and remove the temporary files of killed attempts."""
        folder = self.path("").rstrip("/")
        self.system.create_dir(folder, recursive=True)
        for left in self.system.get_file_info(fs.FileSelector(folder, recursive=True)):
            if left.path.endswith(PART):
                self.system.delete_file(left.path)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""
        try:
            with self.system.open_input_stream(self.path(name)) as file:
                content: bytes = file.read()
        except FileNotFoundError:
            return None
        return content

    def write(self, name: str, content: bytes | pa.Buffer) -> None:
        """Write a file atomically. The temporary file's name is unique because two attempts at a
        task can run at once."""
        system, path = self.system, self.path(name)
        folder, _, base = path.rpartition("/")
        hidden = f"{folder}/.{base}-{uuid4().hex}{PART}"
        system.create_dir(folder, recursive=True)
        with system.open_output_stream(hidden) as file:
            file.write(content)
        system.move(hidden, path)

    def parquet(self, name: str) -> pq.ParquetFile:
        """A Parquet file, open."""
        return pq.ParquetFile(self.path(name), filesystem=self.system)

    def is_whole(self, name: str, size: int, checksum: int) -> bool:
        """Whether a file has this size and CRC-32."""
        total = 0
        try:
            if self.system.get_file_info(self.path(name)).size != size:
                return False
            with self.system.open_input_stream(self.path(name)) as file:
                while part := file.read(CHUNK):
                    total = crc32(part, total)
        except OSError:
            return False
        return total == checksum
