"""Offers shared text helpers: an emitter of lines, the template environment, wrapping, plurals,
citations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from charter.core import nodes as n

INDENT = "    "


@dataclass(slots=True)
class Emitter:
    """Collects lines at a current depth."""

    depth: int = 0
    lines: list[str] = field(default_factory=list)

    def line(self, text: str = "") -> None:
        """Add one line at the current depth; an empty one stays empty."""
        self.lines.append(f"{INDENT * self.depth}{text}" if text else "")

    def extend(self, texts: list[str]) -> None:
        """Add several lines, each already indented relative to the current depth."""
        for text in texts:
            self.line(text)

    @contextmanager
    def indent(self) -> Iterator[None]:
        """One level deeper for the duration of a `with` block."""
        self.depth += 1
        yield
        self.depth -= 1

    def text(self) -> str:
        """All lines, each with its newline."""
        return "".join(f"{line}\n" for line in self.lines)


@cache
def environment(package: str, *, escapes: bool = False) -> Environment:
    """The templates of one backend (`package`/templates), strict about undefined names. `escapes`:
    they are HTML. Kept, with the templates that it has compiled."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=escapes,
    )


def wrap(text: str, width: int) -> list[str]:
    """Paragraphs of at most `width` characters a line."""
    rows: list[str] = []
    for paragraph in re.sub(r"(?<!\n)\n(?![\n ])", " ", text).split("\n"):
        row = paragraph[: len(paragraph) - len(paragraph.lstrip())]
        for word in paragraph.lstrip().split(" "):
            if row.strip() and len(row) + 1 + len(word) > width:
                rows.append(row)
                row = word
            else:
                row = f"{row} {word}" if row.strip() else row + word
        rows.append(row.rstrip())
    return rows


def plural(name: str) -> str:
    """`broker` as `brokers`."""
    if name.endswith("y") and name[-2:-1] not in ("a", "e", "o", "u"):
        return name[:-1] + "ies"
    return name + ("es" if name.endswith(("s", "x", "ch", "sh")) else "s")


def cite(citations: Iterable[n.Citation]) -> str:
    """Citations on one line; "" for `silent`."""
    return ", ".join(f"{c.source} {c.section}".strip() for c in citations if c.source != "silent")
