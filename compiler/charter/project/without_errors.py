"""Drops scenarios, instances and mutants that have errors, so that commands can use the rest. If
anything else has an error, nothing can be used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from charter.core import nodes as ir
from charter.diagnostics import Diagnostics, Refused, Source, Span
from charter.project.core_cache import core_of
from charter.project.pipeline import parse_all
from charter.project.sources import Selection
from charter.syntax import nodes as sx
from charter.syntax.mistakes.recovery import blank_out, head_of

Kind = Literal["scenario", "instance", "mutant"]
"""Declarations of which each is about something of its own."""


@dataclass(frozen=True, slots=True)
class BrokenDeclaration:
    """A declaration that has errors; a scenario is named by its title. `where`: its place, if its
    name cannot be read."""

    kind: Kind
    name: str
    where: str = ""

    @property
    def told(self) -> str:
        """As messages name it."""
        if self.where:
            return f"{self.kind} at {self.where}"
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
    remains stands where it stood. An edit that drops a scenario goes with it. Others may name what
    is left out, so errors can remain (`compile_rest`)."""
    files = parse_all(sources, Diagnostics())
    if len(files) < len(sources):
        return None
    single = {span: one for file in files for span, one in _single(file)}
    spans = {span for file in files for span in file.broken}
    # An error of syntax may be told where the next declaration begins.
    others = [e for e in found.items if e.severity == "error" and not e.code.startswith("syntax/")]
    for error in others:
        spans.add(next((span for span in single if span.holds(error.span)), error.span))
    if not spans <= single.keys():
        return None
    broken = tuple(one for span, one in single.items() if span in spans)
    instances = tuple(one.name for one in single.values() if one.kind == "instance")
    spans |= {*_drops(files, {one.name for one in broken if one.kind == "scenario"})}
    return Rest(tuple(blank_out(source, spans) for source in sources), broken, instances)


def compile_rest(
    sources: Sequence[Source], selection: Selection, found: Diagnostics
) -> tuple[Rest, ir.Model] | None:
    """What remains without errors, and its core: also without what names something that is left
    out, as a mutant names its instance. None if an error lies elsewhere. Raises `Missing`."""
    rest = without_errors(sources, found)
    while rest is not None:
        try:
            return rest, core_of(rest.sources, selection)
        except Refused as refused:
            more = without_errors(rest.sources, refused.diagnostics)
            left_out = (*rest.broken, *(more.broken if more else ()))
            rest = more and replace(more, broken=left_out, instances=rest.instances)
    return None


def _drops(files: sx.Protocol, titles: Collection[str]) -> Iterator[Span]:
    """The edits that drop scenarios with these titles."""
    for file in files:
        for node in file.declarations:
            edits = node.edits if isinstance(node, sx.VariantDecl | sx.MutantDecl) else ()
            drops = (edit for edit in edits if isinstance(edit, sx.Drop))
            yield from (
                edit.span for edit in drops if edit.what == "scenario" and edit.name.text in titles
            )


def _single(file: sx.File) -> Iterator[tuple[Span, BrokenDeclaration]]:
    """The scenarios, instances and mutants of a file in their order, also those that cannot be
    parsed."""
    found: list[tuple[Span, BrokenDeclaration]] = []
    for node in file.declarations:
        match node:
            case sx.ScenarioDecl():
                found.append((node.span, BrokenDeclaration("scenario", node.title)))
            case sx.InstanceDecl():
                found.append((node.span, BrokenDeclaration("instance", node.name.text)))
            case sx.MutantDecl():
                found.append((node.span, BrokenDeclaration("mutant", node.name.text)))
            case _:
                pass
    for span in file.broken:
        match head_of(span):
            case ("scenario" | "instance" | "mutant") as kind, name:
                where = "" if name else span.where()
                found.append((span, BrokenDeclaration(kind, name, where)))
            case _:
                pass
    yield from sorted(found, key=lambda one: one[0].start)
