"""Refuses types of arguments whose values look like references in a vector."""

from __future__ import annotations

from collections.abc import Mapping

from charter.check.types import show_type
from charter.core import nodes as ir
from charter.core import types as ty
from charter.diagnostics import Diagnostics


def check_argument_types(component: ir.Component, diagnostics: Diagnostics) -> None:
    """Report the parameters of operations whose arguments the judge would replace: in a vector,
    `{"ref": [...]}` is an earlier value and `{"never_issued": true}` one that was never given
    (docs/formats/adapter.md)."""
    for operation in component.operations:
        for param in operation.params:
            for part in ty.inside(param.type):
                if _is_like_reference(part):
                    message = f"a vector cannot tell a {show_type(part)} from a reference"
                    hint = "rename a field or a member: `ref` and `never_issued` are references"
                    diagnostics.error("type/reference", message, operation.span, hint=hint)


def _is_like_reference(kind: ty.Type) -> bool:
    """Whether a value can have the keys of a reference, and a list or a truth at the first."""
    parts = _by_key(kind)
    if parts.keys() == {"never_issued"}:
        return isinstance(parts["never_issued"], ty.Bool)
    return parts.keys() <= {"ref", "plus"} and "ref" in parts and _is_list(parts["ref"])


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
