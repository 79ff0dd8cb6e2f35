"""Refuses types of a component whose values look like something else to the judge."""

from __future__ import annotations

from collections.abc import Mapping

from charter.check.names.types import show_type
from charter.core import nodes as ir
from charter.core import types as ty
from charter.diagnostics import Diagnostics


def check_look_alikes(component: ir.Component, diagnostics: Diagnostics) -> None:
    """Report the parameters of operations whose arguments the judge would replace: in a vector,
    `{"ref": [...]}` is an earlier value and `{"never_issued": true}` one that was never given.
    And the replies that it would take for an exception, `{"fault": "...", "message": "..."}`
    (docs/formats/adapter.md), and unions whose cases would lose their names."""
    _check_cases(component, diagnostics)
    for operation in component.operations:
        for param in operation.params:
            for part in ty.inside(param.type):
                if _is_like_reference(part):
                    message = f"a vector cannot tell a {show_type(part)} from a reference"
                    hint = "rename a field or a member: `ref` and `never_issued` are references"
                    diagnostics.error("type/reference", message, operation.span, hint=hint)
        if _is_like_fault(operation.result):
            message = f"the judge cannot tell a {show_type(operation.result)} from a fault"
            hint = "rename a field or a member, or add one: `fault` and `message` are an exception"
            diagnostics.error("type/fault", message, operation.span, hint=hint)


def _check_cases(component: ir.Component, diagnostics: Diagnostics) -> None:
    """Report the unions in which a case has a parameter `case`: in JSON, `case` has the name of the
    case itself."""
    places = [(v.type, v.span) for v in component.state]
    places += [(p.type, o.span) for o in component.operations for p in o.params]
    places += [(o.result, o.span) for o in component.operations]
    seen: set[str] = set()
    for kind, span in places:
        for part in (p for p in ty.inside(kind) if isinstance(p, ty.Union)):
            for tag, params in part.cases:
                if part.name not in seen and any(name == "case" for name, _ in params):
                    seen.add(part.name)
                    message = f"the name of the case `{tag}` of {part.name} would be lost in JSON"
                    hint = f"rename the parameter `case` of `{tag}`"
                    diagnostics.error("type/case", message, span, hint=hint)


def _is_like_reference(kind: ty.Type) -> bool:
    """Whether a value can have the keys of a reference, and a list or a truth at the first."""
    parts = _by_key(kind)
    if parts.keys() == {"never_issued"}:
        return isinstance(parts["never_issued"], ty.Bool)
    return parts.keys() <= {"ref", "plus"} and "ref" in parts and _is_list(parts["ref"])


def _is_like_fault(kind: ty.Type) -> bool:
    """Whether a value can have the keys of a fault, and a text at `fault`."""
    if isinstance(kind, ty.Option):
        return _is_like_fault(kind.inner)
    parts = _by_key(kind)
    return parts.keys() <= {"fault", "message"} and "fault" in parts and _is_text(parts["fault"])


def _by_key(kind: ty.Type) -> Mapping[str, ty.Type]:
    """The types of the values of a JSON object, by key; empty for what is none, or has a `case`."""
    match kind:
        case ty.Record(fields=fields):
            return dict(fields)
        case ty.Map(key=ty.Enum(members=members), value=value):
            return dict.fromkeys(members, value)
        case _:
            return {}


def _is_list(kind: ty.Type) -> bool:
    """Whether a value can be a JSON list."""
    match kind:
        case ty.Option(inner=inner):
            return _is_list(inner)
        case ty.Map(key=key):
            return not isinstance(key, ty.Sort | ty.Enum)
        case _:
            return isinstance(kind, ty.Set | ty.Seq | ty.Ranking)


def _is_text(kind: ty.Type) -> bool:
    """Whether a value can be a JSON text."""
    match kind:
        case ty.Option(inner=inner):
            return _is_text(inner)
        case _:
            return isinstance(kind, ty.Enum | ty.Sort | ty.Counter)
