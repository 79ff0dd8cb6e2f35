"""Finds out whether a component still offers what a question asks: operations, and arguments of
their types."""

from __future__ import annotations

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.reading import own_object
from charter.formats.resolve import is_never_issued, is_reference
from charter.formats.types import DeclaredType
from charter.formats.vector import Question
from conform.judging.model import world_of
from conform.walks.offered import Offered, OfferedWorld


def find_misfit(offered: Offered, question: Question) -> str:
    """What the component does not offer of a question, as a phrase; "" if it offers everything."""
    sorts, consts = world_of(own_object(question.json()))
    world = OfferedWorld({sort: tuple(names) for sort, names in sorts.items()}, consts)
    for call in question.operations:
        params = dict(offered.params.get(call.operation, ()))
        if call.operation not in offered.params:
            return f"the charter has no operation {call.operation}"
        if params.keys() != call.args.keys():
            return f"{call.operation} has other parameters"
        for name, kind in params.items():
            if not _fits(offered, world, kind, call.args[name]):
                value = canonical.text(call.args[name])
                return f"{name} of {call.operation} cannot be {value}"
    return ""


def _fits(offered: Offered, world: OfferedWorld, kind: DeclaredType, value: Json) -> bool:
    """Whether an argument is of a type."""
    if offered.counter(kind) is not None:
        number = isinstance(value, int | str) and not isinstance(value, bool)
        return number or is_reference(value) or is_never_issued(value)
    kind = offered.strip(kind)
    match kind.kind:
        case "option":
            return value is None or _fits(offered, world, kind.parts[0][1], value)
        case "record":
            return _fits_fields(offered, world, kind, value)
        case "union":
            cases, case = dict(kind.parts), value.get("case") if isinstance(value, dict) else None
            if not (isinstance(value, dict) and isinstance(case, str) and case in cases):
                return False
            rest = {name: item for name, item in value.items() if name != "case"}
            return _fits_fields(offered, world, cases[case], rest)
        case "set" | "list":
            inner = kind.parts[0][1]
            items = value if isinstance(value, list) else [None]
            return isinstance(value, list) and all(
                _fits(offered, world, inner, item) for item in items
            )
        case "map":
            return isinstance(value, dict | list)
        case "bool":
            return isinstance(value, bool)
        case "enum":
            return value in kind.names
        case "sort":
            return value in world.sorts.get(kind.names[0], ())
        case _:
            return _fits_number(world, kind, value)


def _fits_fields(offered: Offered, world: OfferedWorld, kind: DeclaredType, value: Json) -> bool:
    fields = dict(kind.parts)
    if not isinstance(value, dict) or value.keys() != fields.keys():
        return False
    return all(_fits(offered, world, fields[name], item) for name, item in value.items())


def _fits_number(world: OfferedWorld, kind: DeclaredType, value: Json) -> bool:
    if is_reference(value):
        return True
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    if not kind.names:
        return True
    try:
        low, high = (world.read_limit(limit) for limit in kind.names)
    except KeyError:  # a constant that the question has no value for
        return False
    return low <= value <= high
