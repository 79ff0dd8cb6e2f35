"""Elaborates an update of a path inside a variable to an update of the whole variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from charter.core import nodes as ir
from charter.core import types as ty


@dataclass(frozen=True, slots=True)
class FieldStep:
    """`.name`."""

    name: str
    type: ty.Type


@dataclass(frozen=True, slots=True)
class KeyStep:
    """`[key]`."""

    key: ir.Expr
    type: ty.Type


PathStep = FieldStep | KeyStep
Path = tuple[PathStep, ...]


def apart(left: Path, right: Path) -> bool:
    """Whether two paths never overlap, as far as the text shows."""
    for one, other in zip(left, right, strict=False):
        match one, other:
            case FieldStep(), FieldStep() if one.name != other.name:
                return True
            case KeyStep(key=ir.Literal(value=a)), KeyStep(key=ir.Literal(value=b)) if a != b:
                return True
            case _:
                continue
    return False


def modify(target: ir.Expr, path: Path, change: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """`target` with `change` applied to the value at `path`."""
    if not path:
        return change(target)
    step, rest = path[0], path[1:]
    match step:
        case FieldStep():
            value = modify(_field(target, step), rest, change)
            return _with_field(target, step.name, value)
        case KeyStep():
            target, old = _entry(target, step)
            entry = (step.key, modify(old, rest, change))
            return ir.MapWith(target, (entry,), type=target.type, span=target.span)


def _field(target: ir.Expr, step: FieldStep) -> ir.Expr:
    """The field; an update of other fields is skipped."""
    if isinstance(target, ir.RecordWith):
        given = dict(target.fields)
        if step.name in given:
            return given[step.name]
        return _field(target.target, step)
    return ir.FieldOf(target, step.name, type=step.type, span=target.span)


def _entry(target: ir.Expr, step: KeyStep) -> tuple[ir.Expr, ir.Expr]:
    """The map to update and the entry to change; if the map is an update of the same key, the entry
    is its new value."""
    if isinstance(target, ir.MapWith) and len(target.entries) == 1:
        key, value = target.entries[0]
        if key == step.key:
            return target.target, value
    return target, ir.MapGet(target, step.key, type=step.type, span=step.key.span)


def _with_field(target: ir.Expr, name: str, value: ir.Expr) -> ir.Expr:
    """One `with` for all fields of a record."""
    if isinstance(target, ir.RecordWith):
        kept = tuple(pair for pair in target.fields if pair[0] != name)
        return ir.RecordWith(
            target.target, (*kept, (name, value)), type=target.type, span=target.span
        )
    return ir.RecordWith(target, ((name, value),), type=target.type, span=target.span)
