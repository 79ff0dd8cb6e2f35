"""Builds the index of a protocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from charter.check.declarations import machines
from charter.check.declarations.check_context import CheckContext
from charter.check.declarations.elaborate import links, model_of
from charter.check.declarations.functions import with_params
from charter.check.declarations.scenarios import ScenarioReader
from charter.check.edits.changes import elaborate_new
from charter.check.edits.flatten import apply_edits, select_variants, with_shared
from charter.check.names.declared import declarations
from charter.check.names.scopes import MachineScope, TypeScope
from charter.diagnostics import Diagnostics, Span
from charter.ide.index import Key, NameIndex, Occurrence, Symbol
from charter.ide.name_meanings import Notes
from charter.ide.name_walk import NameWalk, Surroundings
from charter.syntax import nodes as sx

EMPTY = NameIndex({}, {}, {}, {})


def index_of(files: sx.Protocol) -> NameIndex:
    """The index of the files of a protocol. Errors are ignored: what has a meaning is indexed."""
    if not files:
        return EMPTY
    table, types = machines.collect(files, Diagnostics())
    notes = Notes()
    for machine in table.machines.values():
        for name, variable in machine.state.items():
            notes.state[machine.name, name] = variable.type
    context = CheckContext(table, types, Diagnostics(), rules=notes)
    model_of(files, "", context)
    for node in declarations(files):
        if isinstance(node, sx.SetupDecl | sx.FragmentDecl):
            read_shared(context, node)
    for edited in _list_edited(files):
        elaborate_new(edited, files, notes)
    walk = NameWalk(notes)
    for file in files:
        walk.visit(file, Surroundings())
    found = links(context, declarations(files))
    addresses = {(source, section): url for source, section, url in found}
    return NameIndex(walk.symbols, _places(walk), dict(table.sources), addresses)


def read_shared(context: CheckContext, node: sx.SetupDecl | sx.FragmentDecl) -> None:
    """Read the lines of a set-up or a fragment as they stand: the checks read them only where an
    instance or a scenario includes them."""
    machine = context.globals.machines.get(node.machine.text)
    if machine is None:
        return
    outside = context.scope()
    scope = with_params(outside, context.types.params(node.params), node.params)
    if isinstance(node, sx.FragmentDecl):
        _read_lines(scope, machine, node.body)
        return
    for setting in node.body:
        match setting:
            case sx.Start():
                scope.infer(setting.value)
            case sx.Prelude(body=body):
                _read_lines(scope, machine, body)
            case sx.Only(operation=operation):
                inner = replace(scope, machine=machine)
                called = machine.operations.get(operation.text)
                for param in () if called is None else called.params:
                    inner, _ = inner.bind(sx.Name(param.name, span=operation.span), param.type)
                inner.infer(setting.condition)
            case sx.Bound() | sx.Offers() | sx.Misses() | sx.Fails():
                pass


def _read_lines(scope: TypeScope, machine: MachineScope, lines: Iterable[sx.Line]) -> None:
    reader = ScenarioReader(replace(scope, machine=machine), machine)
    for line in lines:
        reader.add(line)


def _list_edited(files: sx.Protocol) -> Iterable[sx.Protocol]:
    """The protocol with each of its variants, mutants and entries of overlays."""
    ignored = Diagnostics()
    for node in declarations(files):
        match node:
            case sx.VariantDecl():
                edited = files
                for each in select_variants(files, (node.name.text,), ignored):
                    edited = apply_edits(edited, each.edits, ignored)
                yield edited
            case sx.MutantDecl():
                yield apply_edits(files, node.edits, ignored)
            case sx.OverlayDecl():
                shared = with_shared(files, node)
                for entry in node.entries:
                    yield apply_edits(shared, entry.edits, ignored, is_overlay=True)
            case _:
                pass


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Chooses among the keys that a name may have."""

    symbols: dict[Key, Symbol]
    declared: dict[tuple[str, int], Key]

    def key(self, keys: Iterable[Key]) -> Key | None:
        """The first key that is declared."""
        found = (
            self.declared.get((key[1], int(key[2])), key) if key[0] == "local" else key
            for key in keys
        )
        return next((key for key in found if key in self.symbols), None)


def _places(walk: NameWalk) -> dict[str, tuple[Occurrence, ...]]:
    """All names that have a declaration, by file."""
    declared = {(span.source.name, span.start): key for key, span in walk.declared}
    resolver = _Resolver(walk.symbols, declared)
    names: list[tuple[tuple[Key, ...], Span]] = list(walk.named)
    names += [((key,), span) for key, span in walk.notes.named]
    owners: dict[str, list[tuple[Span, Key]]] = {}
    for around, owner in walk.owners:
        owners.setdefault(around.source.name, []).append((around, owner))
    for name, span in walk.notes.free:
        names.append((_free(owners.get(span.source.name, []), name, span), span))
    found: dict[tuple[str, int], Occurrence] = {}
    for keys, span in names:
        key = resolver.key(keys)
        place = (span.source.name, span.start)
        if key is None:
            continue
        if key[0] == "local" or span.source.text[span.start : span.end] == key[-1]:
            found.setdefault(place, Occurrence(span, key, declared.get(place) == key))
    files: dict[str, list[Occurrence]] = {}
    for (file, _), occurrence in sorted(found.items()):
        files.setdefault(file, []).append(occurrence)
    return {file: tuple(places) for file, places in files.items()}


def _free(owners: Iterable[tuple[Span, Key]], name: str, span: Span) -> tuple[Key, ...]:
    """What a name can mean that the checks gave a value: a parameter of the set-up, the fragment or
    the condition `only` around it (among the `owners` in its file), or an element of an
    instance."""
    found = [(*owner, name) for around, owner in owners if around.start <= span.start < around.end]
    return (*reversed(found), ("element", name))
