"""Keeps the charters that an editor shows: texts that were not saved hide the files on disk.

Answers come from the last tree of each file that had no syntax errors, with their places moved to
where they are in the present text. Errors are those of the present text: the declarations that can
be parsed are checked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from charter.check.names.follow_ups import without_follow_ups
from charter.check.protocol import check_with_edits
from charter.diagnostics import Diagnostic, Diagnostics, Source, Span
from charter.ide.build import EMPTY, index_of
from charter.ide.index import NameIndex, Occurrence
from charter.ide.offsets import Shift
from charter.project.pipeline import scenarios_checked
from charter.project.sources import (
    Unreadable,
    by_name,
    find_whole,
    list_below,
    protocol_of,
    read_source,
    speaks_of,
)
from charter.syntax import nodes as sx
from charter.syntax.parse import parse_rest


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text, its tree (the last one without syntax errors, if it has some), these errors, and the
    tree of what can be parsed now."""

    source: Source
    tree: sx.File | None
    errors: tuple[Diagnostic, ...]
    rest: sx.File | None

    @property
    def of(self) -> Source | None:
        """The text to which the tree belongs."""
        return None if self.tree is None else self.tree.span.source


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a protocol by name, all errors and warnings of each, and the index."""

    files: dict[str, Parsed]
    found: dict[str, tuple[Diagnostic, ...]]
    index: NameIndex

    def at(self, name: str, offset: int) -> Occurrence | None:
        """The name at an offset of a file's present text."""
        file = self.files.get(name)
        if file is None or file.of is None:
            return None
        return self.index.at(name, self.shift(name).back(offset))

    def shift(self, name: str) -> Shift:
        """From the text of a file's tree to its present text."""
        file = self.files[name]
        return Shift.between("" if file.of is None else file.of.text, file.source.text)

    def now(self, span: Span) -> Span:
        """A span in the present text of its file. That of an error behind the last character ends
        with the text."""
        file = self.files.get(span.source.name)
        if file is None or file.of is None or span.source == file.source:
            end = len(span.source.text)
            return Span(span.source, min(span.start, end), min(span.end, end))
        shift = self.shift(span.source.name)
        start = shift.forward(span.start)
        return Span(file.source, start, max(start, shift.forward(span.end)))


NOTHING: Final = Snapshot({}, {}, EMPTY)


@dataclass(slots=True)
class Workspace:
    """Files by name (path with forward slashes). `texts` are those of open files, which are opened
    and closed while another thread checks; `parsed` is everything that was parsed; `snapshots` are
    the last ones, by the files in them."""

    texts: dict[str, str] = field(default_factory=dict)
    parsed: dict[str, Parsed] = field(default_factory=dict)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)

    def open(self, name: str, text: str) -> None:
        """The present text of an open file."""
        self.texts[name] = text

    def close(self, name: str) -> None:
        """From now on the text on disk counts."""
        self.texts.pop(name, None)

    def source(self, name: str) -> Source:
        """The present text of a file. Raises `Unreadable`."""
        text = self.texts.get(name)
        return read_source(Path(name)) if text is None else Source(name, text)

    def protocol(self, name: str) -> tuple[Source, ...]:
        """The files of the protocol to which a file belongs: those of its folder, and of the
        folders above and below, whose first line names the same protocol, and those that a folder
        of classes speaks of."""
        own = self.source(name)
        wanted, folder = protocol_of(own), Path(name).parent
        whole = find_whole(speaks_of(folder) or folder, wanted)
        folders = {folder, whole, *(file.parent for file in list_below(whole, wanted))}
        names = {file.as_posix() for folder in folders for file in folder.glob("*.charter")} | {
            other for other in tuple(self.texts) if Path(other).parent in folders
        }
        sources = [own]
        for other in sorted(names - {name}):
            with suppress(Unreadable):
                sources.append(self.source(other))
        kept = (s for s in sources if s is own or (wanted and protocol_of(s) == wanted))
        return tuple(sorted(kept, key=lambda source: by_name(Path(source.name))))

    def parse(self, source: Source) -> Parsed:
        """A text with its tree; what was parsed is kept."""
        known = self.parsed.get(source.name)
        if known is not None and known.source == source:
            return known
        diagnostics = Diagnostics()
        tree = rest = parse_rest(source, diagnostics)
        if known is not None and known.tree is not None and (tree is None or tree.broken):
            tree = tree if tree is not None and known.tree.broken else known.tree
        found = Parsed(source, tree, tuple(diagnostics), rest)
        self.parsed[source.name] = found
        return found

    def refresh(self, name: str) -> Snapshot:
        """Parse and check the protocol of a file as it is now. Raises `Unreadable`."""
        files = {source.name: self.parse(source) for source in self.protocol(name)}
        trees = tuple(file.tree for file in files.values() if file.tree is not None)
        snapshot = Snapshot(files, _check(files), index_of(trees))
        for each in files:
            self.snapshots[each] = snapshot
        return snapshot

    def snapshot(self, name: str) -> Snapshot:
        """The last snapshot with a file, its texts as they are now; the first one is made here.
        Nothing is parsed again."""
        known = self.snapshots.get(name)
        if known is None:
            with suppress(Unreadable):
                return self.refresh(name)
            return NOTHING
        text = self.texts.get(name)
        file = known.files[name]
        if text is None or text == file.source.text:
            return known
        files = {**known.files, name: replace(file, source=Source(name, text))}
        return replace(known, files=files)


def _check(files: dict[str, Parsed]) -> dict[str, tuple[Diagnostic, ...]]:
    """All errors and warnings, by file. Declarations with syntax errors are not checked further. Of
    a file without a head only its syntax errors are told; the others are checked with its last
    tree. A folder with nothing but overlays has no protocol to be checked against."""
    found: dict[str, list[Diagnostic]] = {name: list(file.errors) for name, file in files.items()}
    present = (file.rest or file.tree for file in files.values())
    trees = tuple(tree for tree in present if tree is not None)
    if trees and not _only_overlays(trees):
        diagnostics = Diagnostics()
        check_with_edits(trees, diagnostics, scenarios_checked())
        for item in without_follow_ups(trees, diagnostics).everywhere:
            name = item.span.source.name
            if name in files and files[name].rest is not None:
                found[name].append(item)
    return {name: tuple(items) for name, items in found.items()}


def _only_overlays(trees: Iterable[sx.File]) -> bool:
    found = [node for tree in trees for node in tree.declarations]
    return bool(found) and all(isinstance(node, sx.OverlayDecl) for node in found)
