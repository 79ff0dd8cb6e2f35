"""Counts how many vectors a run has judged so far: workers note it, and the progress bar reads
it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from charter.formats.reading import own_number
from conform.storage.bucket_store import RunFolder

SECONDS = 1.0
"""The least time between two notes about a bucket: short runs write none."""


@dataclass(slots=True)
class BucketNotes:
    """Notes how many vectors of a bucket are judged, once a second."""

    folder: RunFolder
    bucket: int
    last: float = field(default_factory=time.monotonic)

    def __call__(self, judged: int) -> None:
        now = time.monotonic()
        if now - self.last >= SECONDS:
            self.last = now
            self.folder.note(self.bucket, judged)


@dataclass(slots=True)
class JudgedSoFar:
    """The number of vectors that are judged, in committed buckets and in others."""

    folder: RunFolder
    committed: dict[int, int] = field(default_factory=dict)

    def __call__(self) -> int:
        for bucket in self.folder.buckets_done():
            if bucket not in self.committed:
                self.committed[bucket] = own_number(self.folder.commit_of(bucket)["vectors"])
        noted = self.folder.read_noted(self.committed)  # a large run has thousands of the others
        return sum(noted.values()) + sum(self.committed.values())
