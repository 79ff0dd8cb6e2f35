"""Writes values on one line, as the charter writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from charter.formats.canonical import Json
from conform.judging.places import NOT_KNOWN, UNKNOWN, ValuePlace, ValuePlaces


def show(value: Json, place: ValuePlace = UNKNOWN) -> str:
    """A value on one line, as the charter writes it; a list that may be a sequence or a set is
    shown in its order, in square brackets."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        left, right = brackets(place)
        return f"{left}{', '.join(show_item(item, place) for item in value)}{right}"
    if isinstance(value, dict):
        return _object(value, place)
    return str(value).replace("\n", "\\n")  # as in the message of a fault


def brackets(place: ValuePlace) -> tuple[str, str]:
    """What is around a list."""
    match place.sequence:
        case True:
            return "<", ">"
        case False:
            return "{", "}"
        case None:
            return "[", "]"


def show_item(value: Json, place: ValuePlace) -> str:
    """An element of a list, or an entry of a map that is written as a list of pairs."""
    if place.is_map and isinstance(value, list) and len(value) == 2:
        return f"{show(value[0])}: {show(value[1], place.at(''))}"
    return show(value, place.item())


def _object(value: Mapping[str, Json], place: ValuePlace) -> str:
    if "ref" in value and isinstance(value["ref"], list):
        return _reference(value["ref"], value.get("plus"), "in" in value)
    if value == {"never_issued": True}:
        return "never issued"
    if "case" in value:
        return _case(value, place)
    fields = (f"{name}: {show(item, place.at(name, {**value}))}" for name, item in value.items())
    return "{" + ", ".join(fields) + "}"


def _case(value: Mapping[str, Json], place: ValuePlace) -> str:
    """A case of a union. In a charter its parameters have no names; here several have them, since
    a reader does not know their order."""
    held = {name: show(item, place.at(name, {**value})) for name, item in value.items()}
    name = held.pop("case")
    if len(held) == 1:
        return f"{name}({held.popitem()[1]})"
    fields = ", ".join(f"{field}: {text}" for field, text in held.items())
    return f"{name}({fields})" if fields else name


def _reference(path: Sequence[Json], plus: Json, in_reply: bool) -> str:
    step, *rest = path
    where = ".".join(str(part) for part in rest)
    added = f" {'+' if plus > 0 else '−'} {abs(plus)}" if isinstance(plus, int) and plus else ""
    if in_reply:
        return f"{where} of the reply to step {step}{added}"
    return f"{where} after step {step}{added}" if step else f"{where} at the start{added}"


def call_text(operation: str, args: Mapping[str, Json], places: ValuePlaces = NOT_KNOWN) -> str:
    """An operation with its arguments."""
    parts = [f"{name}: {show(arg, places.argument(name))}" for name, arg in args.items()]
    return f"{operation}({', '.join(parts)})"


def place_at(value: Json, place: ValuePlace, path: str) -> ValuePlace:
    """The place in a value that a path leads to, from the place of the whole."""
    for part in path.split(".") if path else ():
        place = place.at(part, value)
        value = value.get(part) if isinstance(value, dict) else None
    return place
