"""Checks, formats and flattens texts of charters, and compiles them to core."""

from __future__ import annotations

from pathlib import Path

from charter.core import nodes as ir
from charter.diagnostics import Diagnostics, Source
from charter.project import pipeline
from charter.project.sources import (
    Missing,
    Selection,
    Unreadable,
    beside,
    find_whole,
    read_source,
    read_sources,
)
from charter.syntax import nodes as sx
from charter.syntax.show import show


def compile_core(sources: tuple[Source, ...], selection: Selection) -> ir.Model:
    """The core of texts with a selection applied. Raises `Refused` with every error, or
    `Missing`."""
    files = pipeline.parse_or_check(sources)
    refuse_unknown(files, selection)
    return pipeline.compile_files(files, selection)


def with_state_condition(
    sources: tuple[Source, ...],
    selection: Selection,
    model: ir.Model,
    instance: ir.Instance,
    expression: str,
) -> ir.Model:
    """`model`, compiled from the same sources and selection, with a condition on the states of an
    instance. Raises `Refused` with every error of the expression."""
    files = pipeline.parse_or_refuse(sources)
    return pipeline.with_state_condition(files, selection, model, instance, expression)


def refuse_unknown(files: sx.Protocol, selection: Selection) -> None:
    """Raises `Missing` if the files do not declare the chosen variant or mutant."""
    variants, mutants = (pipeline.edits_of(files, of) for of in (sx.VariantDecl, sx.MutantDecl))
    wanted = [("variant", name, variants) for name in selection.variant.split("+")]
    for kind, name, known in (*wanted, ("mutant", selection.mutant, mutants)):
        if name and name not in known:
            there_are = ", ".join(known) or "none"
            raise Missing(f"there is no {kind} {name!r}; there are: {there_are}")


def refuse_part(path: Path, found: Diagnostics) -> None:
    """Raises `Unreadable` if a file has errors because it was read without the other files of its
    folder: they belong to the same protocol and declare a name that it lacks."""
    if not found.errors or not path.is_file():
        return
    names = {span.source.text[span.start : span.end] for span in (e.span for e in found.errors)}
    for missing in pipeline.list_declared_by(read_source(path), list(beside(path))):
        if missing.name in names:
            raise Unreadable(
                f"{path.as_posix()} is one of the files of {missing.protocol}: {missing.name} is"
                f" declared in {Path(missing.source).name}; give the folder:"
                f" {find_whole(path.parent, missing.protocol).as_posix()}"
            )


def check_files(path: Path, sources: tuple[Source, ...]) -> Diagnostics:
    """Check a charter that was read from `path`, its variants and mutants; returns the diagnostics.
    Raises `Unreadable`."""
    found = pipeline.check_texts(sources)
    refuse_part(path, found)
    return found


def check_overlay_files(path: Path, overlay: Path) -> Diagnostics:
    """Read and check an overlay of the charter at `path`. Raises `Unreadable`."""
    return pipeline.check_overlay_texts(read_sources(path), read_sources(overlay))


def flatten_text(path: Path, variant: str) -> str:
    """The text of a charter with a variant applied. Raises `Refused`, `Unreadable` or `Missing`."""
    files = pipeline.parse_or_refuse(read_sources(path))
    selection = Selection(variant)
    refuse_unknown(files, selection)
    files = pipeline.flatten(files, selection)
    return show(pipeline.as_one_file(files))


def format_text(source: Source) -> str:
    """The formatted text of one file. Raises `Refused` on a syntax error."""
    (tree,) = pipeline.parse_or_refuse((source,))
    return show(tree)
