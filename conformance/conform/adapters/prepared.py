"""Digests of the files that a target's `prepare` command names: jars, compiled classes, programs.

So that the report says which code was judged, and a run does not go on with other code.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from charter.formats.files import files_below


def digest_prepared(said: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of each file in what `prepare` printed and built, by its name.

    A value may be a path, or several as in a class path: a folder has one digest for all files in
    it, and `folder/*` has one for each jar of the folder. Two files with one name have one digest
    of both. Values that are no paths are ignored.
    """
    found: dict[str, str] = {}
    for value in said:
        for text in value.split(os.pathsep):
            for path in _paths(text):
                digest = path_digest(path)
                before = found.get(path.name)
                found[path.name] = digest if before is None else _both(before, digest)
    return dict(sorted(found.items()))


def adapter_files(folder: Path, said: Iterable[str]) -> tuple[str, ...]:
    """The folder of an adapter, and the absolute paths in what its `prepare` printed: files and
    folders (that of the jars for `folder/*`), and what it built."""
    texts = [text for value in said for text in value.split(os.pathsep)]
    paths = [Path(text.removesuffix("/*")) for text in texts if text.startswith("/")]
    return tuple(dict.fromkeys(str(path) for path in (folder, *paths) if path.exists()))


def _paths(text: str) -> Iterator[Path]:
    path = Path(text)
    if not text or not path.is_absolute():
        return
    if path.name == "*":
        yield from sorted(path.parent.glob("*.[jJ][aA][rR]"))
    elif path.exists():
        yield path


def path_digest(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a folder."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    total = hashlib.sha256()
    for held in files_below(path):
        total.update(held.relative_to(path).as_posix().encode() + b"\0")
        total.update(path_digest(held).encode())
    return total.hexdigest()


def _both(one: str, other: str) -> str:
    return hashlib.sha256(f"{one} {other}".encode()).hexdigest()
