"""Ints and counters as terms: words that are always wide enough, or integers."""

from __future__ import annotations

from dataclasses import dataclass

from charter.prove.terms import FALSE, INTEGER, TRUE, Term, Terms, TermSort
from charter.prove.values import CannotEncode, Number

WIDEST = 64


@dataclass(frozen=True, slots=True)
class Numbers:
    """Arithmetic. With `integers` numbers are unbounded, else words sized by their range."""

    terms: Terms
    integers: bool

    def sort(self, low: int | None, high: int | None) -> TermSort:
        """The sort of numbers from `low` to `high`."""
        if self.integers:
            return INTEGER
        if low is None or high is None:
            raise CannotEncode("a number without a range, where numbers are words")
        width = max(_bits(low), _bits(high))
        if width > WIDEST:
            raise CannotEncode(f"a number of more than {WIDEST} bits")
        return width

    def constant(self, value: int) -> Number:
        """A constant number."""
        return Number(self.terms.const(value, self.sort(value, value)), value, value)

    def variable(self, name: str, low: int | None, high: int | None) -> Number:
        """A fresh variable. The caller has to assert that it is in its range."""
        if low is not None and low == high:
            return self.constant(low)
        sort = self.sort(low, high)
        term = self.terms.var(name, sort)
        if self.integers:
            return Number(term, None, None)
        return Number(term, -(1 << (sort - 1)), (1 << (sort - 1)) - 1)

    def _same(self, a: Number, b: Number) -> tuple[Term, Term]:
        if self.integers:
            return a.term, b.term
        sort = max(self.terms.sort(a.term), self.terms.sort(b.term))
        return self.terms.extend(a.term, sort), self.terms.extend(b.term, sort)

    def equal(self, a: Number, b: Number) -> Term:
        """`a == b`."""
        if _below(a, b) or _below(b, a):
            return FALSE
        return self.terms.eq(*self._same(a, b))

    def less_equal(self, a: Number, b: Number) -> Term:
        """`a <= b`."""
        if a.high is not None and b.low is not None and a.high <= b.low:
            return TRUE
        if _below(b, a):
            return FALSE
        return self.terms.less_equal(*self._same(a, b))

    def less(self, a: Number, b: Number) -> Term:
        """`a < b`."""
        return self.terms.not_(self.less_equal(b, a))

    def within(self, value: Number, low: int | None, high: int | None) -> Term:
        """That a number is in a range."""
        parts = []
        if low is not None:
            parts.append(self.less_equal(self.constant(low), value))
        if high is not None:
            parts.append(self.less_equal(value, self.constant(high)))
        return self.terms.and_(*parts)

    def choose(self, condition: Term, a: Number, b: Number) -> Number:
        """`a` where `condition` holds, else `b`."""
        low, high = _least(a.low, b.low), _greatest(a.high, b.high)
        return Number(self.terms.ite(condition, *self._same(a, b)), low, high)

    def add(self, a: Number, b: Number) -> Number:
        """`a + b`."""
        low, high = _plus(a.low, b.low), _plus(a.high, b.high)
        return Number(self.terms.add(*self._wide(a, b, low, high)), low, high)

    def negate(self, a: Number) -> Number:
        """`-a`."""
        low, high = _minus(a.high), _minus(a.low)
        sort = INTEGER if self.integers else max(self.sort(low, high), self.terms.sort(a.term))
        term = a.term if self.integers else self.terms.extend(a.term, sort)
        return Number(self.terms.negate(term), low, high)

    def multiply(self, a: Number, b: Number) -> Number:
        """`a * b`."""
        low = high = None
        if None not in (a.low, a.high, b.low, b.high):
            assert a.low is not None and a.high is not None
            assert b.low is not None and b.high is not None
            ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            low, high = min(ends), max(ends)
        return Number(self.terms.multiply(*self._wide(a, b, low, high)), low, high)

    def _wide(self, a: Number, b: Number, low: int | None, high: int | None) -> tuple[Term, Term]:
        if self.integers:
            return a.term, b.term
        widths = (self.terms.sort(a.term), self.terms.sort(b.term), self.sort(low, high))
        sort = max(widths)
        return self.terms.extend(a.term, sort), self.terms.extend(b.term, sort)

    def count(self, conditions: list[Term]) -> Number:
        """How many of the conditions hold, as a balanced sum."""
        zero, one = self.constant(0), self.constant(1)
        sums = [self.choose(c, one, zero) for c in conditions if c != FALSE]
        while len(sums) > 1:
            pairs = [sums[i : i + 2] for i in range(0, len(sums), 2)]
            sums = [self.add(*p) if len(p) == 2 else p[0] for p in pairs]
        return sums[0] if sums else zero


def _bits(value: int) -> int:
    return (value if value >= 0 else ~value).bit_length() + 1


def _below(a: Number, b: Number) -> bool:
    return a.high is not None and b.low is not None and a.high < b.low


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _minus(a: int | None) -> int | None:
    return None if a is None else -a


def _least(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a, b)


def _greatest(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)
