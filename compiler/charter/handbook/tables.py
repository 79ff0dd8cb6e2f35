"""Pages of a handbook that are tables: sources and what cites them, properties and where they
hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from charter.core import nodes as n
from charter.handbook.outline import PROPERTIES, SOURCES, Chapter
from charter.handbook.texts import SILENT, LinkedTexts
from charter.handbook.verdict_tables import KINDS, LIVENESS
from charter.render.pages.blocks import (
    Block,
    DocumentPage,
    Heading,
    Paragraph,
    Table,
    Text,
    TextRun,
    slug,
)
from charter.syntax import nodes as sx

Citing = dict[tuple[str, str], dict[str, list[str]]]
"""The places that cite a section of a source, by the column that they are in."""
COLUMNS = ("rules", "properties", "scenarios and variants")


def sources_page(texts: LinkedTexts, found: tuple[Chapter, ...], model: n.Model) -> DocumentPage:
    """Each source with its sections and what cites them: rules, properties, scenarios and
    variants; what no text says last."""
    cited = _cite(found)
    blocks: list[Block] = []
    for name, title in model.sources:
        blocks.append(Heading(2, name, anchor=slug(name)))
        blocks.append(Paragraph((TextRun(title, target=texts.address(name, "")),)))
        sections = sorted((s for source, s in cited if source == name), key=_natural)
        rows = [
            (
                (TextRun(section or "the text", target=texts.address(name, section)),),
                *(tuple(texts.list_links(cited[name, section][c], most=0)) for c in COLUMNS),
            )
            for section in sections
        ]
        if rows:
            blocks.append(Table(("section", *COLUMNS), tuple(rows)))
    blocks.append(Heading(2, SILENT, is_code=True, anchor=SILENT))
    blocks.append(
        Paragraph(
            (TextRun("What no text says, or what needs none, such as names for properties."),)
        )
    )
    for column, places in cited.get((SILENT, ""), {}).items():
        if places:
            named = TextRun(f"{column.capitalize()}: ")
            blocks.append(Paragraph((named, *texts.list_links(places, most=0))))
    return DocumentPage(SOURCES, "Table of sources", tuple(blocks))


def _cite(found: tuple[Chapter, ...]) -> Citing:
    cited: Citing = {}
    for chapter in found:
        for topic in chapter.topics:
            for item in (topic.item, *topic.items[1:]):
                for each in getattr(item, "citations", ()):
                    assert isinstance(each, sx.Citation)
                    if topic.heading is not None:
                        key = each.source, each.section
                        columns = cited.setdefault(key, {column: [] for column in COLUMNS})
                        places = columns[_column(item)]
                        target = f"{chapter.name}#{topic.heading.anchor}"
                        if target not in places:
                            places.append(target)
    return cited


def _column(item: object) -> str:
    """Where on the page of sources a declaration is listed."""
    match item:
        case sx.PropertyDecl() | sx.EventuallyDecl():
            return COLUMNS[1]
        case sx.ScenarioDecl() | sx.VariantDecl() | sx.MutantDecl() | sx.FragmentDecl():
            return COLUMNS[2]
        case _:
            return COLUMNS[0]


def _natural(section: str) -> tuple[tuple[int, str], ...]:
    """`§6.10` after `§6.9`."""
    parts = re.findall(r"\d+|\D+", section)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)


def properties_page(texts: LinkedTexts, model: n.Model) -> DocumentPage:
    """Each property and in which instances the charter says that it holds."""
    blocks: list[Block] = [
        Paragraph(texts.link(
            "What the charter says of its instances: `conform explore` searches them, and ends with"
            " an exit code that is not 0 if one of these lines is wrong. A property that must hold"
            " holds in every state of each instance of its machine but those that are named; what"
            " must be possible happens in each but those."
        )),
    ]  # fmt: skip
    machines = [c.name for c in model.components] + [s.name for s in model.systems]
    for machine in machines:
        instances = [i for i in model.instances if i.machine == machine]
        rows = list(_rows(texts, model, machine, instances))
        if rows:
            blocks.append(Heading(2, machine, anchor=machine))
            names = ", ".join(f"`{i.name}`" for i in instances) or "none"
            blocks.append(Paragraph(texts.link(f"Instances: {names}.")))
            blocks.append(Table(("property", "kind", "says", "not in"), tuple(rows)))
    return DocumentPage(PROPERTIES, "Table of properties", tuple(blocks))


def _rows(
    texts: LinkedTexts, model: n.Model, machine: str, instances: Iterable[n.Instance]
) -> Iterator[tuple[Text, ...]]:
    listed: list[tuple[str, str, str]] = [
        (p.name, KINDS[p.kind], p.doc) for p in model.properties if p.machine == machine
    ]
    listed += [(e.name, LIVENESS, e.doc) for e in model.liveness if e.machine == machine]
    for name, kind, doc in listed:
        fails = ", ".join(f"`{i.name}`" for i in instances if name in i.fails)
        misses = ", ".join(f"`{i.name}`" for i in instances if name in i.misses)
        unlike = [f"fails in {fails}"] if fails else []
        unlike += [f"listed under `misses` of {misses}"] if misses else []
        said = (f"`{name}`", " ".join(doc.split()), "; ".join(unlike))
        called, says, but = map(texts.link, said)
        yield called, (TextRun(kind),), says, but
