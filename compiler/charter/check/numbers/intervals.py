"""Intervals of integers whose ends may be constants of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from charter.core import types as ty


@dataclass(frozen=True, slots=True)
class Interval:
    """The integers from `low` to `high`, both included; None: no bound."""

    low: ty.Limit | None = None
    high: ty.Limit | None = None


ANY = Interval()


def exactly(number: int) -> Interval:
    """The interval of one number."""
    return Interval(ty.Limit("", number), ty.Limit("", number))


def shift(limit: ty.Limit | None, by: int) -> ty.Limit | None:
    """A limit plus a number."""
    return None if limit is None else ty.Limit(limit.const, limit.plus + by)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Interval arithmetic on limits; `consts` are the ranges of the constants."""

    consts: Mapping[str, ty.Type]

    def least(self, limit: ty.Limit | None) -> int | None:
        """The smallest value that a limit can have."""
        return self._number(limit, want_low=True)

    def greatest(self, limit: ty.Limit | None) -> int | None:
        """The greatest value that a limit can have."""
        return self._number(limit, want_low=False)

    def _number(self, limit: ty.Limit | None, *, want_low: bool) -> int | None:
        if limit is None:
            return None
        if not limit.const:
            return limit.plus
        kind = self.consts.get(limit.const)
        if not isinstance(kind, ty.Int):
            return None
        end = self._number(kind.low if want_low else kind.high, want_low=want_low)
        return None if end is None else end + limit.plus

    def at_most(self, left: ty.Limit, right: ty.Limit) -> bool:
        """Whether `left <= right` for all values of the constants."""
        if left.const == right.const:
            return left.plus <= right.plus
        high, low = self.greatest(left), self.least(right)
        return high is not None and low is not None and high <= low

    def inside(self, inner: Interval, outer: Interval) -> bool:
        """Whether every number of `inner` is in `outer`."""
        low = outer.low is None or (inner.low is not None and self.at_most(outer.low, inner.low))
        high = outer.high is None or (
            inner.high is not None and self.at_most(inner.high, outer.high)
        )
        return low and high

    def both(self, one: Interval, other: Interval) -> Interval:
        """The intersection; where bounds cannot be compared, that of `other`."""
        low, high = other.low or one.low, other.high or one.high
        if one.low and other.low and self.at_most(other.low, one.low):
            low = one.low
        if one.high and other.high and self.at_most(one.high, other.high):
            high = one.high
        return Interval(low, high)

    def either(self, one: Interval, other: Interval) -> Interval:
        """An interval that holds both."""
        return Interval(self.lower(one.low, other.low), self.upper(one.high, other.high))

    def lower(self, left: ty.Limit | None, right: ty.Limit | None) -> ty.Limit | None:
        """A limit that is at most `left` and at most `right`."""
        if left is None or right is None:
            return None
        if self.at_most(left, right):
            return left
        if self.at_most(right, left):
            return right
        one, other = self.least(left), self.least(right)
        return None if one is None or other is None else ty.Limit("", min(one, other))

    def upper(self, left: ty.Limit | None, right: ty.Limit | None) -> ty.Limit | None:
        """A limit that is at least `left` and at least `right`."""
        if left is None or right is None:
            return None
        if self.at_most(left, right):
            return right
        if self.at_most(right, left):
            return left
        one, other = self.greatest(left), self.greatest(right)
        return None if one is None or other is None else ty.Limit("", max(one, other))

    def smaller(self, one: Interval, other: Interval) -> Interval:
        """The interval of `min` of two numbers."""
        high = self.both(Interval(None, one.high), Interval(None, other.high)).high
        return Interval(self.lower(one.low, other.low), high)

    def greater(self, one: Interval, other: Interval) -> Interval:
        """The interval of `max` of two numbers."""
        low = self.both(Interval(one.low, None), Interval(other.low, None)).low
        return Interval(low, self.upper(one.high, other.high))

    def add(self, one: Interval, other: Interval) -> Interval:
        """The interval of a sum."""
        low = self._sum(one.low, other.low, want_low=True)
        return Interval(low, self._sum(one.high, other.high, want_low=False))

    def subtract(self, one: Interval, other: Interval) -> Interval:
        """The interval of a difference."""
        low = self._difference(one.low, other.high, want_low=True)
        return Interval(low, self._difference(one.high, other.low, want_low=False))

    def multiply(self, one: Interval, other: Interval) -> Interval:
        """The interval of a product."""
        ends = [
            (self.least(one.low), self.greatest(one.high)),
            (self.least(other.low), self.greatest(other.high)),
        ]
        (a, b), (c, d) = ends
        if a is None or b is None or c is None or d is None:
            return ANY
        products = (a * c, a * d, b * c, b * d)
        return Interval(ty.Limit("", min(products)), ty.Limit("", max(products)))

    def _sum(
        self, left: ty.Limit | None, right: ty.Limit | None, *, want_low: bool
    ) -> ty.Limit | None:
        if left is None or right is None:
            return None
        if left.const and right.const:
            number = self._number(right, want_low=want_low)
            return None if number is None else ty.Limit(left.const, left.plus + number)
        return ty.Limit(left.const or right.const, left.plus + right.plus)

    def _difference(
        self, left: ty.Limit | None, right: ty.Limit | None, *, want_low: bool
    ) -> ty.Limit | None:
        if left is None or right is None:
            return None
        if left.const == right.const:
            return ty.Limit("", left.plus - right.plus)
        number = self._number(right, want_low=not want_low)
        return None if number is None else ty.Limit(left.const, left.plus - number)
