"""Writes a state as what changed since the one before: a line of a suite repeats little.

A change is an object with the names that changed: of variables, of fields of a record, of keys of a
map. A value is the new one, but the text "-" says that the name is gone, and an object that stands
where an object stood is a change of that one (docs/formats/vector.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from charter.formats.canonical import Json, text
from charter.formats.reading import BadVector

__all__ = ["shorter", "whole"]

GONE = "-"

Object = dict[str, Json]


def shorter(given: Json, observations: Sequence[Json]) -> dict[str, Json]:
    """The observations of an answer to a question with this given state as the fields that a line
    has for them: `observations`, whole, and `changes`, one for each of the others."""
    as_they_are: dict[str, Json] = {"observations": [*observations], "changes": []}
    first = _first(given)
    kept = 1 if first is None else 0
    states: list[Json] = [*observations] if first is None else [first, *observations]
    changes: list[Object] = []
    for before, after in pairwise(states):
        if not isinstance(before, dict) or not isinstance(after, dict):
            return as_they_are
        changes.append(_change(before, after))
    if f'"{GONE}"' in text(states):  # no charter has such a text
        return as_they_are
    return {"observations": [*observations[:kept]], "changes": [*changes]}


def whole(
    given: Json, stored: Sequence[Json], changes: Sequence[Json] | None, where: str
) -> tuple[Json, ...]:
    """The observations of an answer from the fields of a line; `changes` is None if it has no such
    field. Raises `BadVector` for a change that does not fit what it changes."""
    if changes is None:
        return tuple(_by_variable(stored))
    found = [*stored]
    before = found[-1] if found else _first(given)
    for number, change in enumerate(changes):
        at = f"{where}.changes[{number}]"
        if not isinstance(change, dict):
            raise BadVector(f"{at}: not an object")
        if not isinstance(before, dict):
            raise BadVector(f"{at}: there is no observation and no given state that it changes")
        before = _apply_change(before, change, at)
        found.append(before)
    return tuple(found)


def _by_variable(stored: Iterable[Json]) -> Iterable[Json]:
    """Lines of earlier versions: an observation after the first has all variables, or those that
    changed."""
    before: Json = None
    for one in stored:
        both = isinstance(before, dict) and isinstance(one, dict)
        before = {**before, **one} if both else one  # type: ignore[dict-item]
        yield before


def _first(given: Json) -> Object | None:
    """What the first change changes: the given state with labels in place of opaque values."""
    if not isinstance(given, dict):
        return None
    return {_label(name): _labels(item) for name, item in given.items()}


def _labels(value: Json) -> Json:
    if isinstance(value, str):
        return _label(value)
    if isinstance(value, list):
        return [_labels(item) for item in value]
    if isinstance(value, dict):
        return {_label(name): _labels(item) for name, item in value.items()}
    return value


def _label(value: str) -> str:
    return f"#{value[1:]}" if value.startswith("@") else value


def _change(before: Object, after: Object) -> Object:
    found: Object = {name: GONE for name in before if name not in after}
    for name, value in after.items():
        held = before.get(name)
        if isinstance(held, dict) and isinstance(value, dict):
            inner = _change(held, value)
            if inner:
                found[name] = inner
        elif name not in before or not _same(held, value):
            found[name] = value
    return found


def _apply_change(before: Object, change: Object, where: str) -> Object:
    found = dict(before)
    for name, value in change.items():
        held = found.get(name)
        if value == GONE and name not in found:
            raise BadVector(f"{where}: {name!r} is gone, but it was not there before")
        if value == GONE:
            del found[name]
        elif isinstance(value, dict) and isinstance(held, dict):
            found[name] = _apply_change(held, value, f"{where}.{name}")
        else:
            found[name] = value
    return found


def _same(one: Json, other: Json) -> bool:
    """Python says that true and 1 are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other
