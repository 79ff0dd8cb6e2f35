"""Applies variants, mutants and overlays to the surface tree.

The result is an ordinary protocol. Spans point to where each rule was written: in the protocol or
in the edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from charter.check.edits.apply_edit import Editor
from charter.check.edits.assumed import list_assumed, report_changes
from charter.check.names.declared import declarations
from charter.check.names.edit_names import address_text, overlap
from charter.check.names.scopes import suggest
from charter.diagnostics import Diagnostics, Span
from charter.syntax import nodes as sx


def apply_selection(
    files: sx.Protocol, variant: str, mutant: str, diagnostics: Diagnostics
) -> sx.Protocol:
    """The protocol with the edits of a variant and a mutant ("" for none). Several variants are
    joined by `+`. Errors: `variant/unknown`, `variant/conflict`, `edit/unknown-target`."""
    if variant:
        chosen = select_variants(files, variant.split("+"), diagnostics)
        report_conflicts(chosen, diagnostics)
        for each in chosen:
            files = apply_edits(files, each.edits, diagnostics)
    if mutant:
        known = {n.name.text: n for n in declarations(files) if isinstance(n, sx.MutantDecl)}
        if mutant in known:
            files = apply_edits(files, known[mutant].edits, diagnostics)
        else:
            missing(f"there is no mutant `{mutant}`", mutant, known, _head(files), diagnostics)
    return files


def apply_overlay(
    files: sx.Protocol, overlay: sx.Protocol, entries: Iterable[str], diagnostics: Diagnostics
) -> sx.Protocol:
    """The protocol, which has the functions that the named entries share, with these entries
    applied, in the order of the overlay."""
    wanted = set(entries)
    declared = [n for n in declarations(overlay) if isinstance(n, sx.OverlayDecl)]
    known = {entry.name.text: entry for node in declared for entry in node.entries}
    for name in sorted(wanted - set(known)):
        missing(f"there is no overlay entry `{name}`", name, known, _head(overlay), diagnostics)
    for node in declared:
        for entry in node.entries:
            if entry.name.text in wanted:
                files = apply_edits(files, entry.edits, diagnostics, is_overlay=True)
    return files


def select_overlays(overlay: sx.Protocol, entries: Iterable[str]) -> tuple[sx.OverlayDecl, ...]:
    """The overlays that have one of the named entries."""
    wanted = set(entries)
    declared = (n for n in declarations(overlay) if isinstance(n, sx.OverlayDecl))
    return tuple(n for n in declared if wanted.intersection(e.name.text for e in n.entries))


def with_shared(files: sx.Protocol, overlay: sx.OverlayDecl) -> sx.Protocol:
    """The protocol with the functions that the entries of an overlay share."""
    last = files[-1]
    return (*files[:-1], replace(last, declarations=(*last.declarations, *overlay.functions)))


def component_alone(files: sx.Protocol, component: str) -> sx.Protocol:
    """The protocol without systems, other components, what is declared for these, and scenarios;
    all of it if `component` is ""."""
    if not component:
        return files
    instances = (n for n in declarations(files) if isinstance(n, sx.InstanceDecl))
    places = {n.name.text for n in instances if n.machine.text == component}

    def serves(node: sx.Declaration) -> bool:
        match node:
            case sx.SystemDecl() | sx.ScenarioDecl():
                return False
            case sx.ComponentDecl(name=name):
                return name.text == component
            case sx.MutantDecl(instance=instance):
                return instance.text in places
            case (
                sx.FunDecl(machine=sx.Name() as machine)
                | sx.PropertyDecl(machine=machine)
                | sx.EventuallyDecl(machine=machine)
                | sx.InstanceDecl(machine=machine)
            ):
                return machine.text == component
            case _:
                return True

    return tuple(
        replace(file, declarations=tuple(n for n in file.declarations if serves(n)))
        for file in files
    )


def only_overlay(file: sx.File, diagnostics: Diagnostics) -> sx.OverlayDecl | None:
    """The overlay of a file next to an adapter."""
    declared = [item for item in file.declarations if isinstance(item, sx.OverlayDecl)]
    if len(declared) == 1:
        return declared[0]
    diagnostics.error(
        "variant/unknown",
        f"the file of an adapter's overlay declares {len(declared) or 'no'} overlays",
        file.protocol.span,
        hint="declare one: `overlay NAME of COMPONENT { ... }`",
    )
    return None


def apply_edits(
    files: sx.Protocol,
    edits: Sequence[sx.Edit],
    diagnostics: Diagnostics,
    *,
    is_overlay: bool = False,
) -> sx.Protocol:
    """The protocol with `edits` applied in their order; `is_overlay`: of an overlay's entry."""
    editor = Editor(files, diagnostics, is_overlay=is_overlay)
    assumed = list_assumed(editor.all())
    for edit in edits:
        editor.apply(edit)
        report_changes(assumed, editor.all(), edit.span, diagnostics)
    return editor.result()


def _head(files: sx.Protocol) -> Span:
    return files[0].protocol.span


def missing(
    message: str, name: str, known: Iterable[str], span: Span, diagnostics: Diagnostics
) -> None:
    """Report a variant, mutant or overlay entry that does not exist."""
    diagnostics.error("variant/unknown", message, span, hint=suggest(name, known))


def select_variants(
    files: sx.Protocol, names: Iterable[str], diagnostics: Diagnostics
) -> tuple[sx.VariantDecl, ...]:
    """The variants named, each after those that it builds on."""
    known = {n.name.text: n for n in declarations(files) if isinstance(n, sx.VariantDecl)}
    order: dict[str, sx.VariantDecl] = {}
    open_names: list[str] = []

    def visit(name: str, span: Span) -> None:
        if name not in known:
            missing(f"there is no variant `{name}`", name, known, span, diagnostics)
        elif name in open_names:
            message = f"`{name}` stands after itself"
            diagnostics.error("variant/conflict", message, span)
        elif name not in order:
            open_names.append(name)
            for base in known[name].after:
                visit(base.text, base.span)
            open_names.pop()
            order[name] = known[name]

    for name in names:
        visit(name, _head(files))
    return tuple(order.values())


def report_conflicts(chosen: Sequence[sx.VariantDecl], diagnostics: Diagnostics) -> None:
    """Report two variants, or two edits of one, that change the same rule without an order between
    them."""
    after = {node.name.text: {base.text for base in node.after} for node in chosen}
    for node in chosen:  # bases come first, so their sets are already complete
        name = node.name.text
        after[name] |= {far for base in after[name] for far in after.get(base, ())}
    changes: list[tuple[str, str, Span]] = []
    for node in chosen:
        name = node.name.text
        for edit in node.edits:
            if isinstance(edit, sx.Add | sx.AddFault):
                continue
            address = address_text(edit)
            for other, before, span in changes:
                if before not in after[name] and overlap(address, other):
                    _conflict(address, before, span, edit.span, diagnostics)
            changes.append((address, name, edit.span))


def _conflict(address: str, other: str, before: Span, span: Span, diagnostics: Diagnostics) -> None:
    message = f"`{address}` is changed by `{other}` too"
    hint = f"say which comes last: `after {other}`"
    notes = (("it is changed here", before),)
    diagnostics.error("variant/conflict", message, span, hint=hint, notes=notes)
