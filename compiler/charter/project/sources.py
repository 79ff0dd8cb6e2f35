"""Reads the files of a charter, and names the edits to apply (`Selection`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from charter.diagnostics import Source

LARGEST = 8 << 20
"""Bytes of a file."""

COVERAGE = "coverage"
"""The folder of a charter with classes of its states (docs/guide/coverage.md)."""

HEADER: Final = re.compile(r"(?:\s|--[^\n]*)*protocol\s+([\w.]+)")
"""The first declaration of a charter."""


class Unreadable(Exception):
    """A charter cannot be read; the message is one sentence for the user."""


class Missing(Exception):
    """A charter has no instance, variant or mutant of that name; the message is one sentence for
    the user."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which edits to apply to a protocol: a variant and a mutant by name ("" for none), and
    entries of an overlay by name, with the files that declare them. `component`: of an
    edited protocol compile this component alone, which takes half as long ("": all of it)."""

    variant: str = ""
    mutant: str = ""
    overlay: tuple[Source, ...] = ()
    entries: tuple[str, ...] = ()
    component: str = ""


PLAIN = Selection()


def read_sources(path: Path) -> tuple[Source, ...]:
    """The files of a protocol, by name (`list_files`).

    Raises `Unreadable`, also for a folder that holds a part of the protocol of the folder above."""
    names = {protocol_in(file) for file in _list_charters(path)}
    if len(names) == 1 and (whole := find_whole(path, *names)) != path:
        raise Unreadable(
            f"{path.as_posix()} holds some of the files of {names.pop()}; give the folder:"
            f" {whole.as_posix()}"
        )
    return read_files(path)


def read_files(path: Path) -> tuple[Source, ...]:
    """The files of a protocol, or of a part of it, by name. Raises `Unreadable`."""
    files = list_files(path)
    if not files:
        raise Unreadable(f"{path.as_posix()} holds no file that ends in .charter")
    return tuple(read_source(file) for file in files)


def list_files(path: Path) -> list[Path]:
    """The files of a protocol by name, equal names by path: `path` itself, or all `*.charter`
    directly in it and those in the folders below with the same `protocol` line. A folder in which
    no file has this line is not searched further. Files that cannot be read are among them."""
    if not path.is_dir():
        return [path]
    found = _list_charters(path)
    names = {protocol_in(file) for file in found}
    if len(names) == 1:
        found += list_below(path, *names)
    return sorted(found, key=by_name)


def list_below(folder: Path, protocol: str) -> Iterator[Path]:
    """The files of a protocol in the folders below one that holds some of its files."""
    for below in folder.iterdir() if protocol and folder.is_dir() else ():
        own = {file: protocol_in(file) for file in _list_charters(below)}
        if protocol in own.values() and speaks_of(below) is None:
            yield from (file for file, name in own.items() if name in (protocol, ""))
            yield from list_below(below, protocol)


def by_name(file: Path) -> tuple[str, str]:
    """The place of a file in its protocol: names are compared before folders."""
    return file.name, file.as_posix()


def _list_charters(folder: Path) -> list[Path]:
    return [*folder.glob("*.charter")]


def find_whole(folder: Path, protocol: str) -> Path:
    """The folder of a protocol of which `folder` holds some files: the highest one above such that
    it and all between hold files of the protocol; `folder` itself if there is none."""
    while protocol and speaks_of(folder) is None:
        above = folder.parent if folder.name not in ("", "..") else folder.resolve().parent
        if above == folder or protocol not in map(protocol_in, _list_charters(above)):
            break
        folder = above
    return folder


def protocol_in(file: Path) -> str:
    """The name of a file's protocol; "" if it cannot be read, or its first line does not say it."""
    with suppress(Unreadable):
        return protocol_of(read_source(file))
    return ""


def protocol_of(source: Source) -> str:
    """The name of the protocol of a text; "" if its first line does not say it."""
    found = HEADER.match(source.text)
    return "" if found is None else found[1]


def read_source(path: Path) -> Source:
    """One file. Raises `Unreadable`."""
    name = path.as_posix()
    if path.exists() and not path.is_file():
        raise Unreadable(f"{name} is not a regular file")
    try:
        if path.stat().st_size > LARGEST:
            raise Unreadable(f"{name} is larger than {LARGEST >> 20} MB, too large for a charter")
        return Source(name, path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Unreadable(f"{name} does not exist") from None
    except UnicodeDecodeError as error:
        raise Unreadable(f"{name} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise Unreadable(f"{name} cannot be read: {error.strerror}") from None


def speaks_of(folder: Path) -> Path | None:
    """The folder of the charters that a folder has classes of states for: `coverage` for all of
    them, `NAME.coverage` for `NAME.charter`; None for any other folder, whose files are charters of
    their own."""
    above = folder.parent
    of_all = folder.name == COVERAGE and any(above.glob("*.charter"))
    of_one = folder.suffix == f".{COVERAGE}" and (above / f"{folder.stem}.charter").is_file()
    return above if of_all or of_one else None


def beside(path: Path) -> Iterator[Source]:
    """The other charters of the folder of the protocol of `path`; those that cannot be read are
    skipped."""
    for file in list_files(find_whole(path.parent, protocol_in(path))):
        if file != path:
            with suppress(Unreadable):
                yield read_source(file)
