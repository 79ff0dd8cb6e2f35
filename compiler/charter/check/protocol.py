"""Runs all checks of one protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from charter.check.declarations import machines
from charter.check.declarations.check_context import Elaborated
from charter.check.declarations.elaborate import (
    check_citations,
    elaborate,
    elaborate_declarations,
    elaborate_edited,
)
from charter.check.edits.changes import elaborate_changes
from charter.check.edits.flatten import apply_edits, report_conflicts, select_variants, with_shared
from charter.check.names.declared import declarations
from charter.check.names.scopes import suggest
from charter.check.names.unchanged import Unchanged
from charter.check.numbers.ranges import check_ranges
from charter.check.warnings.effects import check_component, check_faults, check_system, ghosts_of
from charter.check.warnings.function_costs import check_costs
from charter.check.warnings.look_alikes import check_look_alikes
from charter.check.warnings.replies import check_replies
from charter.check.warnings.required_bounds import check_bounds
from charter.core import nodes as ir
from charter.core.walk import nodes
from charter.diagnostics import Diagnostic, Diagnostics, Span
from charter.syntax import nodes as sx

Further = Callable[[ir.Model, ir.Model | None, Diagnostics], None]
"""A check of core that has no errors; of a variant, with the core without it."""


def check_protocol(
    files: sx.Protocol,
    variant: str,
    diagnostics: Diagnostics,
    earlier: Elaborated | None = None,
    checked: ir.Model | None = None,
) -> ir.Model:
    """The core of a protocol whose edits have been applied. If there are errors in `diagnostics`,
    the result must not be used. What means the same in an `earlier` elaboration is not elaborated
    again, nor are its numbers checked again if its core was `checked` and has no errors."""
    model = elaborate(files, variant, diagnostics, earlier)
    functions = {function.name: function for function in model.functions}
    for component in model.components:
        check_component(component, functions, diagnostics)
        check_look_alikes(component, diagnostics)
    for system in model.systems:
        check_system(system, functions, diagnostics)
    check_ranges(model, diagnostics, checked)
    check_bounds(model, diagnostics)
    _recursion(model.functions, diagnostics)
    check_costs(model.functions, diagnostics)
    if not variant:
        _witness(files, model, diagnostics)
        check_mutants(files, model, diagnostics)
    return model


def check_edited(
    files: sx.Protocol, variant: str, diagnostics: Diagnostics, earlier: Elaborated
) -> ir.Model:
    """The same for a protocol with the edits of a mutant or an overlay: names and types are
    checked, but not whether a branch is shadowed or a choice can be empty. `earlier` is the
    elaboration of the protocol without them."""
    model = elaborate_edited(files, variant, diagnostics, earlier)
    for component in model.components:
        check_faults(component, ghosts_of(component), diagnostics)
    check_bounds(model, diagnostics)
    _recursion(model.functions, diagnostics)
    check_costs(model.functions, diagnostics)
    return model


def check_with_edits(files: sx.Protocol, diagnostics: Diagnostics, further: Further) -> ir.Model:
    """Check the protocol, and the protocol edited by each of its variants, mutants and overlay
    entries. The cores of the protocol and of each variant without errors are given to the `further`
    checks. Returns the core of the unedited protocol."""
    earlier = elaborate_declarations(files)
    model = check_protocol(files, "", diagnostics, earlier)
    unedited = None if diagnostics.errors else model
    if unedited is not None:
        check_replies(files, model, diagnostics)
        further(model, None, diagnostics)
    base = frozenset(diagnostics.items)
    for node in declarations(files):
        match node:
            case sx.VariantDecl():
                check_citations(node.citations, dict(model.sources), diagnostics)
                title = (f"in variant `{node.name.text}`", node.name.span)
                fresh = _Fresh(title, base, diagnostics)
                edited = _variant(files, node, fresh, (earlier, unedited))
                if not fresh.found.errors:
                    further(edited, unedited, fresh.found)
                fresh.close()
            case sx.MutantDecl():
                title = (f"in mutant `{node.name.text}`", node.name.span)
                fresh = _Fresh(title, base, diagnostics)
                edited_files = apply_edits(files, node.edits, fresh.found)
                _check_mutant(edited_files, earlier.unchanged, model, fresh)
            case sx.OverlayDecl():
                check_entries(files, node, model, diagnostics)
            case _:
                pass
    return model


def check_entries(
    files: sx.Protocol,
    overlay: sx.OverlayDecl,
    model: ir.Model,
    diagnostics: Diagnostics,
) -> None:
    """Check each entry of an overlay, applied alone to the protocol, whose core is `model`."""
    base = frozenset(diagnostics.items)
    known = [component.name for component in model.components]
    if overlay.component.text not in known:
        message = f"there is no component `{overlay.component.text}`"
        hint = suggest(overlay.component.text, known)
        diagnostics.error("name/unknown", message, overlay.component.span, hint=hint)
    shared = with_shared(files, overlay)
    unchanged = Unchanged(files, machines.collect(files, Diagnostics())[0])
    for entry in overlay.entries:
        title = (f"in overlay entry `{entry.name.text}`", entry.name.span)
        check_citations(entry.citations, dict(model.sources), diagnostics)
        _reason(entry, diagnostics)
        fresh = _Fresh(title, base, diagnostics)
        edited = apply_edits(shared, entry.edits, fresh.found, is_overlay=True)
        _check_mutant(edited, unchanged, model, fresh)


def _reason(entry: sx.OverlayEntry, diagnostics: Diagnostics) -> None:
    """Report an entry that says that a difference is no defect, and not by what that is known."""
    if entry.verdict == "by_design" and all(c.source == "silent" for c in entry.citations):
        message = f"`{entry.name.text}` is `by_design`, and no place is cited that says so"
        hint = (
            'cite it: `cites SOURCE "place"`, such as documentation, a ticket, a unit test or a'
            " comment in the code"
        )
        diagnostics.error("edit/no-reason", message, entry.name.span, hint=hint)
    if entry.verdict == "harmless" and not entry.evidence:
        message = f"`{entry.name.text}` is `harmless`, and nothing says why"
        hint = 'say it: `because "what follows, and why nobody is the worse for it"`'
        diagnostics.error("edit/no-reason", message, entry.name.span, hint=hint)


class _Fresh:
    """The errors of an edited protocol that the unedited one does not have, each with a note on the
    edit."""

    def __init__(
        self,
        title: tuple[str, Span],
        base: frozenset[Diagnostic],
        diagnostics: Diagnostics,
    ) -> None:
        self.title = title
        self.base = base
        self.target = diagnostics
        self.found = Diagnostics()

    def close(self) -> None:
        """Report the new errors."""
        known = {(item.code, item.span.start, item.span.source.name) for item in self.target.items}
        for item in self.found.items:
            place = (item.code, item.span.start, item.span.source.name)
            if item in self.base or place in known:
                continue
            self.target.items.append(replace(item, notes=(*item.notes, self.title)))


def _variant(
    files: sx.Protocol,
    node: sx.VariantDecl,
    fresh: _Fresh,
    before: tuple[Elaborated, ir.Model | None],
) -> ir.Model:
    """The core of a variant; `before` is what was elaborated of the protocol, and its core if that
    has no errors: what is wrong in a variant too must be found there, or its scenarios are run."""
    chosen = select_variants(files, (node.name.text,), fresh.found)
    report_conflicts(chosen, fresh.found)
    for each in chosen:
        files = apply_edits(files, each.edits, fresh.found)
    return check_protocol(files, node.name.text, fresh.found, *before)


def _check_mutant(edited: sx.Protocol, before: Unchanged, model: ir.Model, fresh: _Fresh) -> None:
    changes = elaborate_changes(edited, before, fresh.found)
    if changes.functions:
        functions = {each.name: each for each in (*model.functions, *changes.functions)}
        _recursion(functions.values(), fresh.found)
        check_costs(functions.values(), fresh.found)
    ghosts = {component.name: ghosts_of(component) for component in model.components}
    for component in changes.components:
        known = ghosts.get(component.name, frozenset()) | ghosts_of(component)
        check_faults(component, known, fresh.found)
    fresh.close()


_MEANT = sx.InstanceDecl | sx.PropertyDecl | sx.EventuallyDecl
"""What a mutant names."""


def check_mutants(
    files: sx.Protocol, model: ir.Model, diagnostics: Diagnostics, only: str = ""
) -> None:
    """Check that each mutant, or `only` one, names an existing instance and a property."""
    # What is declared and has an error of its own is not missing.
    declared = [n for n in declarations(files) if isinstance(n, _MEANT)]
    refused = {n.name.text for n in declared if not _is_witness(n)}
    instances = [instance.name for instance in model.instances]
    properties = [prop.name for prop in model.properties if prop.kind != "witness"]
    properties += [live.name for live in model.liveness]
    for node in declarations(files):
        if not isinstance(node, sx.MutantDecl) or only not in ("", node.name.text):
            continue
        for name, known, code, what in (
            (node.instance, instances, "name/unknown", "instance"),
            (node.caught_by, properties, "property/unknown", "property"),
        ):
            if name.text not in known and name.text not in refused:
                hint = suggest(name.text, known)
                message = f"there is no {what} `{name.text}`"
                diagnostics.error(code, message, name.span, hint=hint)


def _recursion(functions: Iterable[ir.Function], diagnostics: Diagnostics) -> None:
    """Report functions that call themselves, directly or not: they have no value."""
    functions = tuple(functions)
    calls = {
        function.name: {node.function for node in nodes(function.body) if isinstance(node, ir.Call)}
        for function in functions
    }
    for function in functions:
        reached: set[str] = set()
        waiting = set(calls[function.name])
        while waiting:
            name = waiting.pop()
            reached.add(name)
            waiting |= calls.get(name, set()) - reached
        if function.name in reached:
            message = f"{function.name} calls itself"
            hint = "range over a finite type with a comprehension or a quantifier instead"
            span = Span(function.span.source, function.span.start, function.body.span.start)
            diagnostics.error("function/recursive", message, span, hint=hint)


def _is_witness(node: sx.Declaration) -> bool:
    return isinstance(node, sx.PropertyDecl) and node.kind == "witness"


def _witness(files: sx.Protocol, model: ir.Model, diagnostics: Diagnostics) -> None:
    """Report a protocol without a witness: its properties could hold because nothing happens."""
    machines = (*model.components, *model.systems)
    if machines and not any(_is_witness(node) for node in declarations(files)):
        message = "the protocol has no witness"
        hint = "add `witness name of machine: ...` for something that must be reachable"
        diagnostics.error("witness/none", message, machines[0].span, hint=hint)
