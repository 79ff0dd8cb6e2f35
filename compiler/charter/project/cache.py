"""Content-addressed files in the user's cache.

A file of the cache is the SHA-256 of the rest, then the rest. One that does not match is not used:
what it held is made again. A cache that cannot be written is no error.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import platformdirs

MOST = 256
"""How many files a folder keeps: those that were used last."""
_DIGEST = 32


def cache_folder(kind: str) -> Path:
    """The cache folder for files of one kind: below CHARTER_CACHE, or in the user's cache folder.
    For a user without a home it is a folder that nothing can be kept in."""
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
    with suppress(OSError):  # a cache that can only be read is one all the same
        os.utime(path)
    whole = len(data) > _DIGEST and sha256(data[_DIGEST:]).digest() == data[:_DIGEST]
    return data[_DIGEST:] if whole else None


def to_cache(path: Path, data: bytes) -> None:
    """Keep `data`, and forget what was not used for longest."""
    new = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(sha256(data).digest() + data)
        new.replace(path)
        used = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        for old in used[:-MOST]:
            old.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
