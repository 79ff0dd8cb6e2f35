"""Refuses edits that change what an operation assumes of its environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from charter.diagnostics import Diagnostics, Span
from charter.syntax import nodes as sx

Place = tuple[str, str]
"""A component and an operation."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """The assumptions of an operation, with the values of the lets, the bodies of the functions and
    the updates of the histories that they read."""

    conditions: tuple[tuple[str, sx.Expr], ...]
    read: Mapping[str, tuple[object, ...]]


def list_assumed(nodes: Iterable[sx.Declaration]) -> dict[Place, Assumed]:
    """What each operation assumes."""
    nodes = tuple(nodes)
    found: dict[Place, Assumed] = {}
    for component in nodes:
        if isinstance(component, sx.ComponentDecl):
            for member in component.members:
                if isinstance(member, sx.Operation):
                    found[component.name.text, member.name.text] = _read(nodes, component, member)
    return found


def report_changes(
    before: Mapping[Place, Assumed],
    after: Iterable[sx.Declaration],
    edit: Span,
    diagnostics: Diagnostics,
) -> None:
    """Report operations that assume something else after an edit than `before` it. One that an edit
    drops or adds may assume anything."""
    now = list_assumed(after)
    for place, assumed in before.items():
        if place in now and now[place] != assumed:
            _report(place, _find_cause(assumed, now[place]), edit, diagnostics)


def _report(place: Place, cause: str, edit: Span, diagnostics: Diagnostics) -> None:
    operation = ".".join(place)
    message = f"this edit changes what `{operation}` assumes"
    hint = "assumptions are the same in every version: write the same ones in the new operation"
    if cause:
        message = f"{message}, which reads `{cause}`"
        hint = f"give the assumption a name of its own, which has the value that `{cause}` has now"
    diagnostics.error("edit/assumption", message, edit, hint=hint)


def _find_cause(before: Assumed, after: Assumed) -> str:
    """The function, let or history whose change changes an assumption, or ""."""
    if before.conditions != after.conditions:
        return ""
    names = (name for name, value in before.read.items() if after.read.get(name) != value)
    return next(names, "")


def _read(
    nodes: Sequence[sx.Declaration], component: sx.ComponentDecl, operation: sx.Operation
) -> Assumed:
    own = [line for line in operation.body if isinstance(line, sx.Assume)]
    if not own:
        return Assumed((), {})
    known: dict[str, tuple[object, ...]] = {
        node.name.text: (*node.params, node.body) for node in nodes if isinstance(node, sx.FunDecl)
    }
    for member in component.members:
        if isinstance(member, sx.StateDecl) and member.becomes is not None:
            known[member.name.text] = (member.initial, member.becomes)
    for line in operation.body:
        if isinstance(line, sx.Let):
            known[line.name.text] = (line.value,)
    read: dict[str, tuple[object, ...]] = {}
    waiting: list[object] = [line.condition for line in own]
    while waiting:
        for name in _list_names(waiting.pop()):
            if name in known and name not in read:
                read[name] = known[name]
                waiting += known[name]
    return Assumed(
        tuple((line.label.text if line.label else "", line.condition) for line in own), read
    )


def _list_names(node: object) -> Iterator[str]:
    """The names of values and functions in an expression."""
    match node:
        case sx.Ident(name=name):
            yield name
        case sx.Apply(name=called):
            yield called.text
        case _:
            pass
    if isinstance(node, sx.Node):
        for each in fields(node):
            yield from _list_names(getattr(node, each.name))
    elif isinstance(node, tuple):
        for part in node:
            yield from _list_names(part)
