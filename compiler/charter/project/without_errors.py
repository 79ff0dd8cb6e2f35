"""Texts without the scenarios, instances and mutants that have errors, where nothing else has any:
what a command finds about the rest is true whatever these were meant to say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from charter.diagnostics import Diagnostics, Refused, Source, Span
from charter.project.pipeline import parse_or_refuse
from charter.syntax import nodes as sx

_Single = sx.ScenarioDecl | sx.InstanceDecl | sx.MutantDecl
"""Declarations of which each is about something of its own."""
_BLANKED: Final = re.compile(r"[^\n]")
_BEHIND: Final = re.compile(r"[ \t]*--[^\n]*")


@dataclass(frozen=True, slots=True)
class BrokenDeclaration:
    """A declaration that has errors; a scenario is named by its title."""

    kind: Literal["scenario", "instance", "mutant"]
    name: str

    @property
    def told(self) -> str:
        """As messages name it."""
        return f'scenario "{self.name}"' if self.kind == "scenario" else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Rest:
    """The texts without the declarations that have errors; and the names of all instances, in the
    order of the charter, also of those that are left out."""

    sources: tuple[Source, ...]
    broken: tuple[BrokenDeclaration, ...]
    instances: tuple[str, ...]


def without_errors(sources: Sequence[Source], found: Diagnostics) -> Rest | None:
    """What remains of texts without the scenarios, instances and mutants in which all errors that
    were `found` lie; None if one lies elsewhere. The texts keep their names and lines, and what
    remains stands where it stood. Others may name what is left out, so errors can remain."""
    try:
        files = parse_or_refuse(sources)
    except Refused:
        return None
    single = [d for file in files for d in file.declarations if isinstance(d, _Single)]
    broken: dict[Span, _Single] = {}
    for error in found.items:
        if error.severity == "error":
            around = next((node for node in single if _holds(node.span, error.span)), None)
            if around is None:
                return None
            broken[around.span] = around
    named = tuple(_named(node) for node in single if node.span in broken)
    instances = tuple(node.name.text for node in single if isinstance(node, sx.InstanceDecl))
    return Rest(tuple(_without(source, broken) for source in sources), named, instances)


def _holds(outer: Span, inner: Span) -> bool:
    is_inside = outer.start <= inner.start and inner.end <= outer.end
    return is_inside and outer.source == inner.source


def _named(node: _Single) -> BrokenDeclaration:
    match node:
        case sx.ScenarioDecl():
            return BrokenDeclaration("scenario", node.title)
        case sx.InstanceDecl():
            return BrokenDeclaration("instance", node.name.text)
        case sx.MutantDecl():
            return BrokenDeclaration("mutant", node.name.text)


def _without(source: Source, spans: Iterable[Span]) -> Source:
    """A text with blanks instead of spans and of their comments: else these would be taken for
    comments of what follows."""
    text = source.text
    for span in spans:
        if span.source == source:
            start, end = _first(source, span.start), span.end
            comment = _BEHIND.match(text, end)
            end = comment.end() if comment else end
            text = text[:start] + _BLANKED.sub(" ", text[start:end]) + text[end:]
    return Source(source.name, text)


def _first(source: Source, start: int) -> int:
    """The start of the comments in the lines above `start`, else `start`."""
    line, column = source.position(start)
    if source.line(line)[: column - 1].strip():
        return start
    while line > 1 and source.line(line - 1).strip()[:2] in ("", "--"):
        line -= 1
    return source.line_starts[line - 1]
