"""Compares types, joins them, and writes their text."""

from __future__ import annotations

import re

from charter.core import nodes as ir
from charter.core import show
from charter.core import types as ty
from charter.core.walk import nodes

UNKNOWN = ty.Record("?", ())
"""The type of expressions with an error. It fits everywhere, so that one mistake is reported
once."""

INT = ty.Int()
BOOL = ty.Bool()


def is_unknown(kind: ty.Type) -> bool:
    """Whether this is the type of an expression with an error."""
    return isinstance(kind, ty.Record) and kind.name == "?"


def is_wrong(expr: ir.Expr) -> bool:
    """Whether a part of an expression has an error."""
    return any(is_unknown(node.type) for node in nodes(expr))


def expect_inside(
    expected: ty.Type | None, wrapper: type[ty.Option | ty.Set | ty.Ranking]
) -> ty.Type | None:
    """The type that is expected inside of an option, a set or a ranking."""
    if isinstance(expected, wrapper):
        return expected.inner
    return expected if expected is not None and is_unknown(expected) else None


def fits(actual: ty.Type, expected: ty.Type) -> bool:
    """Whether a value of `actual` can be used as one of `expected`. Ranges of integers are checked
    in `ranges`, so all integers fit each other here."""
    if actual is expected or is_unknown(actual) or is_unknown(expected):
        return True
    match actual, expected:
        case (ty.Int(), ty.Int()) | (ty.Bool(), ty.Bool()):
            return True
        case (
            (ty.Sort(name=one), ty.Sort(name=other))
            | (ty.Counter(name=one), ty.Counter(name=other))
            | (ty.Enum(name=one), ty.Enum(name=other))
            | (ty.Record(name=one), ty.Record(name=other))
            | (ty.Union(name=one), ty.Union(name=other))
        ):
            return one == other
        case (
            (ty.Option(inner=inside), ty.Option(inner=wanted))
            | (ty.Set(inner=inside), ty.Set(inner=wanted))
            | (ty.Ranking(inner=inside), ty.Ranking(inner=wanted))
        ):
            return fits(inside, wanted)
        case ty.Map(key=key, value=value), ty.Map(key=wanted_key, value=wanted):
            # Every key has a value: fewer or more numbers would be another map.
            return fits(key, wanted_key) and _same_numbers(key, wanted_key) and fits(value, wanted)
        case ty.Seq(inner=inside, limit=limit), ty.Seq(inner=wanted, limit=wanted_limit):
            return fits(inside, wanted) and at_most(limit, wanted_limit)
        case _:
            return False


def _same_numbers(one: ty.Type, other: ty.Type) -> bool:
    """Whether two types that fit each other have the same ranges of integers."""
    pairs = zip(ty.inside(one), ty.inside(other), strict=False)
    return all(a == b for a, b in pairs if isinstance(a, ty.Int) and isinstance(b, ty.Int))


def at_most(low: ty.Limit, high: ty.Limit) -> bool:
    """Whether `low <= high` for all values of the constants; False for different constants."""
    return low.const == high.const and low.plus <= high.plus


def join(left: ty.Type, right: ty.Type) -> ty.Type:
    """The least type of values of two types that fit each other."""
    if is_unknown(left):
        return right
    match left, right:
        case ty.Int(), ty.Int():
            return _join_ranges(left, right)
        case ty.Option(), ty.Option():
            return ty.Option(join(left.inner, right.inner))
        case ty.Set(), ty.Set():
            return ty.Set(join(left.inner, right.inner))
        case ty.Ranking(), ty.Ranking():
            return ty.Ranking(join(left.inner, right.inner))
        case ty.Seq(), ty.Seq():
            limit = left.limit if at_most(right.limit, left.limit) else right.limit
            return ty.Seq(join(left.inner, right.inner), limit)
        case ty.Map(), ty.Map():
            return ty.Map(left.key, join(left.value, right.value))
        case _:
            return left


def _join_ranges(left: ty.Int, right: ty.Int) -> ty.Int:
    """The least range that holds two others, if their limits can be compared."""
    if left.low is None or left.high is None or right.low is None or right.high is None:
        return INT
    low = _lower(left.low, right.low)
    high = right.high if _lower(left.high, right.high) == left.high else left.high
    both = low is not None and _lower(left.high, right.high) is not None
    return ty.Int(low, high) if both else INT


def _lower(one: ty.Limit, other: ty.Limit) -> ty.Limit | None:
    """The lower of two limits; None for different constants."""
    return one if at_most(one, other) else other if at_most(other, one) else None


def is_finite(kind: ty.Type) -> bool:
    """Whether all values of the type can be listed in an instance."""
    return not any(
        isinstance(part, ty.Counter)
        or (isinstance(part, ty.Int) and (part.low is None or part.high is None))
        for part in ty.inside(kind)
    )


def count(number: int, noun: str) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def show_limit(limit: ty.Limit | None) -> str:
    """`3`, `max_log`, `max_log + 1`, `?`."""
    text = show.show_limit(limit)
    return text if limit is None or not limit.const else re.sub("[+-]", r" \g<0> ", text)


def show_type(kind: ty.Type) -> str:
    """The type in charter notation."""
    return show.show_type(kind, show_limit).replace("int ?..?", "int")
