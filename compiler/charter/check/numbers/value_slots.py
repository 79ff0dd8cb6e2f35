"""Collects the places (fields, parameters, elements) that each part of an expression flows into,
for the range check."""

from __future__ import annotations

from collections.abc import Mapping

from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.operators import Side
from charter.core.walk import children


def inner_of(slot: ty.Type | None) -> ty.Type | None:
    return slot.inner if isinstance(slot, ty.Option | ty.Set | ty.Seq | ty.Ranking) else None


def is_built_here(expr: ir.Expr) -> bool:
    """Whether the value is constructed here, so that its parts are checked one by one."""
    match expr:
        case (
            ir.Present() | ir.SetNew() | ir.SeqNew() | ir.MapNew() | ir.MapWith() | ir.RecordNew()
            | ir.RecordWith() | ir.UnionNew()
        ):  # fmt: skip
            return True
        case ir.Binary():
            return bool(expr.traits.members_from)
        case ir.Builtin():
            return expr.traits.grows
        case ir.Literal(value=None):
            return True
        case _:
            return False


Slots = tuple[tuple[ir.Expr, ty.Type | None], ...]


def places(
    expr: ir.Expr, slot: ty.Type | None, functions: Mapping[str, tuple[ty.Type, ...]]
) -> Slots:
    """The children of `expr`, each with the type of the field, parameter or element that it
    becomes."""
    match expr:
        case ir.Literal() | ir.Local() | ir.StateRef():  # no children; half of all expressions
            return ()
        case ir.Present():
            return ((expr.inner, inner_of(slot)),)
        case ir.SetNew():
            inner = inner_of(slot)
            return tuple((item, inner) for item in expr.items)
        case ir.SeqNew():  # its type is the one that was expected, not that of its items
            inner = inner_of(slot or expr.type)
            return tuple((item, inner) for item in expr.items)
        case ir.MapNew():
            return ((expr.value, slot.value if isinstance(slot, ty.Map) else None),)
        case ir.MapWith() if isinstance(expr.type, ty.Map):
            kind = expr.type
            pairs = ((part, wanted) for key, value in expr.entries
                     for part, wanted in ((key, kind.key), (value, kind.value)))  # fmt: skip
            return ((expr.target, slot), *pairs)
        case ir.MapGet() if isinstance(expr.target.type, ty.Map):
            return ((expr.target, None), (expr.key, expr.target.type.key))
        case ir.RecordNew() if isinstance(expr.type, ty.Record):
            kinds = (kind for _, kind in expr.type.fields)
            return tuple(zip(expr.fields, kinds, strict=True))
        case ir.RecordWith() if isinstance(expr.type, ty.Record):
            record = expr.type
            changed = ((value, record.field_type(name)) for name, value in expr.fields)
            return ((expr.target, None), *changed)
        case ir.UnionNew() if isinstance(expr.type, ty.Union):
            params = (kind for _, kind in expr.type.params(expr.tag))
            return tuple(zip(expr.args, params, strict=True))
        case ir.Call():
            return tuple(zip(expr.args, functions.get(expr.function, ()), strict=False))
        case ir.Binary():
            sides: tuple[Side, ...] = ("left", "right")
            holds = expr.traits.members_from
            return tuple((expr.side(s), slot if s in holds else None) for s in sides)
        case ir.Builtin() if expr.traits.grows:
            given = {"items": slot, "item": inner_of(expr.args[0].type)}
            becomes = (given[part] for part in expr.traits.built_of)
            return tuple(zip(expr.args, becomes, strict=True))
        case _:
            return tuple((child, None) for child in children(expr))
