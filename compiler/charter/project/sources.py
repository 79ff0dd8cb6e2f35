"""Reads the files of a charter, and names the edits to apply (`Selection`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from charter.diagnostics import Source

LARGEST = 8 << 20
"""Bytes of a file."""

COVERAGE = "coverage"
"""The folder of a charter with classes of its states (docs/guide/coverage.md)."""


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
    """The files of a protocol: `path` itself, or all `*.charter` directly in it, by name.

    Raises `Unreadable`."""
    if path.is_dir():
        files = sorted(path.glob("*.charter"), key=lambda file: file.name)
        if not files:
            raise Unreadable(f"{path.as_posix()} holds no file that ends in .charter")
    else:
        files = [path]
    return tuple(read_source(file) for file in files)


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
    """The other charters in the folder of `path`; those that cannot be read are skipped."""
    for file in sorted(path.parent.glob("*.charter")):
        if file != path:
            with suppress(Unreadable):
                yield read_source(file)
