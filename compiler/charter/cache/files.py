"""Stores content-addressed files in the user's cache.

A file of the cache is the SHA-256 of its content, followed by the content. A file whose hash does
not match is ignored, and its content is computed again. A cache that cannot be written is not an
error.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import platformdirs

MOST = 256
"""The most files in a folder, unless its user says otherwise; the least recently used ones are
deleted."""
_SPARE = 500
"""One in so many files is deleted beyond what must be: to sort 50,000 by their use takes most of a
second, and should not follow each write."""
_DIGEST = 32


def cache_folder(kind: str) -> Path:
    """The cache folder for files of one kind: below CHARTER_CACHE, or in the user's cache folder.
    For a user without a home folder it is one where nothing can be stored."""
    if chosen := os.environ.get("CHARTER_CACHE"):
        return Path(chosen) / kind
    try:
        found = platformdirs.user_cache_path("charter", appauthor=False)
    except RuntimeError:  # no home; earlier versions of platformdirs give a path from "~"
        found = Path("~")
    return found / kind if found.is_absolute() else Path(os.devnull) / kind


def from_cache(path: Path) -> bytes | None:
    """The content of a cached file, if it is intact."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    with suppress(OSError):  # a read-only cache can be used too
        os.utime(path)
    whole = len(data) > _DIGEST and sha256(data[_DIGEST:]).digest() == data[:_DIGEST]
    return data[_DIGEST:] if whole else None


def read_or_make(path: Path, make: Callable[[], bytes], most: int = MOST) -> bytes:
    """The content of a cached file, or what `make` makes, which is stored as by `to_cache`."""
    found = from_cache(path)
    if found is None:
        found = make()
        to_cache(path, found, most)
    return found


def to_cache(path: Path, data: bytes, most: int = MOST) -> None:
    """Store `data`, and delete the least recently used files of its folder above `most`."""
    new = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(sha256(data).digest() + data)
        new.replace(path)
        if len(os.listdir(path.parent)) > most:
            used = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime_ns)
            for old in used[: -(most - most // _SPARE)]:
                old.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
