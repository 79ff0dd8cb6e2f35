"""Defines the built-in functions on values, and the order in which members of a set are looked
at."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Literal as OneOf
from typing import assert_never, cast

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.diagnostics import Span
from charter.semantics.values import Universe


class EvaluationError(Exception):
    """An expression has no value here (`value(none)`, an index outside, `the` of several...)."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(f"{span.where()}: {message}")
        self.message = message
        self.span = span

    def __reduce__(self) -> tuple[type[EvaluationError], tuple[object, ...]]:
        """How it is sent to another process. By default an exception is made from its text alone:
        this fails, and the receiver waits for ever."""
        return type(self), (self.message, self.span)


Items = tuple[Value, ...]
Members = frozenset[Value]


def order(members: Members, kind: t.Type) -> Sequence[Value]:
    """Members in an order that depends on nothing but their values."""
    match kind:
        case t.Enum():
            return [member for member in kind.members if member in members]
        case t.Bool() | t.Int() | t.Counter() | t.Sort():
            return sorted(cast(frozenset[int], members))
        case _:
            return sorted(members, key=sort_key)


def sort_key(value: Value) -> tuple[object, ...]:
    """A key for any values of one type."""
    match value:
        case None:
            return (0,)
        case bool() | int():
            return (1, int(value))
        case str():
            return (2, value)
        case tuple():
            return (3, len(value), tuple(sort_key(v) for v in value))
        case _:
            return (4, len(value), tuple(sorted(sort_key(v) for v in value)))


def items(value: Value) -> tuple[Value, ...]:
    """The parts of a record, map, sequence or ranking."""
    return cast(Items, value)


def builtin(e: n.Builtin) -> Callable[[Items, Universe], Value]:
    """A built-in as a function of its arguments, in a universe. Raises EvaluationError outside its
    domain."""
    match e.name:
        case "value":
            return lambda args, _: _present(e, args[0])
        case "default":
            return lambda args, _: args[1] if args[0] is None else args[0]
        case "bump":
            return lambda args, _: cast(int, args[0]) + 1
        case "size":
            return lambda args, _: len(cast(Members, args[0]))
        case "set":
            return lambda args, _: frozenset(items(args[0]))
        case "min" | "max":
            return lambda args, _: _extreme(e, args)
        case "first":
            return lambda args, _: next(iter(items(args[0])), None)
        case "last":
            return lambda args, _: next(reversed(items(args[0])), None)
        case "append" if isinstance(e.type, t.Ranking):
            return lambda args, _: (*(i for i in items(args[0]) if i != args[1]), args[1])
        case "append":
            return lambda args, universe: _check_bound(e, (*items(args[0]), args[1]), universe)
        case "remove":
            return lambda args, _: tuple([i for i in items(args[0]) if i != args[1]])
        case "concat":
            return lambda args, universe: _join(e, items(args[0]), items(args[1]), universe)
        case "keep":
            return lambda args, _: tuple([i for i in items(args[0]) if i in cast(Members, args[1])])
        case "take":
            return lambda args, _: items(args[0])[: max(0, cast(int, args[1]))]
        case "drop":
            return lambda args, _: items(args[0])[max(0, cast(int, args[1])) :]
        case "at" | "item":
            return lambda args, _: _at(e, items(args[0]), cast(int, args[1]))
        case "starts_with":
            return lambda args, _: items(args[0])[: len(items(args[1]))] == args[1]
        case _:
            assert_never(e.name)


def _present(e: n.Builtin, value: Value) -> Value:
    if value is None:
        raise EvaluationError("value(none)", e.span)
    return value


def _extreme(e: n.Builtin, args: Items) -> Value:
    pool = cast(Sequence[int], args if len(args) == 2 else [*cast(Members, args[0])])
    if not pool:
        raise EvaluationError(f"{e.name} of an empty set", e.span)
    return min(pool) if e.name == "min" else max(pool)


def _join(e: n.Builtin, first: Items, second: Items, universe: Universe) -> Value:
    if isinstance(e.type, t.Ranking):
        return (*first, *(i for i in second if i not in first))
    return _check_bound(e, (*first, *second), universe)


def _at(e: n.Builtin, whole: Items, at: int) -> Value:
    if 0 <= at < len(whole):
        return whole[at]
    if e.name == "at":
        return None
    raise EvaluationError(f"position {at} of a sequence of {len(whole)}", e.span)


def _check_bound(e: n.Builtin | n.Primitive, grown: Items, universe: Universe) -> Items:
    if isinstance(e.type, t.Seq) and len(grown) > universe.limit(e.type.limit):
        raise EvaluationError("the sequence grows past its limit", e.span)
    return grown


def apply_primitive(e: n.Primitive, args: Sequence[Value], universe: Universe) -> Value:
    """A primitive of small core on values. Raises EvaluationError where a list grows too long."""
    first = args[0]
    match e.name:
        case "size":
            return len(cast(Members, first))
        case "least" | "greatest":
            members = order(cast(Members, first), t.inner_of(e.args[0].type))
            return members[0 if e.name == "least" else -1]
        case "set":
            return frozenset(items(first))
        case "nth":
            return items(first)[cast(int, args[1])]
        case "join":
            return _check_bound(e, (*items(first), *items(args[1])), universe)
        case "keep":
            return tuple(i for i in items(first) if i in cast(Members, args[1]))
        case "take":
            return items(first)[: max(0, cast(int, args[1]))]
        case "drop":
            return items(first)[max(0, cast(int, args[1])) :]
        case _:
            assert_never(e.name)


_Infix = Callable[[Value, Value], Value]

Eager = OneOf[
    "lt", "le", "gt", "ge", "add", "sub", "mul", "union", "intersection", "difference", "subset",
]  # fmt: skip
"""The infix operations that look at both sides and are operators of Python on all values."""


def infix(op: Eager) -> Callable[[Value, Value], Value]:
    """An infix operation as a function of both sides. The check has seen to their types."""
    match op:
        case "union":
            return cast(_Infix, operator.or_)
        case "intersection":
            return cast(_Infix, operator.and_)
        case "difference" | "sub":
            return cast(_Infix, operator.sub)
        case "subset" | "le":
            return cast(_Infix, operator.le)
        case "lt":
            return cast(_Infix, operator.lt)
        case "gt":
            return cast(_Infix, operator.gt)
        case "ge":
            return cast(_Infix, operator.ge)
        case "add":
            return cast(_Infix, operator.add)
        case "mul":
            return cast(_Infix, operator.mul)
        case _:
            assert_never(op)
