"""Writes the files and folders that options name, and nothing over what somebody else wrote.

What would steer a reader's terminal or page, or turn the direction of what follows, becomes visible
in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conform.console.errors import CannotWrite
from conform.console.terminal import visible

LIST = ".written-by-conform"
"""The file in a folder that lists what a command has written there, and may write again."""
_ABOUT = "# Written by conform, which may replace these files of this folder:"
_BEGIN = 24
"""Characters by which a file is recognized as one of a kind."""


def write_named(path: Path, text: str, begin: int = _BEGIN) -> None:
    """Writes a file; not by way of another one, since it may be `/dev/stdout`. Raises
    `CannotWrite`, also for a file of another kind."""
    refuse_other(path, text, begin)
    try:
        path.write_text(visible(text), encoding="utf-8")
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from None


def refuse_other(path: Path, text: str, begin: int = _BEGIN) -> None:
    """Raises `CannotWrite` if the file `path` has something else than an earlier `text`: files of a
    kind begin alike, with so many characters. An empty file has nothing to lose, and a
    device has no text."""
    try:
        if not path.is_file():
            return
        with path.open(encoding="utf-8", errors="replace") as file:
            there = file.read(begin)
    except OSError as error:
        raise CannotWrite(f"{path} cannot be read: {error.strerror}") from None
    if there and there != text[:begin]:
        raise CannotWrite(
            f"{path} holds something else, which would be lost; name another file, or remove it"
        )


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Writes texts by their path in a folder of their own. Raises `CannotWrite`, also if the folder
    holds anything that no earlier call wrote there."""
    try:
        listed = _read_list(folder)
        if not listed and folder.exists() and any(folder.iterdir()):
            raise CannotWrite(
                f"{folder} holds something else, which could be lost; choose another folder with"
                " --out, or remove it"
            )
        for path in texts:
            place = folder / path
            if path not in listed and (place.exists() or place.is_symlink()):
                raise CannotWrite(
                    f"{place} is not of an earlier call, and would be lost; choose another folder"
                    " with --out, or remove it"
                )
        folder.mkdir(parents=True, exist_ok=True)
        names = "\n".join([_ABOUT, *sorted({*listed, *texts})])
        (folder / LIST).write_text(f"{names}\n", encoding="utf-8", newline="\n")
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(visible(text), encoding="utf-8", newline="\n")
    except OSError as error:
        raise CannotWrite(f"{folder} cannot be written: {error.strerror}") from None


def _read_list(folder: Path) -> frozenset[str]:
    """The files that earlier calls wrote; none if the folder has no list."""
    path = folder / LIST
    if not path.is_file():
        return frozenset()
    about, *names = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return frozenset(names) if about == _ABOUT else frozenset()
