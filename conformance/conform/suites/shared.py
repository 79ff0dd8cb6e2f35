"""Buckets of a suite for workers: read where they lie, or copied to a file system that all workers
reach."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from conform.console.errors import BadSuite
from conform.judging.verdict import VectorItem
from conform.storage.bucket_store import filesystem, guard_write
from conform.suites.cache import Suite, file_items

FOLDER = "shipped"
"""Where the copies are, in the folder of the run."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class SharedBucket:
    """The file `name` of a bucket, in a folder that is a path or a URI, and its SHA-256."""

    bucket: int
    place: str
    name: str
    digest: str

    def items(self) -> Iterator[VectorItem]:
        """The vectors, a few at a time in memory. Raises `BadSuite` for a file that cannot be read
        or was changed."""
        with tempfile.TemporaryFile() as copy:  # has no name: nothing is left of a killed worker
            self._fetch(copy)
            yield from file_items(copy, f"{self.place}/{self.name}")

    def _fetch(self, copy: IO[bytes]) -> None:
        digest = hashlib.sha256()
        try:
            system, root = filesystem(self.place)
            with system.open_input_stream(f"{root}/{self.name}") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
                    copy.write(chunk)
        except OSError as error:
            raise BadSuite(
                f"a worker cannot read {self.name} in {self.place} ({error}); all workers must"
                " reach this folder by this name"
            ) from None
        if digest.hexdigest() != self.digest:
            raise BadSuite(
                f"{self.name} in {self.place} was changed while it was judged; repeat the command"
            )


def in_cache(suite: Suite, buckets: Sequence[int]) -> tuple[SharedBucket, ...]:
    """The buckets where the cache has them, for workers on this machine. Raises `BadSuite`."""
    return tuple(
        SharedBucket(bucket, str(suite.folder), name, suite.stored[bucket].digest)
        for bucket, name in _names(suite, buckets).items()
    )


def copy_buckets(suite: Suite, buckets: Sequence[int], place: str) -> tuple[SharedBucket, ...]:
    """Copies of the buckets below the URI `place`. Raises `BadSuite` and `CannotWrite`."""
    system, root = filesystem(place)
    shared = []
    for bucket, name in _names(suite, buckets).items():
        inside = f"{FOLDER}/{name}"

        def copy(path: str = f"{root}/{inside}", bucket: int = bucket) -> None:
            system.create_dir(path.rpartition("/")[0], recursive=True)
            with suite.path(bucket).open("rb") as file, system.open_output_stream(path) as out:
                while chunk := file.read(_CHUNK):
                    out.write(chunk)

        guard_write(f"{inside} in {place}", copy)
        shared.append(SharedBucket(bucket, place, inside, suite.stored[bucket].digest))
    return tuple(shared)


def remove_copies(place: str) -> None:
    """Remove what `copy_buckets` wrote."""
    system, root = filesystem(place)
    with contextlib.suppress(OSError):
        system.delete_dir(f"{root}/{FOLDER}")


def _names(suite: Suite, buckets: Sequence[int]) -> dict[int, str]:
    """The names of the files of buckets in the suite's folder, which are intact."""
    return {bucket: suite.check(bucket).relative_to(suite.folder).as_posix() for bucket in buckets}
