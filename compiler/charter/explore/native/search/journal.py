"""Keeps the journal of a search: finished levels on disk, from which a killed search resumes.

A folder holds `levels` (the kept states of level after level, in the order of their discovery), and
the index `journal.json`: for each level its counts and the CRC-32 of its part of `levels`. The
index is written last. Levels that do not match it are ignored: the search resumes from the last
level that does.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from zlib import crc32

from charter.explore.native.memory.arrays import NoRoom
from charter.explore.native.memory.index import (
    BEGIN,
    DAMAGED,
    OtherSearch,
    SearchIndex,
    explain_damage,
)
from charter.explore.native.program.anchor import Anchor
from charter.formats.files import regular

CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class JournalLevel:
    """A finished level: its number of states, the CRC-32 of their bytes; and the counts of the
    search at its end: transitions, those that leave the instance, branches, notes."""

    count: int
    checksum: int
    generated: int
    outside: int
    taken: tuple[int, ...]
    notes: tuple[tuple[int, int, int, int], ...]


@dataclass(slots=True)
class Journal:
    """The journal of one search; `width` is the bytes of a stored state; `anchor` is the search's
    anchor (`anchor.py`)."""

    folder: Path
    program: str
    width: int
    levels: list[JournalLevel] = field(default_factory=list)
    anchor: Anchor | None = None

    @property
    def data(self) -> Path:
        """The states."""
        return self.folder / "levels"

    @property
    def index(self) -> SearchIndex:
        """The levels."""
        return SearchIndex(self.folder / "journal.json", self.program)

    def open(self) -> str:
        """Read the journal; returns a sentence about what could not be used ("": all could). Raises
        OtherSearch."""
        self._refuse_other()
        found = self.index.read()
        try:
            if not self.index.path.exists():  # before `levels`: it says whose folder this is
                self.index.write({"anchor": self.anchor}, [])
        except OSError as error:
            raise OtherSearch(
                f"{self.folder} cannot hold a journal ({error.strerror}); name another folder"
            ) from None
        try:
            known = [_level(row) for row in found.rows]
            self.anchor = _anchor(found.head.get("anchor"))
        except (ValueError, KeyError, TypeError):
            return self._cut(DAMAGED)
        for level in known:
            if self._checksum(level) != level.checksum:
                return self._cut(explain_damage(len(self.levels)))
            self.levels.append(level)
        return self._cut(found.message)

    def _refuse_other(self) -> None:
        """Raises OtherSearch if the folder holds anything, and no journal."""
        path = self.index.path
        with contextlib.suppress(OSError):
            held = {each.name for each in self.folder.iterdir()} - {path.with_suffix(".new").name}
            if not held or (path.is_file() and path.read_bytes()[: len(BEGIN)] in (BEGIN, b"")):
                return
            raise OtherSearch(f"{self.folder} holds something else; name another folder")

    def _checksum(self, level: JournalLevel) -> int:
        start, total = self._start(), 0
        left = level.count * self.width
        try:
            with regular(self.data).open("rb") as file:
                file.seek(start)
                while left:
                    part = file.read(min(CHUNK, left))
                    if not part:
                        return -1
                    total, left = crc32(part, total), left - len(part)
        except OSError:
            return -1
        return total

    def _start(self) -> int:
        return sum(level.count for level in self.levels) * self.width

    def _cut(self, message: str) -> str:
        """Truncate the file after the usable levels."""
        with self.data.open("ab") as file:
            file.truncate(self._start())
        return message

    def parts(self) -> Iterator[bytes]:
        """The states of all levels, in chunks of whole states."""
        size = max(1, CHUNK // self.width) * self.width
        for level in range(len(self.levels)):
            left = self.levels[level].count * self.width
            start = sum(known.count for known in self.levels[:level]) * self.width
            with regular(self.data).open("rb") as file:
                file.seek(start)
                while left:
                    part = file.read(min(size, left))
                    left -= len(part)
                    yield part

    def add(self, parts: Sequence[memoryview], level: JournalLevel) -> None:
        """Add a finished level; its checksum is that of `parts`. Raises NoRoom."""
        total = 0
        try:
            with self.data.open("ab") as file:
                for part in parts:
                    total = crc32(part, total)
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            self.levels.append(replace(level, checksum=total))
            self.index.write({"anchor": self.anchor}, [asdict(known) for known in self.levels])
        except OSError as error:
            raise NoRoom(
                f"the journal in {self.folder} cannot be written ({error.strerror}); its "
                "levels are complete"
            ) from None


def _anchor(found: object) -> Anchor | None:
    """Raises ValueError or TypeError."""
    if found is None:
        return None
    if not isinstance(found, list):
        raise TypeError("anchor")
    return tuple((int(slot), int(value)) for slot, value in found)


def _level(row: dict[str, object]) -> JournalLevel:
    def number(name: str) -> int:
        found = row[name]
        if not isinstance(found, int):
            raise TypeError(name)
        return found

    def several(found: object) -> tuple[int, ...]:
        if not isinstance(found, list | tuple):
            raise TypeError(found)
        return tuple(int(item) for item in found)

    notes = row["notes"]
    if not isinstance(notes, list | tuple):
        raise TypeError("notes")
    quads = [several(note) for note in notes]
    return JournalLevel(
        count=number("count"),
        checksum=number("checksum"),
        generated=number("generated"),
        outside=number("outside"),
        taken=several(row["taken"]),
        notes=tuple((a, b, c, d) for a, b, c, d in quads),
    )
