"""Collects the types of replies and observations for a suite's manifest, as `charter.formats.types`
reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from charter.core import nodes as n
from charter.core import types as t
from charter.core.expressions import E_co
from charter.core.reach import list_modelled
from charter.formats.canonical import Json

Paths = frozenset[tuple[str, ...]]
"""The fields of a value that are shown; an empty path means everything."""


def collect_judged_types(component: n.Component[E_co]) -> dict[str, Json]:
    """The field `types` of the manifest. It has the types of all variables, and of what the model
    knows of them besides what it shows, only if values of several types could be confused."""
    replies = {operation.name: operation.result for operation in component.operations}
    observes: dict[str, Json] = {}
    mentioned = [*replies.values()]
    for variable in component.state:
        seen = [o.path[1:] for o in component.observables if o.path[0] == variable.name]
        if seen:
            text, whole = _project(variable.type, frozenset(seen))
            observes[variable.name] = text
            mentioned += whole
    state = {v.name: v.type for v in list_modelled(component)}
    kinds = [*replies.values(), *state.values()]
    several = _several(kinds) or any(map(_has_unsorted, kinds))
    return {
        "replies": {name: _text(kind) for name, kind in replies.items()},
        "observes": observes,
        "names": dict(_define_named([*mentioned, *state.values()] if several else mentioned)),
        **({"state": {name: _text(kind) for name, kind in state.items()}} if several else {}),
    }


def _has_unsorted(kind: t.Type) -> bool:
    """Whether a set, or the keys of a map, hold opaque values whose texts decide on the order."""
    held = [part.inner if isinstance(part, t.Set) else part.key
            for part in t.inside(kind) if isinstance(part, t.Set | t.Map)]  # fmt: skip
    return any(
        isinstance(part, t.Counter) and part.opaque and not part.ordered
        for each in held
        for part in t.inside(each)
    )


def _several(kinds: list[t.Type]) -> bool:
    """Whether types have several opaque counters inside, or several types of opaque values."""
    found = {part for kind in kinds for part in t.inside(kind)}
    opaque = [part.ordered for part in found if isinstance(part, t.Counter) and part.opaque]
    return max(opaque.count(True), opaque.count(False)) > 1


def define_params(operation: n.Operation) -> dict[str, str]:
    """The types of an operation's parameters, by name, with the ranges of integers and the limits
    of lists, as `charter.formats.types.read_drawn` reads them."""
    return {p.name: _text(p.type, bounds=True) for p in operation.params}


def define_inside(operations: Iterable[n.Operation]) -> dict[str, str]:
    """The named types inside parameters, by name, with ranges and limits."""
    kinds = [p.type for operation in operations for p in operation.params]
    return dict(_define_named(kinds, bounds=True))


def _define_named(kinds: list[t.Type], bounds: bool = False) -> Iterator[tuple[str, str]]:
    """The definitions of all named types inside some types."""
    found = dict.fromkeys(part for kind in kinds for part in t.inside(kind))
    for kind in found:
        match kind:
            case t.Sort(name):
                yield name, "sort"
            case t.Counter(name, opaque, ordered):
                yield name, "int" if not opaque else "ordered" if ordered else "opaque"
            case t.Enum(name, members):
                yield name, f"enum {', '.join(members)}"
            case t.Record(name, fields):
                yield name, _record(fields, bounds)
            case t.Union(name, cases):
                shown = (tag + _record(params, bounds) for tag, params in cases)
                yield name, f"union {', '.join(shown)}"
            case _:
                pass


def _record(fields: tuple[tuple[str, t.Type], ...], bounds: bool = False) -> str:
    return "{" + ", ".join(f"{name}: {_text(kind, bounds)}" for name, kind in fields) + "}"


def _text(kind: t.Type, bounds: bool = False) -> str:
    """A type; `bounds`: with the ranges of integers, with the limits of lists, and which lists
    have no value twice."""
    match kind:
        case t.Bool():
            return "bool"
        case t.Int(low, high):
            return f"int {_limit(low)}..{_limit(high)}" if bounds and low and high else "int"
        case t.Sort() | t.Counter() | t.Enum() | t.Record() | t.Union():
            return kind.name
        case t.Option(inner):
            return f"option {_text(inner, bounds)}"
        case t.Set(inner):
            return f"set {_text(inner, bounds)}"
        case t.Ranking(inner):
            return f"list {'distinct ' if bounds else ''}{_text(inner, bounds)}"
        case t.Seq(inner, limit):
            return f"list {f'..{_limit(limit)} ' if bounds else ''}{_text(inner, bounds)}"
        case t.Map(key, value):
            return f"map {_text(key, bounds)} -> {_text(value, bounds)}"
        case _:
            assert_never(kind)


def _limit(limit: t.Limit) -> str:
    """A limit: a number, a constant, or a constant and a number (`ttl+1`)."""
    if not limit.const:
        return str(limit.plus)
    return f"{limit.const}{limit.plus:+}" if limit.plus else limit.const


def _project(kind: t.Type, paths: Paths) -> tuple[str, list[t.Type]]:
    """A type with only the fields on `paths`, and the types that the text mentions."""
    if () in paths:
        return _text(kind), [kind]
    match kind:
        case t.Option(inner):
            text, whole = _project(inner, paths)
            return f"option {text}", whole
        case t.Map(key, inner):
            text, whole = _project(inner, paths)
            return f"map {_text(key)} -> {text}", [key, *whole]
        case t.Record(fields=fields):
            shown, mentioned = [], []
            for name, part in fields:
                inside = frozenset(path[1:] for path in paths if path and path[0] == name)
                if inside:
                    text, whole = _project(part, inside)
                    shown.append(f"{name}: {text}")
                    mentioned += whole
            return "{" + ", ".join(shown) + "}", mentioned
        case _:
            return _text(kind), [kind]
