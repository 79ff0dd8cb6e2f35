"""Splits the author's text into pieces of pages: names link to their declarations."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace

from charter.check.names.docs import doc_of
from charter.diagnostics import Span
from charter.handbook.outline import SOURCES, Part, Places, list_added_scenarios
from charter.ide.answers import INNER
from charter.ide.index import Key, NameIndex
from charter.render.pages.blocks import CodeBlock, Paragraph, Text, TextRun, prose, slug
from charter.syntax import nodes as sx
from charter.syntax.comments import COMMENT

SILENT = "silent"
MOST_USES = 12
"""Of the places that use a declaration so many are named."""


@dataclass(frozen=True, slots=True)
class LinkedTexts:
    """Makes text runs of the texts of one protocol. `known`: names that prose can link."""

    index: NameIndex
    places: Places
    known: dict[str, str]

    @classmethod
    def of(cls, index: NameIndex, places: Places) -> LinkedTexts:
        """The texts of a protocol with its index. Prose can name what only one declaration is
        called, outside of other ones."""
        found: dict[str, set[str]] = {}
        for key, symbol in index.symbols.items():
            if symbol.kind not in INNER and key[0] not in ("field", "source"):
                name = "/".join(key[2:]) if key[0] == "branch" else key[-1]
                found.setdefault(name, set()).add(places.at(symbol.name))
        known = {name: min(targets) for name, targets in found.items() if len(targets) == 1}
        return cls(index, places, known)

    def paragraphs(self, comment: str, own: Container[str] = ()) -> Iterator[Paragraph]:
        """A comment as paragraphs."""
        for text in re.split(r"\n\s*\n", comment.strip()):
            if text:
                yield Paragraph(self.link(" ".join(text.split()), own))

    def link(self, text: str, own: Container[str] = ()) -> Text:
        """Prose in which names between backticks link to their declarations, but for those that
        mean something of their `own` here, such as parameters."""
        return tuple(
            replace(piece, target=self.known.get(piece.text, ""))
            if piece.kind == "code" and piece.text not in own
            else piece
            for piece in prose(text)
        )

    def code(self, items: Iterable[Part | sx.Let | sx.Assume], here: str = "") -> CodeBlock:
        """Neighbouring items as they were written, with their comments but for that of the first;
        nothing links to the place `here`, where they stand."""
        found: list[TextRun] = []
        for item in items:
            doc = doc_of(item).splitlines() if found else []
            found += [TextRun("\n")] if found else []
            found += [TextRun("\n")] if doc and found else []
            found += [
                piece for line in doc for piece in (TextRun(f"-- {line}", "comment"), NEWLINE)
            ]
            found += self.pieces(item, here)
            found += [TextRun(f"  -- {item.trailing.strip()}", "comment")] if item.trailing else []
        return CodeBlock(tuple(found))

    def pieces(self, part: Span | Part | sx.Let | sx.Assume, here: str = "") -> list[TextRun]:
        """A part of a file, as far to the left as its first line. Of the scenarios that a variant
        adds it has the heads alone, which link to their places."""
        span = part if isinstance(part, Span) else part.span
        _, column = span.source.position(span.start)
        indented, text = "\n" + " " * (column - 1), span.source.text
        found: list[TextRun] = []
        done = span.start
        marked = self._find_marks(span, here)
        if isinstance(part, sx.VariantDecl):
            marked = sorted([*marked, *self._heads(part)], key=lambda mark: mark[:2])
        for start, end, run in marked:
            if start >= done:
                found.append(TextRun(text[done:start].replace(indented, "\n")))
                found.append(run)
                done = end
        found.append(TextRun(text[done : span.end].replace(indented, "\n")))
        return [piece for piece in found if piece.text]

    def _find_marks(self, span: Span, here: str) -> list[Marked]:
        """The names with a link and the comments in a span, in their order."""
        text = span.source.text
        marked: list[Marked] = [
            (match.start(), match.end(), TextRun(match[0], "comment"))
            for match in COMMENT.finditer(text, span.start, span.end)
            if match[1] is not None
        ]
        places = self.index.places.get(span.source.name, ())
        first = bisect_left(places, span.start, key=lambda place: place.span.start)
        for place in places[first:]:
            if place.span.start >= span.end:
                break
            target = self.target(place.key)
            if target not in ("", here) and not place.declares:
                start, end = place.span.start, place.span.end
                marked.append((start, end, TextRun(text[start:end], target=target)))
        return sorted(marked, key=lambda mark: mark[:2])

    def _heads(self, variant: sx.VariantDecl) -> Iterator[Marked]:
        """The titles of the scenarios that a variant adds, and what stands for their bodies."""
        for _, scenario in list_added_scenarios(variant):
            span, text = scenario.span, scenario.span.source.text
            title = text.index('"', span.start)
            end = text.index('"', title + 1) + 1
            yield title, end, TextRun(text[title:end], target=self.places.at(span))
            before = (*scenario.likes, *scenario.citations, scenario.machine)
            body = text.index("{", max(part.span.end for part in before))
            yield body, span.end, TextRun("{…}", "comment")

    def target(self, key: Key) -> str:
        """The place of a declaration; "" for one inside of an expression."""
        symbol = self.index.symbols.get(key)
        return "" if symbol is None or symbol.kind in INNER else self.places.at(symbol.name)

    def sources(self, citations: Iterable[sx.Citation]) -> Iterator[Paragraph]:
        """What an item cites, with links: at most one paragraph."""
        found: list[TextRun] = []
        for each in citations:
            found.append(TextRun(", " if found else "Sources: "))
            found.append(self.source(each.source, each.section))
        if found:
            yield Paragraph(tuple(found), is_aside=True)

    def source(self, name: str, section: str) -> TextRun:
        """A section of a source."""
        if name == SILENT:
            return TextRun("no text says it", target=f"{SOURCES}#{SILENT}")
        url = self.address(name, section)
        return TextRun(f"{name} {section}".strip(), target=url or f"{SOURCES}#{slug(name)}")

    def cite(self, text: str) -> Text:
        """A citation in one text, `MODEL §5.1`."""
        name, _, section = text.partition(" ")
        return (self.source(name, section.strip('"')),)

    def address(self, name: str, section: str) -> str:
        """The address of a section, or else of its source; "" for none."""
        links = self.index.links
        return links.get((name, section)) or links.get((name, "")) or ""

    def uses(self, name: Span, here: str) -> Iterator[Paragraph]:
        """The places that name a declaration: at most one paragraph. `here` is its own."""
        place = next((p for p in self.index.places[name.source.name] if p.span == name), None)
        if place is None:
            return
        used = (self.places.at(other.span) for other in self.index.of(place.key))
        targets = [target for target in dict.fromkeys(used) if target not in ("", here)]
        if targets:
            yield Paragraph(
                (TextRun("Used in: "), *self.list_links(targets, MOST_USES)), is_aside=True
            )

    def list_links(self, targets: list[str], most: int) -> Iterator[TextRun]:
        """Links to at most so many places (0: to all), by their titles."""
        shown = targets[:most] if most else targets
        for position, target in enumerate(shown):
            yield TextRun(", " if position else "")
            heading = self.places.headings[target]
            yield TextRun(heading.text, "code" if heading.is_code else "text", target)
        if len(targets) > len(shown):
            yield TextRun(f" and {len(targets) - len(shown)} more")


NEWLINE = TextRun("\n")
Marked = tuple[int, int, TextRun]
"""Start and end of a piece, and what is shown of it."""
