"""Answers about names: what stands here, where it is declared, where it is used, what a rename
changes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from charter.diagnostics import Source, Span
from charter.ide.index import Key, NameIndex, Symbol
from charter.ide.workspace import Snapshot, Workspace

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SECTION: Final = re.compile(r'\s*"((?:[^"\\\n]|\\.)*)"')
INNER: Final = frozenset({"parameter", "let", "pick", "variable", "element", "condition"})
"""Kinds of declarations that an outline leaves out."""


@dataclass(frozen=True, slots=True)
class Hover:
    """A text in Markdown about the name at `span`."""

    text: str
    span: Span


def hover(snapshot: Snapshot, name: str, offset: int) -> Hover | None:
    """What the name at an offset means: its declaration with its type, its comment, and the
    sections that it cites, as links."""
    place = snapshot.at(name, offset)
    if place is None:
        return None
    index = snapshot.index
    symbol = index.symbols[place.key]
    if symbol.kind == "source":
        return Hover(_source(index, symbol, place.span), snapshot.now(place.span))
    head = symbol.head if symbol.key[0] != "field" else f"field {symbol.head}"
    parts = [f"```charter\n{head}\n```", symbol.doc]
    cited = ", ".join(_link(index, item.source, item.section) for item in symbol.citations)
    parts.append(f"Cites {cited}." if cited else "")
    return Hover("\n\n".join(part for part in parts if part), snapshot.now(place.span))


def _source(index: NameIndex, symbol: Symbol, span: Span) -> str:
    """The title of a source, and the section that is cited here."""
    match = SECTION.match(span.source.text, span.end)
    declared = span == symbol.name
    section = "" if match is None or declared else re.sub(r"\\(.)", r"\1", match[1])
    title = index.titles.get(symbol.key[1], "")
    return f"{title}\n\n{_link(index, symbol.key[1], section)}"


def _link(index: NameIndex, source: str, section: str) -> str:
    """A citation as a link; as text if it has no address."""
    url = index.links.get((source, section)) or index.links.get((source, ""))
    text = f"{source} {section}".strip()
    return f"[{text}]({url})" if url else text


def definition(snapshot: Snapshot, name: str, offset: int) -> tuple[Span, ...]:
    """Where the name at an offset is declared: once, or for an element in each instance."""
    place = snapshot.at(name, offset)
    if place is None:
        return ()
    found = [other.span for other in snapshot.index.of(place.key) if other.declares]
    symbol = snapshot.index.symbols[place.key]
    wanted = found if symbol.kind == "element" else [symbol.name]
    return tuple(snapshot.now(span) for span in wanted)


def references(
    snapshot: Snapshot, name: str, offset: int, *, declarations: bool
) -> tuple[Span, ...]:
    """All names that mean the same as the one at an offset."""
    place = snapshot.at(name, offset)
    if place is None:
        return ()
    found = (o for o in snapshot.index.of(place.key) if declarations or not o.declares)
    return tuple(snapshot.now(other.span) for other in found)


@dataclass(frozen=True, slots=True)
class Outlined:
    """A declaration with those inside it, for an outline."""

    name: str
    kind: str
    span: Span
    whole: Span
    inner: tuple[Outlined, ...]


def outline(snapshot: Snapshot, name: str) -> tuple[Outlined, ...]:
    """The declarations of a file, as deep as they are nested."""
    found = [
        symbol
        for symbol in snapshot.index.symbols.values()
        if symbol.kind not in INNER and symbol.name.source.name == name
    ]
    found.sort(key=lambda symbol: (symbol.whole.start, -symbol.whole.end))
    return _nest(snapshot, found)


def _nest(snapshot: Snapshot, found: list[Symbol]) -> tuple[Outlined, ...]:
    kept: list[Outlined] = []
    position = 0
    while position < len(found):
        first = found[position]
        last = position + 1
        while last < len(found) and found[last].whole.end <= first.whole.end:
            last += 1
        inner = [each for each in found[position + 1 : last] if each.whole != first.whole]
        beside = [each for each in found[position + 1 : last] if each.whole == first.whole]
        for each in (first, *beside):
            below = _nest(snapshot, inner) if each is first else ()
            span, whole = snapshot.now(each.name), snapshot.now(each.whole)
            kept.append(Outlined(each.key[-1], each.kind, span, whole, below))
        position = last
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Lens:
    """A line from which something can be run: an instance, or a scenario by its title."""

    kind: str
    name: str
    span: Span


def lenses(snapshot: Snapshot, name: str) -> tuple[Lens, ...]:
    """The instances and scenarios of a file that can be run."""
    return tuple(
        Lens(symbol.kind, symbol.key[-1], snapshot.now(symbol.whole))
        for symbol in snapshot.index.symbols.values()
        if symbol.kind in ("instance", "scenario") and symbol.name.source.name == name
    )


# --- rename --------------------------------------------------------------------------------------


class CannotRename(Exception):
    """The rename would change what a text means, or there is nothing to rename; the message is a
    sentence."""


def renamable(snapshot: Snapshot, name: str, offset: int) -> Span:
    """The name at an offset. Raises `CannotRename` if it cannot be renamed."""
    place = snapshot.at(name, offset)
    if place is None:
        raise CannotRename("there is no name of this protocol here")
    return snapshot.now(place.span)


def rename(workspace: Workspace, name: str, offset: int, new: str) -> dict[str, tuple[Span, ...]]:
    """The places to replace by `new` so that the name at an offset has this name, by file.

    Raises `CannotRename` if the charter has syntax errors, if `new` is no name, or if any name
    would mean something else afterwards. Raises `Unreadable`."""
    before = workspace.refresh(name)
    place = before.at(name, offset)
    if place is None:
        raise CannotRename("there is no name of this protocol here")
    if NAME.fullmatch(new) is None:
        raise CannotRename(f"`{new}` is not a name: letters, digits and underscores")
    broken = [file for file, parsed in before.files.items() if parsed.errors]
    if broken:
        raise CannotRename(f"{broken[0]} has syntax errors; mend them first")
    spans = _spans(before.index, place.key)
    after = Workspace()
    for file, parsed in before.files.items():
        after.open(file, replace_spans(parsed.source, spans.get(file, ()), new))
    _refuse_other_meaning(before, after.refresh(name), new)
    return spans


def _spans(index: NameIndex, key: Key) -> dict[str, tuple[Span, ...]]:
    found: dict[str, list[Span]] = {}
    for place in index.of(key):
        found.setdefault(place.span.source.name, []).append(place.span)
    return {file: tuple(spans) for file, spans in found.items()}


def replace_spans(source: Source, spans: Iterable[Span], new: str) -> str:
    """A text with spans of it replaced by `new`."""
    parts, end = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        parts += [source.text[end : span.start], new]
        end = span.end
    return "".join((*parts, source.text[end:]))


def _refuse_other_meaning(before: Snapshot, after: Snapshot, new: str) -> None:
    """Raise `CannotRename` if there are more errors than before, or if names that meant the same
    thing no longer do."""
    errors = [item for found in after.found.values() for item in found]
    if len(errors) > sum(len(found) for found in before.found.values()):
        known = {item.message for found in before.found.values() for item in found}
        new_ones = [item for item in errors if item.message not in known] or errors
        item = min(new_ones, key=lambda item: not item.code.startswith("syntax/"))
        line, _ = item.span.source.position(item.span.start)
        raise CannotRename(f"with the name `{new}` line {line} is wrong: {item.message}")
    if before.index.shape() != after.index.shape():
        raise CannotRename(f"`{new}` has another meaning in some of these places already")
