"""Reads the reviewed reasons why steps do not follow each other in any instance or scenario of a
charter (docs/guide/coverage.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from charter.formats.files import read_toml

FILE = "white.toml"
KEYS = ("machine", "first", "second", "reason")


class BadReasons(Exception):
    """A file of reasons is wrong; the text is one sentence with the file and the remedy."""


@dataclass(frozen=True, slots=True)
class WhitePairs:
    """Why no step in `second` follows one in `first`; both are names of steps of `machine`."""

    machine: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    reason: str

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Each name in `first` with each in `second`."""
        return tuple(product(self.first, self.second))


def read_white_pairs(path: Path) -> tuple[WhitePairs, ...]:
    """The entries of a file, in its order; none if there is no file. Raises `BadReasons`."""
    if not path.exists():
        return ()
    content = read_toml(path, BadReasons)
    rows = content.pop("white", [])
    if content or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadReasons(f"{path}: only entries [[white]] are known here")
    found = tuple(_entry(path, row) for row in rows)
    seen: set[tuple[str, str, str]] = set()
    for one in found:
        for first, second in one.pairs:
            if (one.machine, first, second) in seen:
                raise BadReasons(
                    f"{path}: {first} -> {second} of {one.machine} stands in two entries, or twice"
                    " in one; remove it from one place"
                )
            seen.add((one.machine, first, second))
    return found


def _entry(path: Path, row: Mapping[str, object]) -> WhitePairs:
    unknown = [key for key in row if key not in KEYS]
    if unknown:
        known = ", ".join(KEYS)
        raise BadReasons(f"{path}: the key {unknown[0]!r} is not known; an entry has {known}")
    return WhitePairs(
        _text(path, row, "machine"), _names(path, row, "first"), _names(path, row, "second"),
        _text(path, row, "reason"),
    )  # fmt: skip


def _text(path: Path, row: Mapping[str, object], key: str) -> str:
    found = row.get(key)
    if not isinstance(found, str) or not found.strip():
        raise BadReasons(f"{path}: an entry has no {key}: write `{key} = ` and a text")
    return found


def _names(path: Path, row: Mapping[str, object], key: str) -> tuple[str, ...]:
    found = row.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(one, str) for one in found):
        raise BadReasons(f'{path}: {key} is a list of names of steps: `{key} = ["write"]`')
    return tuple(found)
