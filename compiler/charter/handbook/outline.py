"""Outlines a handbook: each file of a charter is a chapter, each declaration has its place in one
of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from charter.diagnostics import Span
from charter.render.pages.blocks import Heading, anchor_headings, names_apart, slug
from charter.syntax import nodes as sx

Small = sx.SortDecl | sx.CounterDecl | sx.ConstDecl | sx.AliasDecl
"""Declarations of a line: neighbours share a heading."""

Part = (
    sx.Declaration | sx.StateDecl | sx.PartDecl | sx.ChannelDecl | sx.Operation | sx.StepDecl
    | sx.Branch | sx.ObserveDecl | sx.Add
)  # fmt: skip

CONTENTS, PROPERTIES, SOURCES = "index", "table-of-properties", "table-of-sources"
VERDICTS, CLAIMS = "table-of-verdicts", "claims"
NO_CHAPTERS = (CONTENTS, PROPERTIES, SOURCES, VERDICTS, CLAIMS)
"""Pages that are no chapters."""

SMALL_TITLE = "Names and sizes"
LONGEST_TITLE = 60
"""A section that begins with a longer sentence has no heading; its comment is a paragraph."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What stands below a heading (None: below the one before): `items`, neighbours in the text, or
    for a section its comment `prose`. Before a branch: the names (`lets`) that its operation has
    defined since the branch before, and for the first of several in any order all of them
    (`group`). `machine`: whose state it is. `variant`: the one that adds the scenario."""

    heading: Heading | None
    items: tuple[Part, ...] = ()
    prose: str = ""
    lets: tuple[sx.Let, ...] = ()
    group: tuple[sx.Branch, ...] = ()
    machine: str = ""
    variant: str = ""

    @property
    def item(self) -> sx.Item | None:
        """The first item; of an edit that adds a declaration that declaration."""
        first = self.items[0] if self.items else None
        return first.declaration if isinstance(first, sx.Add) else first


@dataclass(frozen=True, slots=True)
class Chapter:
    """A file of a charter."""

    name: str
    title: str
    file: sx.File
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """Where each part of the text is in the handbook: `found` has start, end and target of a link
    by file, `headings` those of the targets."""

    found: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)
    headings: dict[str, Heading] = field(default_factory=dict)

    @classmethod
    def of(cls, chapters: Iterable[Chapter]) -> Places:
        """The places of all topics; a source has its place on the page of sources."""
        places = cls()
        for chapter in chapters:
            for topic in chapter.topics:
                if topic.heading is not None:
                    target = f"{chapter.name}#{topic.heading.anchor}"
                    places.headings[target] = topic.heading
                    for item in topic.items:
                        places.add(item.span, target)
            for node in chapter.file.declarations:
                if isinstance(node, sx.SourceDecl):
                    places.add(node.span, f"{SOURCES}#{slug(node.name.text)}")
        for spans in places.found.values():
            spans.sort()
        return places

    def add(self, span: Span, target: str) -> None:
        """A part of the text."""
        self.found.setdefault(span.source.name, []).append((span.start, span.end, target))

    def at(self, span: Span) -> str:
        """The innermost topic around a span, as the target of a link; "" if there is none."""
        places = self.found.get(span.source.name, [])
        last = bisect_right(places, span.start, key=lambda place: place[0])
        around = (place for place in reversed(places[:last]) if place[1] >= span.end)
        return next((target for _, _, target in around), "")


def chapters(files: sx.Protocol) -> tuple[Chapter, ...]:
    """The chapters, in the order of the files; each page has a name of its own."""
    stems = [re.sub(r"^\d+[-_]", "", PurePosixPath(f.span.source.name).stem) for f in files]
    return tuple(map(_chapter, files, stems, names_apart(stems, NO_CHAPTERS)))


def _chapter(file: sx.File, stem: str, name: str) -> Chapter:
    title = stem.replace("-", " ").replace("_", " ").capitalize()
    topics = tuple(_topics(file.declarations))
    headings = anchor_headings([e.heading for e in topics if e.heading is not None])
    placed = tuple(e if e.heading is None else replace(e, heading=next(headings)) for e in topics)
    return Chapter(name, title, file, placed)


def _topics(declarations: Iterable[sx.Declaration]) -> Iterator[Topic]:
    small: list[Part] = []
    opened = ""
    for item in declarations:
        if small and (not isinstance(item, Small) or item.section != opened):
            yield Topic(Heading(3, SMALL_TITLE), tuple(small))
            small = []
        if item.section != opened:
            # The comment that opens a file introduces all of it.
            yield Topic(None, prose=item.section) if not opened else _section(item.section, 2)
            opened = item.section
        match item:
            case sx.SourceDecl():
                pass
            case sx.SortDecl() | sx.CounterDecl() | sx.ConstDecl() | sx.AliasDecl():
                small.append(item)
            case sx.ComponentDecl() | sx.SystemDecl():
                kind = "Component" if isinstance(item, sx.ComponentDecl) else "System"
                yield Topic(Heading(2, f"{kind} {item.name.text}"), (item,))
                yield from _members(item.name.text, item.members)
            case sx.ScenarioDecl():
                yield Topic(Heading(3, item.title), (item,))
            case sx.VariantDecl():
                yield Topic(Heading(3, item.name.text, is_code=True), (item,))
                for edit, scenario in list_added_scenarios(item):
                    heading = Heading(4, scenario.title)
                    yield Topic(heading, (edit,), variant=item.name.text)
            case _:
                yield Topic(Heading(3, item.name.text, is_code=True), (item,))
    if small:
        yield Topic(Heading(3, SMALL_TITLE), tuple(small))


def list_added_scenarios(variant: sx.VariantDecl) -> Iterator[tuple[sx.Add, sx.ScenarioDecl]]:
    """The scenarios that a variant adds, with the edits that add them."""
    for edit in variant.edits:
        if isinstance(edit, sx.Add) and isinstance(edit.declaration, sx.ScenarioDecl):
            yield edit, edit.declaration


def scenario_places(chapters: Iterable[Chapter]) -> dict[tuple[str, str], str]:
    """The places of the scenarios, as targets of links, by the variant that adds them ("": they are
    the charter's own) and their titles."""
    return {
        (topic.variant, item.title): f"{chapter.name}#{topic.heading.anchor}"
        for chapter in chapters
        for topic in chapter.topics
        if isinstance(item := topic.item, sx.ScenarioDecl) and topic.heading is not None
    }


def _section(comment: str, level: int) -> Topic:
    """A section: its comment is its heading if it is short."""
    if "\n" not in comment and len(comment) <= LONGEST_TITLE:
        return Topic(Heading(level, comment.rstrip(".")))
    return Topic(None, prose=comment)


def _members(machine: str, members: Sequence[Part]) -> Iterator[Topic]:
    """The parts of a component or a system: all that it consists of, then operations and steps."""
    of_state = sx.PartDecl | sx.ChannelDecl | sx.StateDecl
    state = tuple(item for item in members if isinstance(item, of_state))
    if state:
        yield Topic(Heading(3, "State"), state, machine=machine)
    opened = state[-1].section if state else ""
    for item in members:
        if isinstance(item, of_state):
            continue
        if item.section != opened:
            opened = item.section
            yield _section(opened, 2)
        if isinstance(item, sx.ObserveDecl):
            yield Topic(Heading(3, f"Observed: {item.level.text}"), (item,))
        elif isinstance(item, sx.Operation | sx.StepDecl):
            yield Topic(Heading(3, item.name.text, is_code=True), (item,))
        if isinstance(item, sx.Operation):
            yield from _branches(item)


def _branches(operation: sx.Operation) -> Iterator[Topic]:
    """The branches of an operation in their order."""
    lets: list[sx.Let] = []
    for item in operation.body:
        if isinstance(item, sx.Let):
            lets.append(item)
        if isinstance(item, sx.Let | sx.Assume):
            continue
        group = item.branches if isinstance(item, sx.AnyOrder) else (item,)
        several = group if len(group) > 1 else ()
        for branch in group:
            heading = Heading(4, f"{operation.name.text}/{branch.name.text}", is_code=True)
            yield Topic(heading, (branch,), lets=tuple(lets), group=several)
            lets, several = [], ()
