"""Reads and writes the index file of a journal: one row for each finished level, chained by
digests.

Each row has a digest over itself, all rows before, and the identity of the search. The file is
replaced atomically. Rows from the first that does not match its digest are ignored, since a changed
count could change a result.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from charter.explore.model_checker import CannotExplore
from charter.formats.files import regular

BEGIN = b'{"program":'
"""How an index file begins, also one that is damaged."""
DAMAGED = "the journal is damaged: the search starts again"


class OtherSearch(CannotExplore):
    """The folder contains another search, or cannot be used; the message is a sentence for the
    user."""


Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class IndexContent:
    """The content of an index file: its head, the intact rows, and a sentence about what could not
    be used ("": all could)."""

    head: Row
    rows: tuple[Row, ...]
    message: str = ""


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The file `path` of the search of a program, whose digest is `program`. `folder` is the folder
    for messages, if it is not that of the path."""

    path: Path
    program: str
    folder: str = ""

    def read(self) -> IndexContent:
        """The content. Raises OtherSearch."""
        self._make_folder()
        try:
            content = regular(self.path).read_bytes()
        except FileNotFoundError:
            return IndexContent({}, ())
        except OSError:
            return IndexContent({}, (), DAMAGED)
        return self.parse(content)

    def parse(self, content: bytes) -> IndexContent:
        """The content from the bytes of the file. Raises OtherSearch."""
        try:
            read = json.loads(content)
        except ValueError:
            return IndexContent({}, (), DAMAGED)
        if not isinstance(read, dict) or read.get("program") != self.program:
            raise OtherSearch(
                f"{self.folder or self.path.parent} holds another search (another charter, "
                "instance or option); name another folder, or remove it"
            )
        head, rows = read.get("head"), read.get("levels")
        if not isinstance(head, dict) or not isinstance(rows, list):
            return IndexContent({}, (), DAMAGED)
        whole: list[Row] = []
        digest = _next(self.program, head)
        for row in rows:
            said = row.pop("digest", "") if isinstance(row, dict) else ""
            digest = _next(digest, row)
            if said != digest:
                return IndexContent(head, tuple(whole), explain_damage(len(whole)))
            whole.append(row)
        return IndexContent(head, tuple(whole))

    def write(self, head: Row, rows: Iterable[Row]) -> None:
        """Replace the content. Raises OSError."""
        new = self.path.with_suffix(".new")
        with new.open("w", encoding="utf-8") as file:
            file.write(self.text(head, rows))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)

    def text(self, head: Row, rows: Iterable[Row]) -> str:
        """The text of the file."""
        digest = _next(self.program, head)
        levels: list[Row] = []
        for row in rows:
            digest = _next(digest, row)
            levels.append({**row, "digest": digest})
        return json.dumps({"program": self.program, "head": head, "levels": levels})

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OtherSearch(
                f"{self.path.parent} cannot hold a journal ({error.strerror}); name another folder"
            ) from None


def explain_damage(levels: int) -> str:
    """The message if only so many levels can be used."""
    return f"level {levels + 1} is damaged: the search continues before it"


def _next(digest: str, row: Row) -> str:
    """The digest of a row that follows one with this digest."""
    return sha256(f"{digest}\n{json.dumps(row, sort_keys=True)}".encode()).hexdigest()
