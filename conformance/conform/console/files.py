"""Writes the files that options name."""

from __future__ import annotations

from pathlib import Path

from conform.console.errors import CannotWrite


def write_named(path: Path, text: str) -> None:
    """Writes a file; not by way of another one, since it may be `/dev/stdout`. Raises
    `CannotWrite`."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from None
