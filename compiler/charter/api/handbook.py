"""Writes a charter as a handbook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from charter.api.charters import Charter, LoadedRest, load_charter
from charter.api.claims import claims_of
from charter.core import nodes as n
from charter.diagnostics import Refused
from charter.formats.charter_files.claims import BadClaims
from charter.formats.charter_files.verdicts import BadVerdicts
from charter.handbook.build import BesideCharter, pages
from charter.handbook.pictures import failures
from charter.project import pipeline
from charter.project.sources import PLAIN, Missing, Selection, Unreadable
from charter.render.pages.as_html import STYLE, in_html, style
from charter.render.pages.as_markdown import in_markdown
from charter.render.pages.blocks import DocumentPage, Figure

__all__ = ["handbook", "handbook_files", "handbook_pages"]

Form = Literal["html", "markdown"]


def handbook(
    path: Path, form: Form, selection: Selection = PLAIN, rest: LoadedRest | None = None
) -> dict[str, str]:
    """The files of the handbook of a charter, a file or a folder, by their paths below the folder
    that holds it. Raises what `handbook_pages` does."""
    return handbook_files(handbook_pages(path, selection, rest), form)


def handbook_pages(
    path: Path, selection: Selection = PLAIN, rest: LoadedRest | None = None
) -> tuple[DocumentPage, ...]:
    """The pages of the handbook, with verdicts and claims, if they stand beside the charter. `rest`
    is what was loaded of it, with the same selection; None: it is loaded here, and may have no
    errors. Raises `Refused` with every error, `Unreadable`, or `Missing`."""
    rest = rest or LoadedRest(*load_charter(path, selection))
    files = pipeline.flatten(pipeline.parse_or_refuse(rest.charter.sources), selection)
    beside = _beside(path, rest, selection)
    return pages(files, rest.model, _variants(rest.charter), beside)


def handbook_files(made: tuple[DocumentPage, ...], form: Form) -> dict[str, str]:
    """The files that the pages are written to."""
    return {**_texts(made, form), **dict(_draw_pictures(made))}


def _beside(path: Path, rest: LoadedRest, selection: Selection) -> BesideCharter | None:
    """Earlier searches of the charter as it is now, and the claims; None for a variant or a mutant.
    Raises `Unreadable`."""
    if selection != PLAIN:
        return None
    try:
        known = claims_of(rest.charter, path, [one.name for one in rest.broken])
    except (BadClaims, BadVerdicts) as error:
        raise Unreadable(str(error)) from None
    return BesideCharter(known.sections, known.judge, failures(_models(rest.charter)))


def _variants(charter: Charter) -> Callable[[str], n.Model | None]:
    """Gives the core of a variant; None if it has errors."""

    def model_of(variant: str) -> n.Model | None:
        try:
            return charter.model(Selection(variant))
        except (Refused, Missing):
            return None

    return model_of


def _models(charter: Charter) -> Callable[[str, str], n.Model]:
    """Gives the core of a variant or a mutant."""

    @cache
    def mutants() -> Callable[[str], n.Model]:
        return pipeline.mutant_cores(pipeline.parse_or_refuse(charter.sources))

    @cache
    def model_of(variant: str) -> n.Model:
        return charter.model(Selection(variant))

    return lambda variant, mutant: mutants()(mutant) if mutant else model_of(variant)


def _texts(made: tuple[DocumentPage, ...], form: Form) -> dict[str, str]:
    if form == "markdown":
        return {f"{page.name}.md": in_markdown(page) for page in made}
    return {STYLE: style(), **{f"{page.name}.html": in_html(made, page) for page in made}}


def _draw_pictures(made: tuple[DocumentPage, ...]) -> Iterator[tuple[str, str]]:
    for page in made:
        yield from ((block.path, block.svg) for block in page.blocks if isinstance(block, Figure))
