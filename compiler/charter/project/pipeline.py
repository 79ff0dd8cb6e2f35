"""Runs the compiler pipeline: parse, apply edits, check, run passes. Core is validated at the
end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from charter.analysis.preludes import check_preludes
from charter.analysis.shared_outcomes import SharedOutcomes
from charter.check.declarations.check_context import Elaborated
from charter.check.declarations.elaborate import (
    elaborate_declarations,
    elaborate_edited,
    overlay_entry,
)
from charter.check.edits.flatten import (
    apply_overlay,
    apply_selection,
    component_alone,
    only_overlay,
    select_overlays,
    with_shared,
)
from charter.check.names.follow_ups import without_follow_ups
from charter.check.protocol import (
    Further,
    check_edited,
    check_entries,
    check_mutants,
    check_protocol,
    check_with_edits,
)
from charter.check.state_condition import state_condition, state_expression
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.affected import find_affected
from charter.diagnostics import Diagnostic, Diagnostics, Refused, Source, Span
from charter.passes import run_rich
from charter.project.sources import Selection
from charter.project.tree_cache import parse_file
from charter.semantics.scenario import failing
from charter.syntax import nodes as sx


def parse_all(sources: Sequence[Source], diagnostics: Diagnostics) -> sx.Protocol:
    """The trees of all files that have one, without the declarations that have syntax errors; these
    go to `diagnostics`."""
    found = [_tree(source) for source in sources]
    diagnostics.items += [item for _, errors in found for item in errors]
    return tuple(tree for tree, _ in found if tree is not None)


@lru_cache(maxsize=256)
def _tree(source: Source) -> tuple[sx.File | None, tuple[Diagnostic, ...]]:
    """Cached: when a charter is checked again, most of its files are as they were."""
    return parse_file(source)


def parse_or_refuse(sources: Sequence[Source]) -> sx.Protocol:
    """The trees of all files. Raises `Refused` on syntax errors."""
    return _parse(tuple(sources))


def parse_or_check(sources: Sequence[Source]) -> sx.Protocol:
    """The trees of all files. Raises `Refused` on syntax errors, with these and with the errors of
    what can be parsed; its variants and mutants are not checked."""
    try:
        return parse_or_refuse(sources)
    except Refused as refused:
        diagnostics = Diagnostics([*refused.diagnostics.items])
    files = parse_all(sources, Diagnostics())
    if len(files) == len(sources):
        found = Diagnostics()
        check_protocol(files, "", found)
        diagnostics.items += without_follow_ups(files, found).items
    raise Refused(diagnostics)


@lru_cache(maxsize=8)
def _parse(sources: tuple[Source, ...]) -> sx.Protocol:
    """Cached: callers apply one edit after another to the same texts."""
    diagnostics = Diagnostics()
    files = parse_all(sources, diagnostics)
    diagnostics.refuse_if_any()
    return files


def flatten(files: sx.Protocol, selection: Selection) -> sx.Protocol:
    """The trees with the chosen edits applied. Raises `Refused` on errors."""
    return _apply_edits(_before_edits(files, selection), selection)


def _before_edits(files: sx.Protocol, selection: Selection) -> sx.Protocol:
    """The trees with the variant, and with the functions that the chosen entries share."""
    diagnostics = Diagnostics()
    files = apply_selection(files, selection.variant, "", diagnostics)
    diagnostics.refuse_if_any()
    for overlay in select_overlays(parse_or_refuse(selection.overlay), selection.entries):
        files = with_shared(files, overlay)
    return files


def _apply_edits(files: sx.Protocol, selection: Selection) -> sx.Protocol:
    """The same trees with the mutant and the entries applied."""
    diagnostics = Diagnostics()
    files = apply_selection(files, "", selection.mutant, diagnostics)
    if selection.entries:
        overlay = parse_or_refuse(selection.overlay)
        files = apply_overlay(files, overlay, selection.entries, diagnostics)
    diagnostics.refuse_if_any()
    return files


def compile_sources(sources: Sequence[Source], selection: Selection) -> ir.Model:
    """The core of texts with the chosen edits. Raises `Refused` with all errors found."""
    return compile_files(parse_or_refuse(sources), selection)


def compile_files(files: sx.Protocol, selection: Selection) -> ir.Model:
    """The core of a protocol with the chosen edits. Raises `Refused` with all errors found."""
    diagnostics = Diagnostics()
    if selection.mutant or selection.entries:
        overlays = select_overlays(parse_or_refuse(selection.overlay), selection.entries)
        beside = tuple(entry.name.text for overlay in overlays for entry in overlay.entries)
        before = replace(selection, mutant="", entries=beside)
        base, earlier = _elaborate(tuple(file.span.source for file in files), before)
        edited = component_alone(_apply_edits(base, selection), selection.component)
        model = check_edited(edited, selection.variant, diagnostics, earlier)
        if selection.mutant and not selection.variant:  # a variant may drop the property
            check_mutants(files, model, diagnostics, selection.mutant)
    else:
        edited, earlier = flatten(files, selection), None
        if selection.variant:  # a charter that is not edited needs a witness, of any machine
            edited = component_alone(edited, selection.component)
            before = replace(selection, variant="")
            _, earlier = _elaborate(tuple(file.span.source for file in files), before)
        model = check_protocol(edited, selection.variant, diagnostics, earlier)
    diagnostics.refuse_if_any()
    return run_rich(model)


def mutant_cores(files: sx.Protocol) -> Callable[[str], ir.Model]:
    """Gives the core of each mutant as the check leaves it, without scenarios and variants: to
    tell a story of each takes a tenth of the time that it takes to compile it. `files` have no
    errors. Raises `Refused` for a mutant that has some."""
    left_out = sx.ScenarioDecl | sx.FragmentDecl | sx.VariantDecl
    bare = tuple(
        replace(
            file, declarations=tuple(d for d in file.declarations if not isinstance(d, left_out))
        )
        for file in files
    )
    earlier = elaborate_declarations(bare)

    def core(mutant: str) -> ir.Model:
        diagnostics = Diagnostics()
        edited = apply_selection(bare, "", mutant, diagnostics)
        model = elaborate_edited(edited, "", diagnostics, earlier)
        diagnostics.refuse_if_any()
        return model

    return core


@lru_cache(maxsize=8)
def _elaborate(sources: tuple[Source, ...], before: Selection) -> tuple[sx.Protocol, Elaborated]:
    """The trees before a mutant or entries are applied, and their core. Cached, like the trees:
    what an edit leaves as it is is elaborated once. `before` names all entries of an overlay."""
    files = _before_edits(_parse(sources), before)
    return files, elaborate_declarations(component_alone(files, before.component), before.variant)


def with_state_condition(
    files: sx.Protocol, selection: Selection, model: ir.Model, instance: ir.Instance, text: str
) -> ir.Model:
    """`model`, compiled from `files` with the chosen edits, with a witness named `ASKED` for the
    states of `instance` in which the expression `text` is true. Raises `Refused` with all errors of
    the expression; their spans are in `text`."""
    diagnostics = Diagnostics()
    asked = _check_expression(model, instance, Source("--where", text), diagnostics)
    if asked.node is not None:
        edited = flatten(files, selection)
        prop = state_condition(edited, model, instance, asked.node, diagnostics)
        if not diagnostics.errors:
            prop = replace(prop, span=Span(asked.shown, 0, len(text)))
            return run_rich(replace(model, properties=(*model.properties, prop)))
    raise asked.refuse(diagnostics)


def state_expression_of(
    files: sx.Protocol,
    model: ir.Model,
    instance: ir.Instance,
    text: str,
    names: Mapping[str, ty.Type],
) -> ir.Expr:
    """The core of an expression that reads one state of an instance, and may use further `names`.
    `files` are those of the model, whose edits have been applied. Raises `Refused` with all
    errors; their spans are in `text`."""
    diagnostics = Diagnostics()
    asked = _check_expression(model, instance, Source("expression", text), diagnostics)
    if asked.node is not None:
        found = state_expression(files, (model, instance), asked.node, names, diagnostics)
        if not diagnostics.errors:
            return found
    raise asked.refuse(diagnostics)


@dataclass(frozen=True, slots=True)
class _GivenExpression:
    """An expression of the command line: its tree (None after a syntax error), the charter around
    it that was parsed, and the text alone, which errors show."""

    node: sx.Expr | None
    whole: Source
    shown: Source

    def refuse(self, diagnostics: Diagnostics) -> Refused:
        """The errors, with their spans in the text alone."""
        by = len(self.whole.text) - len(self.shown.text)
        return Refused(
            Diagnostics([_move(item, self.whole, self.shown, by) for item in diagnostics])
        )


def _check_expression(
    model: ir.Model, instance: ir.Instance, shown: Source, diagnostics: Diagnostics
) -> _GivenExpression:
    head = f"protocol {model.protocol}\nalways asked of {instance.machine}: "
    whole = Source("", head + shown.text)
    from charter.syntax.parse import parse  # what is cached needs no parser

    tree = parse(whole, diagnostics)
    if tree is None:
        return _GivenExpression(None, whole, shown)
    node, *more = tree.declarations
    assert isinstance(node, sx.PropertyDecl)
    if more:
        diagnostics.error("syntax/unexpected", "one expression is expected", more[0].span)
    return _GivenExpression(node.body, whole, shown)


def _move(item: Diagnostic, whole: Source, shown: Source, by: int) -> Diagnostic:
    """A diagnostic with its spans in `whole` moved to `shown`, the part of it that starts at
    `by`."""

    def move(span: Span) -> Span:
        if span.source is not whole:
            return span
        start = max(0, min(span.start - by, len(shown.text)))
        return Span(shown, start, max(span.end - by, start + 1))

    notes = tuple((text, move(span)) for text, span in item.notes)
    return replace(item, span=move(item.span), notes=notes)


def check_texts(sources: Sequence[Source]) -> Diagnostics:
    """Parse and check a protocol with all its variants and mutants, and execute its scenarios;
    returns all diagnostics."""
    diagnostics = Diagnostics()
    files = parse_all(sources, diagnostics)
    if len(files) == len(sources):
        found = Diagnostics()
        check_with_edits(files, found, scenarios_checked())
        diagnostics.items += without_follow_ups(files, found).items
    return diagnostics


_REMEDY = "change the lines of the prelude, or the `start` lines"


def scenarios_checked() -> Further:
    """A check that reports every scenario which fails on the definition, and every prelude that
    does not lead to the start of its instance; of a variant, only those that it affects: the others
    were followed in the unedited protocol. The protocol and its variants share the outcomes of what
    they do alike."""
    shared = SharedOutcomes()

    def check(model: ir.Model, unedited: ir.Model | None, diagnostics: Diagnostics) -> None:
        followed = model.scenarios if unedited is None else find_affected(unedited, model)
        machine_of = shared.among(model)
        for found in failing(replace(model, scenarios=followed), machine_of=machine_of):
            diagnostics.error("scenario/fails", found.sentence(), found.span)
        for problem in check_preludes(model, unedited, machine_of):
            diagnostics.error("instance/prelude", problem.sentence, problem.span, hint=_REMEDY)

    return check


def check_overlay_texts(sources: Sequence[Source], overlay: Sequence[Source]) -> Diagnostics:
    """Parse a protocol and files with overlays, and check these overlays; returns all
    diagnostics."""
    diagnostics = Diagnostics()
    files = parse_all(sources, diagnostics)
    entries = parse_all(overlay, diagnostics)
    if len(files) == len(sources):
        model = check_protocol(files, "", diagnostics)
        for node in overlays_of(entries):
            check_entries(files, node, model, diagnostics)
    return diagnostics


@dataclass(frozen=True, slots=True)
class Declared:
    """A name that a file of a protocol declares."""

    name: str
    protocol: str
    source: str


def list_declared_by(of: Source, others: Sequence[Source]) -> Iterator[Declared]:
    """The names that other files of the same protocol declare. Declarations with syntax errors and
    files of other protocols are ignored, and so are copies of the file: those that declare half of
    its names or more."""
    ignored = Diagnostics()
    for tree in parse_all((of,), ignored):
        own = _list_declared(tree)
        for source in others:
            for file in parse_all((source,), ignored):
                found = _list_declared(file)
                is_copy = 2 * len(found.keys() & own.keys()) >= len(own) > 0
                if file.protocol.text == tree.protocol.text and not is_copy:
                    for name in found:
                        if name not in own:
                            yield Declared(name, file.protocol.text, source.name)


def _list_declared(file: sx.File) -> dict[str, None]:
    """The names that a file declares, in its order."""
    named = (item for item in file.declarations if not isinstance(item, sx.ScenarioDecl))
    return {item.name.text: None for item in named}


def edits_of(files: sx.Protocol, kind: type[sx.VariantDecl | sx.MutantDecl]) -> tuple[str, ...]:
    """The names of the variants, or of the mutants, that files declare."""
    found = (item for file in files for item in file.declarations)
    return tuple(item.name.text for item in found if isinstance(item, kind))


def overlays_of(files: sx.Protocol) -> tuple[sx.OverlayDecl, ...]:
    """The overlays that files declare."""
    found = (item for file in files for item in file.declarations)
    return tuple(item for item in found if isinstance(item, sx.OverlayDecl))


@dataclass(frozen=True, slots=True)
class OverlayHead:
    """The head of an overlay: its name, its protocol and component, and the names of its
    entries."""

    name: str
    protocol: str
    component: str
    entries: tuple[ir.OverlayEntry, ...]


def overlay_head(source: Source) -> OverlayHead:
    """The head of the only overlay in a file. Raises `Refused` on syntax errors, and if the file
    declares no overlay or several."""
    (file,) = parse_or_refuse((source,))
    diagnostics = Diagnostics()
    node = only_overlay(file, diagnostics)
    diagnostics.refuse_if_any()
    assert node is not None
    entries = tuple(overlay_entry(entry) for entry in node.entries)
    return OverlayHead(node.name.text, file.protocol.text, node.component.text, entries)


def overlay_entries(sources: Sequence[Source]) -> tuple[ir.OverlayEntry, ...]:
    """The heads of the entries of an overlay. Raises `Refused` on syntax errors."""
    files = parse_or_refuse(sources)
    return tuple(overlay_entry(entry) for node in overlays_of(files) for entry in node.entries)


def as_one_file(files: sx.Protocol) -> sx.File:
    """All declarations of a protocol in one file, without variants and mutants: they have been
    applied, or are meant for the plain protocol."""
    found = (item for file in files for item in file.declarations)
    edits = (sx.VariantDecl, sx.MutantDecl)
    declarations = tuple(item for item in found if not isinstance(item, edits))
    first = files[0]
    return sx.File(first.protocol, declarations, comments=first.comments, span=first.span)
