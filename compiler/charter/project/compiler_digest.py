"""Distinguishes versions of the compiler: part of the key of what a cache keeps."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

import charter


@cache
def compiler() -> str:
    """The digest of this compiler's files."""
    folder = Path(charter.__file__).parent
    files = sorted([*folder.rglob("*.py"), *folder.rglob("*.lark")])
    whole = sha256()
    for file in files:
        data = file.read_bytes()
        whole.update(f"{file.relative_to(folder).as_posix()} {len(data)}\n".encode() + data)
    return whole.hexdigest()
