"""Checks `observe`: which state each level shows, and how it is compared."""

from __future__ import annotations

from charter.check.names.docs import doc_of
from charter.check.names.scopes import MachineScope, TypeScope, suggest
from charter.check.names.types import is_unknown
from charter.core import nodes as ir
from charter.core import types as ty
from charter.syntax import nodes as sx

_MODES: dict[str, ir.CompareMode] = {
    "exact": "exact",
    "difference": "difference",
    "opaque": "opaque",
    "ignored": "ignored",
}


def observables(
    scope: TypeScope, machine: MachineScope, node: sx.ObserveDecl
) -> list[ir.Observable]:
    """One level: each path checked against the state, its mode by type where none is given."""
    found: list[ir.Observable] = []
    for entry in node.entries:
        names = tuple(name.text for name in entry.path)
        kind = _find_observed_type(scope, machine, entry)
        if entry.mode and entry.mode not in _MODES:
            hint = f"one of {', '.join(_MODES)}"
            message = f"there is no comparison `{entry.mode}`"
            scope.error("name/unknown", message, entry.span, hint=hint)
        by_type: ir.CompareMode = "exact"
        if isinstance(kind, ty.Counter) and kind.opaque:
            by_type = "opaque"
        mode = _MODES.get(entry.mode, by_type)
        found.append(
            ir.Observable(node.level.text, names, mode, span=entry.span, doc=doc_of(entry))
        )
    return found


def _find_observed_type(
    scope: TypeScope, machine: MachineScope, entry: sx.Observed
) -> ty.Type | None:
    head = entry.path[0]
    variable = machine.state.get(head.text)
    if variable is None:
        hint = suggest(head.text, machine.state)
        message = f"{machine.name} has no state variable `{head.text}`"
        scope.missing(message, head.span, hint=hint)
        return None
    if variable.kind == "ghost":
        message = f"`{head.text}` is ghost state: it is for properties only"
        scope.error("effect/ghost-interference", message, head.span)
    kind: ty.Type = _inside(variable.type)
    for name in entry.path[1:]:
        if is_unknown(kind):
            return None
        fields = dict(kind.fields) if isinstance(kind, ty.Record) else {}
        if name.text not in fields:
            message = f"there is no field `{name.text}` here"
            scope.error("name/unknown", message, name.span, hint=suggest(name.text, fields))
            return None
        kind = _inside(fields[name.text])
    return kind


def _inside(kind: ty.Type) -> ty.Type:
    """The type inside maps and options, which paths do not mention."""
    while isinstance(kind, ty.Map | ty.Option):
        kind = kind.value if isinstance(kind, ty.Map) else kind.inner
    return kind
