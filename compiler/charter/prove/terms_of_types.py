"""Represents the types of core as terms: variables, constants, equality, choice, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never, cast

from charter.core import types as t
from charter.core.nodes import Value
from charter.core.show import show_type
from charter.prove.numbers import Numbers
from charter.prove.terms import BOOL, FALSE, TRUE, Term, Terms
from charter.prove.values import (
    Bag,
    CannotEncode,
    Fields,
    Line,
    Mask,
    Maybe,
    Number,
    ScalarTerm,
    Sym,
    Tagged,
)
from charter.semantics.builtins import order
from charter.semantics.values import NotFinite, Universe, list_parts

LARGEST_SET = 4096
"""Sets over types with more values than this are not represented by one truth value for each."""


@dataclass(frozen=True, slots=True)
class TermsOfTypes:
    """The representation of types in one universe. `counter_bits` is the width of counters if
    numbers are words; if they are integers, counters are unbounded."""

    terms: Terms
    universe: Universe
    numbers: Numbers
    counter_bits: int
    _keys: dict[t.Type, tuple[tuple[Value, ...], tuple[Sym, ...]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @staticmethod
    def of(universe: Universe, *, integers: bool, counter_bits: int) -> TermsOfTypes:
        """With a fresh table of terms."""
        terms = Terms()
        return TermsOfTypes(terms, universe, Numbers(terms, integers), counter_bits)

    # --- finite domains --------------------------------------------------------------------------

    def keys(self, kind: t.Type) -> tuple[tuple[Value, ...], tuple[Sym, ...]]:
        """All values of a finite type in their canonical order, also as constants."""
        known = self._keys.get(kind)
        if known is None:
            if self.universe.cardinality(kind) > LARGEST_SET:
                raise CannotEncode(f"a domain of more than {LARGEST_SET} values: {show_type(kind)}")
            values = self.universe.domain(kind)
            known = values, tuple(self.constant(kind, value) for value in values)
            self._keys[kind] = known
        return known

    def is_finite(self, kind: t.Type) -> bool:
        """Whether a set over `kind` is represented by one truth value for each element."""
        try:
            return self.universe.cardinality(kind) <= LARGEST_SET
        except NotFinite:
            return False

    # --- constants and variables -----------------------------------------------------------------

    def word(self, position: int, count: int) -> Term:
        """Position `position` among `count`, as a word."""
        return self.terms.const(position, word_width(count))

    def tag(self, kind: t.Type, tag: str) -> Term:
        """A case of a union or an enum, as a word."""
        tags = t.tags_of(kind)
        return self.word(tags.index(tag), len(tags))

    def constant(self, kind: t.Type, value: Value) -> Sym:
        """A core value as a symbolic value."""
        match kind, value:
            case t.Bool(), bool():
                return ScalarTerm(TRUE if value else FALSE)
            case ((t.Int() | t.Counter()), int()):
                return self.numbers.constant(value)
            case t.Sort(name=name), int():
                return ScalarTerm(self.word(value, len(self.universe.sorts[name])))
            case t.Enum(members=members), str():
                return ScalarTerm(self.word(members.index(value), len(members)))
            case t.Option(), None:
                return Maybe(FALSE, None)
            case t.Option(inner=inner), _:
                return Maybe(TRUE, self.constant(inner, value))
            case ((t.Record() | t.Map()), tuple()):
                return Fields(self._constant_parts(kind, value))
            case t.Union(), (str(), *_):
                return self._constant_union(kind, value)
            case t.Set(inner=inner), frozenset():
                return self._constant_set(inner, value)
            case ((t.Seq() | t.Ranking()), tuple()):
                slots = self._constant_parts(kind, value)
                return Line(self.numbers.constant(len(slots)), slots)
            case _:
                raise TypeError(f"{value!r} is not a value of {kind}")

    def _constant_parts(self, kind: t.Type, value: Value) -> tuple[Sym, ...]:
        return tuple(self.constant(part, v) for part, v in list_parts(kind, value))

    def _constant_union(self, kind: t.Union, value: tuple[Value, ...]) -> Sym:
        tags = [tag for tag, _ in kind.cases]
        position = tags.index(cast(str, value[0]))
        inside = self._constant_parts(kind, value)
        cases = tuple(inside if i == position else None for i in range(len(tags)))
        return Tagged(self.word(position, len(tags)), cases)

    def _constant_set(self, inner: t.Type, value: frozenset[Value]) -> Sym:
        if not self.is_finite(inner):
            items = order(value, inner)
            return Bag(tuple((TRUE, self.constant(inner, item)) for item in items))
        keys, syms = self.keys(inner)
        return Mask(keys, tuple(TRUE if k in value else FALSE for k in keys), syms)

    def variable(self, kind: t.Type, name: str) -> Sym:
        """A fresh value of `kind`; its leaves are variables whose names start with `name`."""
        match kind:
            case t.Bool():
                return ScalarTerm(self.terms.var(name, BOOL))
            case t.Sort() | t.Enum():
                count = self.universe.cardinality(kind)
                if count == 1:
                    return ScalarTerm(self.word(0, 1))
                return ScalarTerm(self.terms.var(name, word_width(count)))
            case t.Int() | t.Counter():
                return self.numbers.variable(name, *self.range(kind))
            case t.Option(inner=inner):
                present = self.terms.var(f"{name}?", BOOL)
                return Maybe(present, self.variable(inner, f"{name}!"))
            case t.Record(fields=fields):
                return Fields(tuple(self.variable(p, f"{name}.{field}") for field, p in fields))
            case t.Union(cases=cases):
                tag = self.terms.var(f"{name}#", word_width(len(cases)))
                inside = (
                    tuple(self.variable(p, f"{name}.{tag}.{param}") for param, p in params)
                    for tag, params in cases
                )
                return Tagged(tag, tuple(inside))
            case t.Set(inner=inner):
                if not self.is_finite(inner):
                    raise CannotEncode(f"a variable of the type {show_type(kind)}")
                keys, items = self.keys(inner)
                bits = (self.terms.var(f"{name}[{i}]", BOOL) for i in range(len(keys)))
                return Mask(keys, tuple(bits), items)
            case t.Map(key=key, value=value):
                count = len(self.keys(key)[0])
                return Fields(tuple(self.variable(value, f"{name}[{i}]") for i in range(count)))
            case t.Seq() | t.Ranking():
                limit = self.longest(kind)
                slots = tuple(self.variable(kind.inner, f"{name}[{i}]") for i in range(limit))
                return Line(self.numbers.variable(f"{name}#", 0, limit), slots)
            case _:
                assert_never(kind)

    def longest(self, kind: t.Seq | t.Ranking) -> int:
        """The greatest length."""
        match kind:
            case t.Seq(limit=limit):
                return self.universe.limit(limit)
            case t.Ranking(inner=inner):
                return self.universe.cardinality(inner)

    def range(self, kind: t.Int | t.Counter) -> tuple[int | None, int | None]:
        """The least and the greatest number of a type; None: unbounded."""
        if isinstance(kind, t.Counter):
            return 0, None if self.numbers.integers else (1 << self.counter_bits) - 1
        low = None if kind.low is None else self.universe.limit(kind.low)
        high = None if kind.high is None else self.universe.limit(kind.high)
        return low, high

    # --- which values are values of a type -------------------------------------------------------

    def inside(self, kind: t.Type, value: Sym) -> Term:
        """That `value` is a value of `kind`: within ranges and lengths, no repeats in a ranking,
        and (of a variable) no position beyond the last element of its sort."""
        terms = self.terms
        match kind, value:
            case ((t.Int() | t.Counter()), Number()):
                return self.numbers.within(value, *self.range(kind))
            case ((t.Sort() | t.Enum()), ScalarTerm(term=term)):
                return self._one_of(term, self.universe.cardinality(kind))
            case t.Option(inner=inner), Maybe(present=present, inner=inside):
                if inside is None:
                    return TRUE
                return terms.implies(present, self.inside(inner, inside))
            case t.Record(fields=fields), Fields(items=items):
                pairs = zip(fields, items, strict=True)
                return terms.and_(*(self.inside(part, item) for (_, part), item in pairs))
            case t.Map(value=inner), Fields(items=items):
                return terms.and_(*(self.inside(inner, item) for item in items))
            case t.Union(cases=cases), Tagged(tag=tag, cases=found):
                parts = [self._one_of(tag, len(cases))]
                for i, ((_, params), items_of) in enumerate(zip(cases, found, strict=True)):
                    if items_of is not None:
                        here = terms.eq(tag, self.word(i, len(cases)))
                        each = zip(params, items_of, strict=True)
                        all_of = terms.and_(*(self.inside(p, item) for (_, p), item in each))
                        parts.append(terms.implies(here, all_of))
                return terms.and_(*parts)
            case ((t.Seq() | t.Ranking()), Line()):
                return self._inside_line(kind, value)
            case t.Set(inner=inner), (Mask() | Bag()):
                return self._inside_set(inner, value)
            case _:
                return TRUE

    def _one_of(self, term: Term, count: int) -> Term:
        width = self.terms.sort(term)
        beyond = (self.terms.const(i, width) for i in range(count, 1 << width))
        return self.terms.not_(self.terms.or_(*(self.terms.eq(term, b) for b in beyond)))

    def _inside_line(self, kind: t.Seq | t.Ranking, value: Line) -> Term:
        terms = self.terms
        parts = [self.numbers.within(value.length, 0, self.longest(kind))]
        for i, slot in enumerate(value.slots):
            if slot is not None:
                there = self.numbers.less(self.numbers.constant(i), value.length)
                parts.append(terms.implies(there, self.inside(kind.inner, slot)))
                if isinstance(kind, t.Ranking):
                    earlier = [s for s in value.slots[:i] if s is not None]
                    repeat = terms.or_(*(self.equal(slot, s) for s in earlier))
                    parts.append(terms.not_(terms.and_(there, repeat)))
        return terms.and_(*parts)

    def _inside_set(self, inner: t.Type, value: Mask | Bag) -> Term:
        if not self.is_finite(inner):
            return TRUE
        keys = self.keys(inner)[0]
        if isinstance(value, Mask):
            if value.keys == keys:
                return TRUE
            pairs = zip(value.keys, value.members, strict=True)
            return self.terms.not_(self.terms.or_(*(m for k, m in pairs if k not in keys)))
        pairs_of = ((there, self.inside(inner, item)) for there, item in value.items)
        return self.terms.and_(*(self.terms.implies(there, ok) for there, ok in pairs_of))

    # --- equality and choice ---------------------------------------------------------------------

    def equal(self, a: Sym, b: Sym) -> Term:
        """That two values of one type are equal."""
        terms = self.terms
        match a, b:
            case ScalarTerm(term=x), ScalarTerm(term=y):
                return terms.eq(x, y)
            case Number(), Number():
                return self.numbers.equal(a, b)
            case Maybe(present=p, inner=x), Maybe(present=q, inner=y):
                if x is None or y is None:
                    return terms.and_(terms.not_(p), terms.not_(q))
                same = terms.implies(terms.and_(p, q), self.equal(x, y))
                return terms.and_(terms.eq(p, q), same)
            case Fields(items=xs), Fields(items=ys):
                return terms.and_(*(self.equal(x, y) for x, y in zip(xs, ys, strict=True)))
            case Tagged(), Tagged():
                return self._equal_unions(a, b)
            case Line(), Line():
                return self._equal_lines(a, b)
            case ((Mask() | Bag()), (Mask() | Bag())):
                if isinstance(a, Mask) and isinstance(b, Mask) and a.keys == b.keys:
                    pairs = zip(a.members, b.members, strict=True)
                    return terms.and_(*(terms.eq(x, y) for x, y in pairs))
                return terms.and_(self.subset(a, b), self.subset(b, a))
            case _:
                raise TypeError(f"{a} and {b} have different shapes")

    def _equal_unions(self, a: Tagged, b: Tagged) -> Term:
        terms = self.terms
        parts = [terms.eq(a.tag, b.tag)]
        for i, (xs, ys) in enumerate(zip(a.cases, b.cases, strict=True)):
            here = terms.eq(a.tag, terms.const(i, terms.sort(a.tag)))
            if xs is None or ys is None:
                both = terms.and_(here, terms.eq(b.tag, terms.const(i, terms.sort(a.tag))))
                parts.append(terms.not_(both))
            else:
                same = terms.and_(*(self.equal(x, y) for x, y in zip(xs, ys, strict=True)))
                parts.append(terms.implies(here, same))
        return terms.and_(*parts)

    def _equal_lines(self, a: Line, b: Line) -> Term:
        terms, numbers = self.terms, self.numbers
        parts = [numbers.equal(a.length, b.length)]
        shared = min(len(a.slots), len(b.slots))
        for i in range(shared):
            there = numbers.less(numbers.constant(i), a.length)
            x, y = a.slots[i], b.slots[i]
            if x is None or y is None:
                parts.append(terms.not_(there))
            else:
                parts.append(terms.implies(there, self.equal(x, y)))
        parts.append(numbers.within(a.length, 0, shared))
        return terms.and_(*parts)

    def members(self, value: Mask | Bag) -> tuple[tuple[Term, Sym], ...]:
        """Every possible member with the condition under which it is there."""
        match value:
            case Bag(items=items):
                return items
            case Mask(members=members, items=items):
                pairs = zip(members, items, strict=True)
                return tuple((there, item) for there, item in pairs if there != FALSE)

    def contains(self, value: Mask | Bag, item: Sym) -> Term:
        """That `item` is a member of `value`."""
        terms = self.terms
        each = self.members(value)
        return terms.or_(*(terms.and_(there, self.equal(item, x)) for there, x in each))

    def subset(self, a: Mask | Bag, b: Mask | Bag) -> Term:
        """That all members of `a` are members of `b`."""
        terms = self.terms
        if isinstance(a, Mask) and isinstance(b, Mask) and a.keys == b.keys:
            pairs = zip(a.members, b.members, strict=True)
            return terms.and_(*(terms.implies(x, y) for x, y in pairs))
        each = self.members(a)
        return terms.and_(*(terms.implies(there, self.contains(b, x)) for there, x in each))

    def as_mask(self, inner: t.Type, value: Mask | Bag) -> Mask:
        """A set as a mask over all values of a finite type; other members are dropped."""
        keys, items = self.keys(inner)
        if isinstance(value, Mask) and value.keys == keys:
            return value
        if isinstance(value, Mask):
            there = dict(zip(value.keys, value.members, strict=True))
            return Mask(keys, tuple(there.get(k, FALSE) for k in keys), items)
        return Mask(keys, tuple(self.contains(value, item) for item in items), items)

    def fit(self, kind: t.Type, value: Sym) -> Sym:
        """`value` with its sets in the representation for `kind`."""
        match kind, value:
            case t.Set(inner=inner), (Mask() | Bag()) if self.is_finite(inner):
                return self.as_mask(inner, value)
            case t.Option(inner=inner), Maybe(inner=inside) if inside is not None:
                return replace(value, inner=self.fit(inner, inside))
            case t.Record(fields=fields), Fields(items=items):
                pairs = zip(fields, items, strict=True)
                return Fields(tuple(self.fit(part, item) for (_, part), item in pairs))
            case t.Map(value=inner), Fields(items=items):
                return Fields(tuple(self.fit(inner, item) for item in items))
            case _:
                return value

    def choose(self, condition: Term, a: Sym, b: Sym) -> Sym:
        """`a` where `condition` holds, else `b`."""
        if condition == TRUE or a == b:
            return a
        if condition == FALSE:
            return b
        terms = self.terms
        match a, b:
            case ScalarTerm(term=x), ScalarTerm(term=y):
                return ScalarTerm(terms.ite(condition, x, y))
            case Number(), Number():
                return self.numbers.choose(condition, a, b)
            case Maybe(present=p, inner=x), Maybe(present=q, inner=y):
                return Maybe(terms.ite(condition, p, q), self._choose_part(condition, x, y))
            case Fields(items=xs), Fields(items=ys):
                return Fields(self._choose_all(condition, xs, ys))
            case Tagged(tag=tag, cases=xs), Tagged(tag=other, cases=ys):
                cases = tuple(
                    (y if x is None else x)
                    if x is None or y is None
                    else self._choose_all(condition, x, y)
                    for x, y in zip(xs, ys, strict=True)
                )
                return Tagged(terms.ite(condition, tag, other), cases)
            case Line(), Line():
                count = max(len(a.slots), len(b.slots))
                padded = [(*v.slots, *[None] * (count - len(v.slots))) for v in (a, b)]
                slots = (self._choose_part(condition, x, y) for x, y in zip(*padded, strict=True))
                length = self.numbers.choose(condition, a.length, b.length)
                return Line(length, tuple(slots))
            case ((Mask() | Bag()), (Mask() | Bag())):
                return self._choose_set(condition, a, b)
            case _:
                raise TypeError(f"{a} and {b} have different shapes")

    def _choose_part(self, condition: Term, a: Sym | None, b: Sym | None) -> Sym | None:
        if a is None or b is None:
            return b if a is None else a
        return self.choose(condition, a, b)

    def _choose_all(self, condition: Term, a: Sequence[Sym], b: Sequence[Sym]) -> tuple[Sym, ...]:
        return tuple(self.choose(condition, x, y) for x, y in zip(a, b, strict=True))

    def _choose_set(self, condition: Term, a: Mask | Bag, b: Mask | Bag) -> Sym:
        terms = self.terms
        if isinstance(a, Mask) and isinstance(b, Mask) and a.keys == b.keys:
            pairs = zip(a.members, b.members, strict=True)
            members = tuple(terms.ite(condition, x, y) for x, y in pairs)
            return Mask(a.keys, members, a.items)
        otherwise = terms.not_(condition)
        return Bag(
            (
                *((terms.and_(condition, there), x) for there, x in self.members(a)),
                *((terms.and_(otherwise, there), x) for there, x in self.members(b)),
            )
        )


def word_width(count: int) -> int:
    """The width of a word with at least `count` values."""
    return max(1, (count - 1).bit_length())
