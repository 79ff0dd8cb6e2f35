"""A search on disk: each level as it was finished, so that a search that was killed goes on from
the last one.

A folder holds `levels` (the kept states of level after level, in the order of their discovery),
and `journal.json`: the digest of the program, and for each level its counts and the CRC-32 of its
part of `levels`. The journal is written last, whole, under its name or not at all. What does not
match is not used: the search goes on from the last level that does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from zlib import crc32

CHUNK = 1 << 22


class OtherSearch(Exception):
    """The folder holds another search; the message is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level that was found: its number of states, the CRC-32 of their bytes; and the counts of
    the search when it was found: transitions, outside, branches, notes."""

    count: int
    checksum: int
    generated: int
    outside: int
    taken: tuple[int, ...]
    notes: tuple[tuple[int, int, int, int], ...]


@dataclass(slots=True)
class Journal:
    """The journal of one search; `width` is the bytes of a kept state."""

    folder: Path
    program: str
    width: int
    levels: list[Level] = field(default_factory=list)

    @property
    def data(self) -> Path:
        """The states."""
        return self.folder / "levels"

    @property
    def index(self) -> Path:
        """The levels."""
        return self.folder / "journal.json"

    def open(self) -> str:
        """Read what is there; a sentence on what of it could not be used, "" for nothing.
        Raises OtherSearch."""
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            read = json.loads(self.index.read_bytes())
            known = [_level(row) for row in read["levels"]]
            program = read["program"]
        except FileNotFoundError:
            return self._cut("")
        except (OSError, ValueError, KeyError, TypeError):
            return self._cut("the journal is damaged: the search begins anew")
        if program != self.program:
            raise OtherSearch(
                f"{self.folder} holds another search (another charter, instance or option); name "
                "another folder, or remove it"
            )
        for level in known:
            if self._checksum(level) != level.checksum:
                depth = len(self.levels)
                return self._cut(f"level {depth + 1} is damaged: the search goes on before it")
            self.levels.append(level)
        return self._cut("")

    def _checksum(self, level: Level) -> int:
        start, total = self._start(), 0
        left = level.count * self.width
        try:
            with self.data.open("rb") as file:
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
        """Forget what lies behind the levels that are used."""
        with self.data.open("ab") as file:
            file.truncate(self._start())
        return message

    def parts(self) -> Iterator[bytes]:
        """The states of all levels, in parts of whole states."""
        size = max(1, CHUNK // self.width) * self.width
        for level in range(len(self.levels)):
            left = self.levels[level].count * self.width
            start = sum(known.count for known in self.levels[:level]) * self.width
            with self.data.open("rb") as file:
                file.seek(start)
                while left:
                    part = file.read(min(size, left))
                    left -= len(part)
                    yield part

    def add(self, parts: Sequence[memoryview], level: Level) -> None:
        """A level that was finished; its checksum is that of `parts`."""
        total = 0
        with self.data.open("ab") as file:
            for part in parts:
                total = crc32(part, total)
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        fields = asdict(level) | {"checksum": total}
        self.levels.append(_level(fields))
        text = json.dumps({"program": self.program, "levels": [asdict(x) for x in self.levels]})
        new = self.index.with_suffix(".new")
        with new.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        new.replace(self.index)


def _level(row: dict[str, object]) -> Level:
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
    return Level(
        count=number("count"),
        checksum=number("checksum"),
        generated=number("generated"),
        outside=number("outside"),
        taken=several(row["taken"]),
        notes=tuple((a, b, c, d) for a, b, c, d in quads),
    )
