"""Locates, reads and writes files: those of a charter, and TOML that people edit too."""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path


def beside_charter(charter: Path, name: str) -> Path:
    """The file or folder `name` of a charter: in its folder, or for one in a single file
    `NAME.name` beside it."""
    return charter / name if charter.is_dir() else charter.with_name(f"{charter.stem}.{name}")


def write_whole(path: Path, text: str, refused: Callable[[str], Exception]) -> None:
    """Writes a file: wholly, or not at all. Raises what `refused` makes of a sentence."""
    new = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="utf-8", newline="\n")
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise refused(f"{path} cannot be written: {error.strerror}") from None


def files_below(
    folder: Path, passed_over: Callable[[str], bool] = lambda _: False
) -> Iterator[Path]:
    """The files below a folder, sorted, also those of linked folders; without what is called like
    something that is `passed_over`. A link to a folder that it lies in is not followed."""
    return _below(folder, passed_over, ())


def _below(
    folder: Path, passed_over: Callable[[str], bool], above: tuple[Path, ...]
) -> Iterator[Path]:
    real = folder.resolve()
    if real in above:
        return
    with suppress(PermissionError, FileNotFoundError, NotADirectoryError):
        for path in sorted(folder.iterdir()):
            if passed_over(path.name):
                continue
            if path.is_dir():
                yield from _below(path, passed_over, (*above, real))
            elif path.is_file():
                yield path


def need_writable(path: Path) -> None:
    """Raises OSError, as a write to `path` would later, if it cannot be written: before a search,
    whose result would be lost. The nearest folder that exists decides."""
    there = path.absolute()
    while not there.exists():
        there = there.parent
    if os.access(there, os.W_OK):
        return
    reads_only = hasattr(os, "statvfs") and os.statvfs(there).f_flag & os.ST_RDONLY
    number = errno.EROFS if reads_only else errno.EACCES
    raise OSError(number, os.strerror(number), str(path))


def regular(path: Path) -> Path:
    """The path, if it leads to a file (or a folder, which cannot be opened). A pipe would be waited
    for, and a device may never end. Raises OSError, also if there is nothing."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path


def read_toml(path: Path, refused: Callable[[str], Exception]) -> dict[str, object]:
    """The content of a file. Raises what `refused` makes of a sentence."""
    try:
        return tomllib.loads(regular(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise refused(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise refused(f"{path} is no TOML: {error}") from None


def toml_string(text: str) -> str:
    """A text as TOML has it: as JSON does, apart from the character DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
