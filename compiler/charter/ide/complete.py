"""Completes a text that is being written.

The place gets a name of its own (`HOLE`), and only the declaration around it is checked: the checks
then know the names in scope there, and the type of what stands before a dot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from charter.check.declarations import machines
from charter.check.declarations.check_context import CheckContext
from charter.check.declarations.elaborate import model_of
from charter.check.edits.changes import elaborate_new
from charter.check.edits.flatten import apply_edits
from charter.check.names.declared import declarations
from charter.check.names.types import show_type
from charter.core import types as ty
from charter.core.builtins import BUILTINS
from charter.diagnostics import Diagnostics, Source
from charter.ide.build import read_shared
from charter.ide.index import Key, Symbol
from charter.ide.name_meanings import HOLE, Hole, Notes, place_of
from charter.ide.workspace import Snapshot
from charter.syntax import nodes as sx
from charter.syntax.parse import acceptable, parse_rest

WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
SLASH: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*/\s*\Z")
ARROW: Final = re.compile(r"\bdo\s+([A-Za-z_][A-Za-z0-9_]*)\s*\([^\n]*\)\s*->\s*\Z")
KEYWORD: Final = re.compile(r"NAME|[a-z]+(?: [a-z]+)*")


@dataclass(frozen=True, slots=True)
class Completion:
    """A proposal: its text, the kind of what it names, and its declaration or type."""

    text: str
    kind: str
    detail: str = ""


def complete(snapshot: Snapshot, name: str, offset: int) -> tuple[Completion, ...]:
    """The proposals at an offset of a file's present text."""
    file = snapshot.files.get(name)
    if file is None or not 0 <= offset <= len(file.source.text):
        return ()
    text = file.source.text
    word = WORD.search(text, 0, offset)
    start = offset if word is None else word.start()
    if _in_comment_or_string(text, start):
        return ()
    match = SLASH.search(text, 0, start) or ARROW.search(text, 0, start)
    if match is not None:
        branches = _branches(snapshot, match[1])
        if branches:
            return branches
    dot = text[:start].rstrip().endswith(".")
    hole = _hole(snapshot, Source(name, f"{text[:start]}{HOLE}{text[offset:]}"), start)
    if hole is not None:
        found, notes = hole
        if dot:
            return tuple(_fields(snapshot, found, notes))
        keywords = _keywords(text[:start]) - {"NAME"}
        return (*_in_scope(snapshot, found), *_words(keywords))
    if dot:
        return ()
    keywords = _keywords(text[:start])
    if "NAME" in keywords or not keywords:
        return (*_list_declared(snapshot), *_words(keywords - {"NAME"}))
    return tuple(_words(keywords))


def _in_comment_or_string(text: str, offset: int) -> bool:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
    return "--" in bare or '"' in bare


def _keywords(before: str) -> frozenset[str]:
    """The keywords that may follow a text, and NAME if a name may."""
    return frozenset(word for word in acceptable(before) if KEYWORD.fullmatch(word))


def _words(keywords: Iterable[str]) -> Iterator[Completion]:
    for word in sorted(keywords):
        yield Completion(word, "keyword")


def _branches(snapshot: Snapshot, operation: str) -> tuple[Completion, ...]:
    """The branches of all operations with a name."""
    return tuple(
        _of(symbol)
        for key, symbol in snapshot.index.symbols.items()
        if key[0] == "branch" and key[2] == operation
    )


def _of(symbol: Symbol) -> Completion:
    return Completion(symbol.key[-1], symbol.kind, symbol.head)


def _list_declared(snapshot: Snapshot) -> Iterator[Completion]:
    """All declarations that have names of their own."""
    for key, symbol in snapshot.index.symbols.items():
        if key[0] in ("global", "function", "machine", "state", "operation", "source", "instance"):
            yield _of(symbol)


# --- the hole ------------------------------------------------------------------------------------


def _hole(snapshot: Snapshot, source: Source, offset: int) -> tuple[Hole, Notes] | None:
    """The hole at an offset of a text, if the declaration around it can be parsed and the hole
    stands in an expression."""
    tree = parse_rest(source, Diagnostics())
    if tree is None:
        return None
    others = (
        file.tree
        for name, file in snapshot.files.items()
        if name != source.name and file.tree is not None
    )
    files = (tree, *others)
    notes = Notes()
    _check_around(files, tree, offset, notes)
    return None if notes.hole is None else (notes.hole, notes)


def _check_around(files: sx.Protocol, tree: sx.File, offset: int, notes: Notes) -> None:
    """Check the declaration around an offset of a file, and of a component the member."""
    around = next((node for node in tree.declarations if _spans(node, offset)), None)
    match around:
        case sx.VariantDecl() | sx.MutantDecl():
            edited = apply_edits(files, around.edits, Diagnostics())
            elaborate_new(edited, files, notes)
        case sx.OverlayDecl():
            for entry in around.entries:
                if _spans(entry, offset):
                    edited = apply_edits(files, entry.edits, Diagnostics(), is_overlay=True)
                    elaborate_new(edited, files, notes)
        case _:
            table, types = machines.collect(files, Diagnostics())
            done = {id(node) for node in declarations(files) if node is not around}
            if isinstance(around, sx.ComponentDecl):
                done |= {id(node) for node in around.members if not _spans(node, offset)}
            context = CheckContext(table, types, Diagnostics(), frozenset(done), rules=notes)
            if isinstance(around, sx.SetupDecl | sx.FragmentDecl):
                read_shared(context, around)
            else:
                model_of(files, "", context)


def _spans(node: sx.Node, offset: int) -> bool:
    return node.span.start <= offset <= node.span.end


def _in_scope(snapshot: Snapshot, hole: Hole) -> Iterator[Completion]:
    """The names that an expression may use here."""
    scope, symbols = hole.scope, snapshot.index.symbols
    shown: set[str] = set()
    machine = "" if scope.machine is None else scope.machine.name
    for name in (*scope.names(), *scope.globals.functions, *BUILTINS, "present"):
        if name in shown or not name.isidentifier() or name == HOLE:
            continue
        shown.add(name)
        local = scope.locals.get(name)
        if local is not None:
            yield Completion(name, "variable", f"{name}: {show_type(local.type)}")
            continue
        keys: tuple[Key, ...] = (
            ("state", machine, name), ("global", name), ("function", name),
        )  # fmt: skip
        symbol = next((symbols[key] for key in keys if key in symbols), None)
        yield Completion(name, "built-in function") if symbol is None else _of(symbol)


def _fields(snapshot: Snapshot, hole: Hole, notes: Notes) -> Iterator[Completion]:
    """The fields of the record before the dot, or the state of a part of the system."""
    before, machine = hole.before, hole.scope.machine
    if before is None:
        return
    head = before.target if isinstance(before, sx.Index) else before
    if machine is not None and isinstance(head, sx.Ident) and head.name in machine.parts:
        component = hole.scope.globals.machines.get(machine.parts[head.name].component)
        for variable in () if component is None else component.state.values():
            yield Completion(variable.name, "state", show_type(variable.type))
        return
    kind = notes.types.get(place_of(before.span))
    for name, of in kind.fields if isinstance(kind, ty.Record) else ():
        yield Completion(name, "field", show_type(of))
