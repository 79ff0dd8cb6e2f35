"""The pipeline as data: parse, apply edits, check, then passes, with core validated after each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from charter.check.checker import check_everything, check_protocol
from charter.check.flatten import apply_overlay, apply_selection
from charter.diagnostics import Diagnostics
from charter.ir import nodes as ir
from charter.ir.valid import validate
from charter.passes import PASSES
from charter.source import Source
from charter.syntax import nodes as sx
from charter.syntax.parse import parse


@dataclass(frozen=True, slots=True)
class Choice:
    """Which edits to apply: names of a variant and a mutant ("" for none), entries of an overlay
    and the sources that declare them."""

    variant: str = ""
    mutant: str = ""
    overlay: tuple[Source, ...] = ()
    entries: tuple[str, ...] = ()


def parse_all(sources: Sequence[Source], diagnostics: Diagnostics) -> sx.Protocol:
    """The trees of all files that have one; syntax errors go to `diagnostics`."""
    trees = (parse(source, diagnostics) for source in sources)
    return tuple(tree for tree in trees if tree is not None)


def flatten(sources: Sequence[Source], choice: Choice, diagnostics: Diagnostics) -> sx.Protocol:
    """The trees with the chosen edits applied. Raises `Refused` on errors."""
    files = parse_all(sources, diagnostics)
    overlay = parse_all(choice.overlay, diagnostics)
    diagnostics.refuse_if_any()
    files = apply_selection(files, choice.variant, choice.mutant, diagnostics)
    if choice.entries:
        files = apply_overlay(files, overlay, choice.entries, diagnostics)
    diagnostics.refuse_if_any()
    return files


def compile_sources(sources: Sequence[Source], choice: Choice) -> ir.Model:
    """The core of a protocol with the chosen edits. Raises `Refused` with all errors found."""
    diagnostics = Diagnostics()
    files = flatten(sources, choice, diagnostics)
    model = check_protocol(files, choice.variant, diagnostics)
    diagnostics.refuse_if_any()
    return run_passes(model)


def run_passes(model: ir.Model) -> ir.Model:
    """All passes in order. Raises `InvalidCore` if one of them breaks core."""
    validate(model, "elaboration")
    for name, run in PASSES:
        model = run(model)
        validate(model, f"pass {name}")
    return model


def check_sources(sources: Sequence[Source]) -> Diagnostics:
    """Every error of a protocol, in all its variants and mutants."""
    diagnostics = Diagnostics()
    files = parse_all(sources, diagnostics)
    if len(files) == len(sources):
        check_everything(files, diagnostics)
    return diagnostics


def as_one_file(files: sx.Protocol) -> sx.File:
    """All declarations of a protocol in one file."""
    declarations = tuple(item for file in files for item in file.declarations)
    first = files[0]
    return sx.File(first.protocol, declarations, comments=first.comments, span=first.span)
