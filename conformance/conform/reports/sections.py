"""Loads sections.json, which describes the charter (docs/formats/report.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from charter.formats.charter_files.obligations import UNREADABLE, whole_sections
from charter.formats.links import is_url
from charter.formats.reading import BadVector, JsonReader
from conform.console.errors import BadRun

FORMAT = 7
_COLUMNS = 4
SILENT = "silent"
_ALIAS = re.compile(r"^Also called `([^`]+)`\.\Z", re.M)
"""How the comment of an operation ends that has an alias."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the charter and its position. `name` is `operation` or `operation/branch`."""

    name: str
    doc: str
    citations: tuple[tuple[str, str], ...]
    file: str
    line: int
    text: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    """For each citation where it can be read, "" if that is not known."""
    section: str = ""
    """Of an operation: the comment that opened the section of the charter in which it stands."""

    @property
    def operation(self) -> str:
        return self.name.partition("/")[0]

    @property
    def alias(self) -> str:
        """Of an operation: what those who implement it call it; "" if the charter does not say."""
        found = _ALIAS.search(self.doc)
        return found[1] if found else ""

    @property
    def place(self) -> str:
        """`file:line`; "" if unknown."""
        return f"{self.file}:{self.line}" if self.file else ""


@dataclass(frozen=True, slots=True)
class ObligationSection:
    """A row of the ledger of obligations."""

    name: str
    kind: str
    branch: str
    status: str
    vectors: int
    note: str


@dataclass(frozen=True, slots=True)
class MutantSection:
    """A hand-written mutant: whether the suite kills it, and if not, whether some runs distinguish
    it."""

    name: str
    doc: str
    caught_by: str
    killed: bool
    killed_in_some_runs: bool
    vector: str


@dataclass(frozen=True, slots=True)
class EntrySection:
    """An entry of an overlay. `rule.doc` is its evidence."""

    overlay: str
    kind: str
    first_release: str
    last_release: str
    branches: tuple[str, ...]
    rule: Rule


@dataclass(frozen=True, slots=True)
class Sections:
    """A charter as the report shows it. `Sections()` is an unknown charter."""

    variant: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    levels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ordered: frozenset[str] = frozenset()
    operations: tuple[Rule, ...] = ()
    branches: tuple[Rule, ...] = ()
    ledger: tuple[ObligationSection, ...] = ()
    mutants: tuple[MutantSection, ...] = ()
    entries: tuple[EntrySection, ...] = ()

    def entry(self, overlay: str, name: str) -> EntrySection | None:
        """The entry `name` of an overlay."""
        found = (e for e in self.entries if e.overlay == overlay and e.rule.name == name)
        return next(found, None)

    def name_operation(self, operation: str) -> str:
        """What those who implement an operation call it, or else its name."""
        aliases = (one.alias for one in self.operations if one.name == operation)
        return next(aliases, "") or operation

    def level(self, observes: set[str]) -> str:
        """The widest level whose fields are all in `observes`; "" if none."""
        names = [name for name, variables in self.levels if set(variables) <= observes]
        return names[-1] if names else ""


def read_sections(path: Path) -> Sections:
    """Reads a sections.json. Raises `BadRun` with a sentence if it is malformed."""
    try:
        return _sections(JsonReader(whole_sections(path), str(path)))
    except UNREADABLE as error:
        raise BadRun(f"{path} cannot be read ({error}); `conform generate` writes it") from None


def _sections(reader: JsonReader) -> Sections:
    linked = tuple(name for name in ("links", "suite") if name in reader.object())
    reader.fields(
        "format", "base", "protocol", "variant", "component", "spec_digest", "sources", "levels",
        "ordered", "operations", "branches", "ledger", "mutants", "entries", *linked,
    )  # fmt: skip
    links = _links(reader.item("links")) if "links" in linked else {}
    if reader.value("format") != FORMAT:
        raise BadVector(f"the format is {reader.value('format')!r}, this program reads {FORMAT}")
    return Sections(
        variant=reader.text("variant"),
        sources=_pairs(reader.item("sources")),
        levels=tuple(_level(item) for item in reader.item("levels").items()),
        ordered=frozenset(reader.item("ordered").texts()),
        operations=tuple(
            _link(_operation(item), links) for item in reader.item("operations").items()
        ),
        branches=tuple(_link(_branch(item), links) for item in reader.item("branches").items()),
        ledger=tuple(_obligation(item) for item in reader.item("ledger").items()),
        mutants=tuple(_mutant(item) for item in reader.item("mutants").items()),
        entries=tuple(_entry(item, links) for item in reader.item("entries").items()),
    )


def _links(reader: JsonReader) -> dict[tuple[str, str], str]:
    """The URL of each source and section. Raises `BadVector` for anything but a web address."""
    found: dict[tuple[str, str], str] = {}
    for item in reader.items():
        texts = item.texts()
        if len(texts) != 3 or not is_url(texts[2]):
            raise BadVector(f"{item.where}: not a source, a section, and an address of the web")
        found[texts[0], texts[1]] = texts[2]
    return found


def _link(rule: Rule, links: Mapping[tuple[str, str], str]) -> Rule:
    urls = (links.get(cited) or links.get((cited[0], ""), "") for cited in rule.citations)
    return replace(rule, urls=tuple(urls))


def _level(reader: JsonReader) -> tuple[str, tuple[str, ...]]:
    name, variables = reader.items()
    return _text(name), variables.texts()


def _pairs(reader: JsonReader) -> tuple[tuple[str, str], ...]:
    found = []
    for item in reader.items():
        texts = item.texts()
        if len(texts) != 2:
            raise BadVector(f"{item.where}: not a pair of texts")
        found.append((texts[0], texts[1]))
    return tuple(found)


def _operation(reader: JsonReader) -> Rule:
    opened = ("section",) if "section" in reader.object() else ()
    reader.fields("operation", "doc", "citations", "file", "line", *opened)
    rule = _rule(reader, reader.text("operation"), reader.text("doc"), ())
    return replace(rule, section=reader.text("section") if opened else "")


def _branch(reader: JsonReader) -> Rule:
    reader.fields("operation", "branch", "doc", "citations", "file", "line", "text")
    name = f"{reader.text('operation')}/{reader.text('branch')}"
    return _rule(reader, name, reader.text("doc"), reader.item("text").texts())


def _rule(reader: JsonReader, name: str, doc: str, text: tuple[str, ...]) -> Rule:
    return Rule(
        name=name,
        doc=doc,
        citations=_pairs(reader.item("citations")),
        file=reader.text("file"),
        line=reader.item("line").integer(),
        text=text,
    )


def _obligation(reader: JsonReader) -> ObligationSection:
    columns = list(reader.items())
    if len(columns) != _COLUMNS:
        raise BadVector(f"{reader.where}: a row of the ledger has {_COLUMNS} columns")
    vectors = columns.pop(2).integer()
    name, status, note = (_text(column) for column in columns)
    kind, where, *_ = (*name.split(" "), "")
    return ObligationSection(name, kind, where if "/" in where else "", status, vectors, note)


def _text(reader: JsonReader) -> str:
    if not isinstance(reader.raw, str):
        raise BadVector(f"{reader.where}: not a text")
    return reader.raw


def _mutant(reader: JsonReader) -> MutantSection:
    reader.fields("name", "doc", "caught_by", "killed", "killed_in_some_runs", "vector")
    return MutantSection(
        name=reader.text("name"),
        doc=reader.text("doc"),
        caught_by=reader.text("caught_by"),
        killed=reader.value("killed") is True,
        killed_in_some_runs=reader.value("killed_in_some_runs") is True,
        vector=reader.text("vector"),
    )


def _entry(reader: JsonReader, links: Mapping[tuple[str, str], str]) -> EntrySection:
    reader.fields(
        "overlay", "name", "class", "first_release", "last_release", "evidence", "citations",
        "branches", "file", "line", "text",
    )  # fmt: skip
    text = reader.item("text").texts()
    return EntrySection(
        overlay=reader.text("overlay"),
        kind=reader.text("class"),
        first_release=reader.text("first_release"),
        last_release=reader.text("last_release"),
        branches=reader.item("branches").texts(),
        rule=_link(_rule(reader, reader.text("name"), reader.text("evidence"), text), links),
    )
