"""The built-in functions on values, and the order in which members of a set are looked at."""

from __future__ import annotations

from typing import cast

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.diagnostics import Span
from charter.semantics.values import Universe


class EvaluationError(Exception):
    """An expression has no value here (`value(none)`, an index outside, `the` of several...)."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(f"{span.where()}: {message}")
        self.span = span


def ordered(members: frozenset[Value], kind: t.Type) -> list[Value]:
    """Members in an order that depends on nothing but their values."""
    if isinstance(kind, t.Enum):
        return [member for member in kind.members if member in members]
    return sorted(members, key=_sort_key)


def _sort_key(value: Value) -> tuple[object, ...]:
    match value:
        case None:
            return (0,)
        case bool() | int():
            return (1, int(value))
        case str():
            return (2, value)
        case tuple():
            return (3, len(value), tuple(_sort_key(v) for v in value))
        case _:
            return (4, len(value), tuple(sorted(_sort_key(v) for v in value)))


def items(value: Value) -> tuple[Value, ...]:
    """The parts of a record, map, sequence or ranking."""
    return cast(tuple[Value, ...], value)


def apply_builtin(e: n.Builtin, args: list[Value], universe: Universe) -> Value:
    """A built-in on values. Raises EvaluationError outside its domain."""

    def fail(why: str) -> EvaluationError:
        return EvaluationError(why, e.span)

    def bounded(grown: tuple[Value, ...]) -> tuple[Value, ...]:
        if isinstance(e.type, t.Seq) and len(grown) > universe.limit(e.type.limit):
            raise fail("the sequence grows past its limit")
        return grown

    first = args[0]
    match e.name:
        case "size":
            return len(cast(frozenset[Value], first))
        case "value":
            if first is None:
                raise fail("value(none)")
            return first
        case "default":
            return args[1] if first is None else first
        case "bump":
            return cast(int, first) + 1
        case "set":
            return frozenset(items(first))
        case "first":
            return next(iter(items(first)), None)
        case "last":
            return next(reversed(items(first)), None)
        case "append":
            if isinstance(e.type, t.Ranking):
                return (*(i for i in items(first) if i != args[1]), args[1])
            return bounded((*items(first), args[1]))
        case "remove":
            return tuple(i for i in items(first) if i != args[1])
        case "concat" if isinstance(e.type, t.Ranking):
            return (*items(first), *(i for i in items(args[1]) if i not in items(first)))
        case "keep":
            return tuple(i for i in items(first) if i in cast(frozenset[Value], args[1]))
        case "concat":
            return bounded((*items(first), *items(args[1])))
        case "take":
            return items(first)[: max(0, cast(int, args[1]))]
        case "drop":
            return items(first)[max(0, cast(int, args[1])) :]
        case "at" | "item":
            at = cast(int, args[1])
            if 0 <= at < len(items(first)):
                return items(first)[at]
            if e.name == "at":
                return None
            raise fail(f"position {at} of a sequence of {len(items(first))}")
        case "min" | "max":
            pool = cast(list[int], list(cast(frozenset[Value], first)) if len(args) == 1 else args)
            if not pool:
                raise fail(f"{e.name} of an empty set")
            return min(pool) if e.name == "min" else max(pool)
