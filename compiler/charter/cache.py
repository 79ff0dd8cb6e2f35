"""What is made once and kept in the user's cache, by the digest of what it was made from.

A file of the cache is the SHA-256 of the rest, then the rest. One that does not match is not used:
what it held is made again. A cache that cannot be written is no error.
"""

from __future__ import annotations

import os
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

MOST = 256
"""How many files a folder keeps: those that were used last."""
_DIGEST = 32


def cache_folder(kind: str) -> Path:
    """Where things of one kind are kept: below CHARTER_CACHE, or in the user's cache folder."""
    if chosen := os.environ.get("CHARTER_CACHE"):
        return Path(chosen) / kind
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "charter" / kind


def from_cache(path: Path) -> bytes | None:
    """What a file of the cache holds, if it is whole."""
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    whole = len(data) > _DIGEST and sha256(data[_DIGEST:]).digest() == data[:_DIGEST]
    return data[_DIGEST:] if whole else None


def to_cache(path: Path, data: bytes) -> None:
    """Keep `data`, and forget what was not used for longest."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(sha256(data).digest() + data)
        Path(name).replace(path)
        used = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        for old in used[:-MOST]:
            old.unlink(missing_ok=True)
    except OSError:
        return
