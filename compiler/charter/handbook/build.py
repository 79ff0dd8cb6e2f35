"""Builds the pages of a handbook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from charter.check.names.docs import doc_of
from charter.core import nodes as n
from charter.diagnostics import Span
from charter.formats.charter_files.claims import ClaimSection
from charter.formats.charter_files.verdicts import InstanceVerdicts
from charter.handbook.claims import ClaimJudge, ClaimPlaces, claims_page
from charter.handbook.outline import (
    CLAIMS,
    CONTENTS,
    PROPERTIES,
    SOURCES,
    VERDICTS,
    Chapter,
    Places,
    Topic,
    chapters,
    scenario_places,
)
from charter.handbook.picture_book import list_picture_books, picture_books
from charter.handbook.pictures import (
    Draw,
    DrawFailure,
    ScenarioRuns,
    pictures,
    pictures_of_variants,
    states,
)
from charter.handbook.tables import properties_page, sources_page
from charter.handbook.texts import LinkedTexts
from charter.handbook.verdict_tables import trace_of, verdicts_page
from charter.ide.build import index_of
from charter.render.pages.blocks import (
    Block,
    CodeBlock,
    DocumentPage,
    Figure,
    Heading,
    Paragraph,
    Table,
    Text,
    TextRun,
)
from charter.syntax import nodes as sx
from charter.syntax.comments import COMMENT

ABOUT = {
    PROPERTIES: "What must hold, and where.",
    CLAIMS: "Each claim, whether it holds, and what shows it.",
    VERDICTS: "What searches of the instances found, with each variant.",
    SOURCES: "Each section, and what cites it.",
}
FIRST_SENTENCE = re.compile(r"^.*?[.:](?=\s|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BesideCharter:
    """What files beside a charter say: the claims of its texts, and what they are held against,
    such as what searches found. `draw` draws what they found to fail."""

    claims: Sequence[ClaimSection]
    judge: ClaimJudge
    draw: DrawFailure


@dataclass(frozen=True, slots=True)
class Seen:
    """What is drawn next to the text: scenarios by `draw`, and from picture to picture by `tell`,
    those of a variant by `draw_in` of it, states by `draw_state`, and by `failure` what searches of
    the charter's instances and its mutants found to fail."""

    draw: Draw
    draw_in: Callable[[str], Draw]
    draw_state: Draw
    tell: Draw
    failure: DrawFailure | None = None
    instances: Mapping[str, InstanceVerdicts] = field(default_factory=dict)
    mutants: Mapping[str, InstanceVerdicts] = field(default_factory=dict)

    def beside(self, beside: BesideCharter) -> Seen:
        """With the rows of the searches."""
        rows = beside.judge.rows
        return replace(
            self,
            failure=beside.draw,
            instances={row.instance: row for row in rows if row.is_of_charter},
            mutants={row.mutant: row for row in rows if row.mutant},
        )


def pages(
    files: sx.Protocol,
    model: n.Model,
    variant_of: Callable[[str], n.Model | None],
    beside: BesideCharter | None = None,
) -> tuple[DocumentPage, ...]:
    """The pages of a protocol without errors, the contents first. `variant_of` gives the core of a
    variant (None: it has errors)."""
    found = chapters(files)
    texts = LinkedTexts.of(index_of(files), Places.of(found))
    runs = ScenarioRuns(model)
    tell = picture_books(texts, runs)
    seen = Seen(pictures(runs), pictures_of_variants(variant_of), states(runs), tell)
    seen = seen if beside is None else seen.beside(beside)
    made = [DocumentPage(c.name, c.title, tuple(_chapter(texts, c, seen))) for c in found]
    tables = [properties_page(texts, model)]
    if beside is not None and beside.judge.rows:
        tables.append(verdicts_page("CHARTER", model, beside.judge.rows, texts.link, beside.draw))
    if beside is not None and beside.claims:
        places = ClaimPlaces(scenario_places(found), _list_drawn((*made, *tables)), beside.draw)
        tables.append(claims_page(beside.claims, beside.judge, (texts.cite, texts.link), places))
    tables.append(sources_page(texts, found, model))
    contents = (*_beginning(found, model), *_contents(texts, found, tables))
    first = DocumentPage(CONTENTS, model.protocol, contents)
    return (first, *made, *tables)


def _list_drawn(pages: Iterable[DocumentPage]) -> frozenset[str]:
    """The files of the pictures on some pages."""
    blocks = (block for page in pages for block in page.blocks)
    return frozenset(block.path for block in blocks if isinstance(block, Figure))


def _beginning(found: tuple[Chapter, ...], model: n.Model) -> Iterator[Block]:
    """Where a new reader begins: the chapters with a scenario from picture to picture."""
    books = {scenario.title for scenario in list_picture_books(model)}
    for chapter in found:
        if any(
            isinstance(t.item, sx.ScenarioDecl) and t.item.title in books for t in chapter.topics
        ):
            link = TextRun(chapter.title, target=chapter.name)
            yield Paragraph((TextRun("New here? Begin with "), link, TextRun(".")))


def _contents(
    texts: LinkedTexts, found: tuple[Chapter, ...], tables: Sequence[DocumentPage]
) -> Iterator[Block]:
    """The chapters and tables, and the operations and steps of all chapters."""
    rows = [_row(texts, c.title, c.name, _introduction(c)) for c in found]
    rows += [_row(texts, page.title, page.name, ABOUT[page.name]) for page in tables]
    yield Paragraph(
        (
            TextRun(
                "Each chapter is a file of the charter. To find what a text says, begin with the "
            ),
            TextRun("table of sources", target=SOURCES),
            TextRun(": it leads from each section to its rules, properties and scenarios."),
        )
    )
    yield Table(("chapter", "about"), tuple(rows))
    for kind, title in ((sx.Operation, "Operations"), (sx.StepDecl, "Steps")):
        items = [
            (f"{chapter.name}#{topic.heading.anchor}", item)
            for chapter in found
            for topic in chapter.topics
            for item in topic.items
            if topic.heading is not None and isinstance(item, kind)
        ]
        if items:
            yield Heading(2, title, anchor=title.lower())
            shown = (_row(texts, i.name.text, to, doc_of(i), is_code=True) for to, i in items)
            yield Table((title[:-1].lower(), "what it does"), tuple(shown))


def _row(
    texts: LinkedTexts, title: str, target: str, about: str, *, is_code: bool = False
) -> tuple[Text, ...]:
    match = FIRST_SENTENCE.match(about)
    first = re.sub(":$", ".", " ".join((match[0] if match else about).split()))
    return (TextRun(title, "code" if is_code else "text", target),), texts.link(first)


def _introduction(chapter: Chapter) -> str:
    """The comment that opens a file."""
    comments = [*chapter.file.comments]
    text = "\n".join(line.strip() for line in comments).strip()
    first = chapter.file.declarations[:1]
    return text or "".join(item.section or doc_of(item) for item in first)


def _chapter(texts: LinkedTexts, chapter: Chapter, seen: Seen) -> Iterator[Block]:
    yield from texts.paragraphs("\n".join(line.strip() for line in chapter.file.comments))
    for topic in chapter.topics:
        yield from _topic(texts, chapter.name, topic, seen)


def _topic(texts: LinkedTexts, page: str, topic: Topic, seen: Seen) -> Iterator[Block]:
    if topic.lets:
        yield texts.code(topic.lets)
    if topic.group:
        yield _any_order(texts, topic.group)
    if topic.heading is not None:
        yield topic.heading
    yield from texts.paragraphs(topic.prose)
    item = topic.item
    if item is None:
        return
    here = f"{page}#{topic.heading.anchor}" if topic.heading is not None else ""
    params = {param.name.text for param in getattr(item, "params", ())}
    yield from texts.paragraphs(doc_of(topic.items[0]), params)
    match item:
        case sx.ComponentDecl() | sx.SystemDecl():
            return
        case sx.Operation():
            yield _signature(texts, item, here)
            assumed = [line for line in item.body if isinstance(line, sx.Assume)]
            if assumed:
                yield texts.code(assumed, here)
                yield from texts.sources(tuple(c for line in assumed for c in line.citations))
        case _ if topic.machine:
            yield texts.code(topic.items, here)
            yield from seen.draw_state(topic.machine)
        case sx.ScenarioDecl():
            draw = seen.draw_in(topic.variant) if topic.variant else seen.draw
            yield from () if topic.variant else seen.tell(item.title)
            yield from draw(item.title)
            yield texts.code(topic.items, here)
        case _:
            yield texts.code(topic.items, here)
    cited = getattr(item, "citations", ())
    yield from texts.sources(cited)
    if isinstance(item, sx.MutantDecl):
        yield from _explain_catch(texts, item, seen)
    if isinstance(item, sx.InstanceDecl):
        yield from _failing(texts, item, seen)
    name = getattr(item, "name", None)
    if len(topic.items) == 1 and isinstance(name, sx.Name) and not isinstance(item, sx.Branch):
        yield from texts.uses(name.span, here)


def _explain_catch(texts: LinkedTexts, mutant: sx.MutantDecl, seen: Seen) -> Iterator[Block]:
    """Which property catches a mutant, with the shortest story."""
    row, name = seen.mutants.get(mutant.name.text), mutant.caught_by.text
    caught = f"`{name}` catches it in `{mutant.instance.text}`"
    trace = "" if row is None or row.out_of_date else trace_of(row, name)
    yield Paragraph(texts.link(f"{caught}, by these steps: `{trace}`." if trace else f"{caught}."))
    if row is not None and seen.failure is not None:
        yield from seen.failure(row, name)


def _failing(texts: LinkedTexts, instance: sx.InstanceDecl, seen: Seen) -> Iterator[Block]:
    """How each property fails that fails in an instance, as the charter says."""
    row = seen.instances.get(instance.name.text)
    if row is None or seen.failure is None:
        return
    drawn = {name: tuple(seen.failure(row, name)) for name in row.verdicts}
    broken = {name: blocks for name, blocks in drawn.items() if blocks}
    if broken:
        named = ", ".join(f"`{name}`" for name in broken)
        yield Paragraph(texts.link(f"The shortest story of each that fails here: {named}."))
    for block in chain.from_iterable(broken.values()):
        yield replace(block, is_folded=True) if isinstance(block, Figure) else block


def _any_order(texts: LinkedTexts, group: tuple[sx.Branch, ...]) -> Paragraph:
    """Which branches may be looked at in any order."""
    found = [TextRun("In any order: ")]
    for position, branch in enumerate(group):
        found += [TextRun(", ")] if position else []
        found.append(TextRun(branch.name.text, "code", texts.places.at(branch.span)))
    return Paragraph((*found, TextRun(".")), is_aside=True)


def _signature(texts: LinkedTexts, operation: sx.Operation, here: str) -> CodeBlock:
    """An operation without its body: what stands before the brace that opens it."""
    start = operation.span.start
    first = operation.body[0].span.start if operation.body else operation.span.end
    text = COMMENT.sub(lambda match: "#" * len(match[0]), operation.span.source.text[start:first])
    end = start + len(text[: text.rindex("{")].rstrip())
    span = Span(operation.span.source, start, end)
    return CodeBlock(tuple(texts.pieces(span, here)))
