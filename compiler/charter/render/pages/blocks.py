"""Defines what a page consists of, whatever it is written in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

PICTURE = ".svg"
"""Ends the names of files with pictures."""

Kind: TypeAlias = Literal["text", "code", "comment"]


@dataclass(frozen=True, slots=True)
class TextRun:
    """Some characters of a text. `target` is what they link to ("" for no link): an address, the
    file of a picture, or a page of the same document and an anchor on it, `rules#bumped`."""

    text: str
    kind: Kind = "text"
    target: str = ""


Text: TypeAlias = "tuple[TextRun, ...]"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; levels 2 to 4 (a page has its title). `is_code`: it is a name of the charter."""

    level: int
    text: str
    is_code: bool = False
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of prose. `is_aside`: it is about the text beside it, such as its sources."""

    text: Text
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Some lines of a charter."""

    text: Text


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture in a file of its own, relative to the page. `title` says what it shows. If it
    `is_folded`, a reader opens it by its title, as one of many."""

    path: str
    svg: str
    title: str
    is_folded: bool = False


Block: TypeAlias = Heading | Paragraph | CodeBlock | Table | Figure


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page; `name` is the name of its file, without ending."""

    name: str
    title: str
    blocks: tuple[Block, ...]


BACKTICKS = re.compile(r"`([^`]+)`")


def prose(text: str) -> Text:
    """A text in which names stand between backticks."""
    found: list[TextRun] = []
    for position, part in enumerate(BACKTICKS.split(text)):
        if part:
            found.append(TextRun(part, "code" if position % 2 else "text"))
    return tuple(found)


def plain(text: Sequence[TextRun]) -> str:
    """The characters of a text."""
    return "".join(piece.text for piece in text)


def link_address(target: str, ending: str) -> str:
    """The address of a `target` in a document whose pages have this `ending`."""
    if "://" in target or target.endswith(PICTURE):
        return target
    page, mark, anchor = target.partition("#")
    return f"{page}{ending}{mark}{anchor}" if page else target


def slug(title: str) -> str:
    """The anchor that sites with Markdown give to a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def names_apart(names: Iterable[str], taken: Iterable[str] = ()) -> Iterator[str]:
    """The names of files, each with as many dashes behind it as it needs to differ from those
    before it and from those that are `taken`."""
    seen = set(taken)
    for name in names:
        dashes = next(d for d in range(len(seen) + 2) if name + "-" * d not in {"", *seen})
        seen.add(name + "-" * dashes)
        yield name + "-" * dashes


def anchor_headings(headings: Iterable[Heading]) -> Iterator[Heading]:
    """The headings of one page, each with its anchor; a second one of a title has a number."""
    seen: dict[str, int] = {}
    for heading in headings:
        name = slug(heading.text)
        count = seen.get(name, 0)
        seen[name] = count + 1
        yield replace(heading, anchor=f"{name}-{count}" if count else name)
