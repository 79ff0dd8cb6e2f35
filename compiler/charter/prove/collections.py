"""Sets, maps and lists as symbolic values, with their operators and primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as OneOf
from typing import cast

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.prove.layout import TermLayout
from charter.prove.numbers import Numbers
from charter.prove.terms import FALSE, TRUE, Term
from charter.prove.values import (
    Bag,
    Fields,
    Line,
    Mask,
    Maybe,
    Number,
    ScalarTerm,
    Sym,
    Tagged,
)

Coded = tuple[Sym, Term]


def anything(layout: TermLayout, kind: t.Type) -> Sym:
    """Some value of `kind`, for places where nothing is defined."""
    return layout.constant(kind, layout.universe.least(kind))


def in_domain(layout: TermLayout, kind: t.Type, hits: list[Term]) -> Term:
    """That a key is one of the domain, from its comparisons with all of them."""
    return layout.terms.or_(*hits) if t.may_miss(kind) else TRUE


def look_up(layout: TermLayout, kind: t.Map, table: Fields, key: Sym) -> Coded:
    """The value of a map at a key, and that the key is one."""
    hits = [layout.equal(key, k) for k in layout.keys(kind.key)[1]]
    value = pick_first(layout, kind.value, list(zip(hits, table.items, strict=True)))
    return value, in_domain(layout, kind.key, hits)


def pick_first(layout: TermLayout, kind: t.Type, ways: list[tuple[Term, Sym]]) -> Sym:
    """The value of the first way that is open; of the last one where none is."""
    ways = [way for way in ways if way[0] != FALSE]
    if not ways:
        return anything(layout, kind)
    value = ways[-1][1]
    for condition, item in reversed(ways[:-1]):
        value = layout.choose(condition, item, value)
    return value


def normal(layout: TermLayout, inner: t.Type, value: Mask | Bag) -> Mask | Bag:
    """A set as a mask where its elements are few enough."""
    return layout.as_mask(inner, value) if layout.is_finite(inner) else value


def listing(layout: TermLayout, kind: t.Type, items: tuple[Sym, ...]) -> Coded:
    """A sequence or ranking that is written out, and that a ranking repeats nothing."""
    line = Line(layout.numbers.constant(len(items)), items)
    pairs = [(a, b) for i, a in enumerate(items) for b in items[:i]]
    if not isinstance(kind, t.Ranking):
        return line, TRUE
    return line, layout.terms.not_(layout.terms.or_(*(layout.equal(a, b) for a, b in pairs)))


def is_case(layout: TermLayout, kind: t.Type, tag: str, target: Sym) -> Term:
    """That an option, a union or an enum is in a case."""
    match target:
        case Maybe(present=present):
            return present if tag == "present" else layout.terms.not_(present)
        case Tagged(tag=term) | ScalarTerm(term=term):
            return layout.terms.eq(term, layout.tag(kind, tag))
        case _:
            raise TypeError(f"a case of {kind}")


def case_arg(e: n.CaseArg[s.Expr], target: Sym) -> Sym | None:
    """What a case has at a position; None where it cannot be in that case."""
    if isinstance(target, Maybe):
        return target.inner
    found = cast(Tagged, target).cases[t.tags_of(e.target.type).index(e.tag)]
    return None if found is None else found[e.position]


def operator(
    layout: TermLayout, e: n.Unary[s.Expr] | n.Binary[s.Expr], args: tuple[Sym, ...]
) -> Sym:
    """An operator, but not `and`, `or`, `implies`."""
    terms, numbers, op = layout.terms, layout.numbers, e.op
    match op:
        case "not":
            return ScalarTerm(terms.not_(cast(ScalarTerm, args[0]).term))
        case "negate":
            return numbers.negate(cast(Number, args[0]))
        case "eq":
            return ScalarTerm(layout.equal(*args))
        case "ne":
            return ScalarTerm(terms.not_(layout.equal(*args)))
        case "in":
            return ScalarTerm(layout.contains(cast("Mask | Bag", args[1]), args[0]))
        case "subset":
            return ScalarTerm(
                layout.subset(cast("Mask | Bag", args[0]), cast("Mask | Bag", args[1]))
            )
        case "union" | "intersection" | "difference":
            return _algebra(layout, op, t.inner_of(e.type), cast("tuple[Mask | Bag, ...]", args))
        case "lt" | "le" | "gt" | "ge" | "add" | "sub" | "mul":
            return _of_numbers(numbers, op, *cast("tuple[Number, Number]", args))
        case "and" | "or" | "implies":
            raise AssertionError(f"{op} does not evaluate all of its operands")


def _of_numbers(
    numbers: Numbers,
    op: OneOf["lt", "le", "gt", "ge", "add", "sub", "mul"],
    a: Number,
    b: Number,
) -> Sym:
    match op:
        case "lt":
            return ScalarTerm(numbers.less(a, b))
        case "le":
            return ScalarTerm(numbers.less_equal(a, b))
        case "gt":
            return ScalarTerm(numbers.less(b, a))
        case "ge":
            return ScalarTerm(numbers.less_equal(b, a))
        case "add":
            return numbers.add(a, b)
        case "sub":
            return numbers.add(a, numbers.negate(b))
        case "mul":
            return numbers.multiply(a, b)


def _algebra(
    layout: TermLayout, op: str, inner: t.Type, sets: tuple[Mask | Bag, ...]
) -> Mask | Bag:
    terms = layout.terms
    a, b = (normal(layout, inner, each) for each in sets)
    if isinstance(a, Mask) and isinstance(b, Mask) and a.keys == b.keys:
        pairs = zip(a.members, b.members, strict=True)
        match op:
            case "union":
                members = [terms.or_(x, y) for x, y in pairs]
            case "intersection":
                members = [terms.and_(x, y) for x, y in pairs]
            case _:
                members = [terms.and_(x, terms.not_(y)) for x, y in pairs]
        return Mask(a.keys, tuple(members), a.items)
    if op == "union":
        return Bag((*layout.members(a), *layout.members(b)))

    def kept(there: Term, item: Sym) -> Term:
        inside = layout.contains(b, item)
        return terms.and_(there, inside if op == "intersection" else terms.not_(inside))

    return Bag(tuple((kept(there, item), item) for there, item in layout.members(a)))


def size(layout: TermLayout, value: Sym) -> Number:
    """The size of a set, sequence or ranking."""
    match value:
        case Line(length=length):
            return length
        case Mask(members=members):
            return layout.numbers.count(list(members))
        case Bag(items=items):
            first: list[Term] = []
            for i, (there, item) in enumerate(items):
                before = (layout.terms.and_(p, layout.equal(item, x)) for p, x in items[:i])
                seen = layout.terms.or_(*before)
                first.append(layout.terms.and_(there, layout.terms.not_(seen)))
            return layout.numbers.count(first)
        case _:
            raise TypeError("size of something that has none")


def primitive(layout: TermLayout, e: n.Primitive[s.Expr], args: tuple[Sym, ...]) -> Coded:
    """A primitive, and where it has a value."""
    match e.name:
        case "size":
            return size(layout, args[0]), TRUE
        case "least" | "greatest":
            return _extreme(layout, e, cast("Mask | Bag", args[0])), TRUE
        case "join":
            return _join(layout, e.type, cast(Line, args[0]), cast(Line, args[1]))
        case "set" | "nth" | "keep" | "take" | "drop":
            return _listed(layout, e, cast(Line, args[0]), args[-1]), TRUE


def _extreme(layout: TermLayout, e: n.Primitive[s.Expr], pool: Mask | Bag) -> Sym:
    """A member of a set that is not empty: of numbers the least or the greatest. Of others the
    first in the order of their domain; where they have none, the set has one member at most."""
    terms, numbers = layout.terms, layout.numbers
    members = layout.members(pool)
    if not members or not isinstance(members[0][1], Number):
        order = members if e.name == "least" else members[::-1]
        return pick_first(layout, e.type, list(order))
    found, best = members[0][0], members[0][1]
    for there, item in members[1:]:
        other = cast(Number, item)
        better = numbers.less(other, best) if e.name == "least" else numbers.less(best, other)
        take = terms.and_(there, terms.or_(terms.not_(found), better))
        best = numbers.choose(take, other, best)
        found = terms.or_(found, there)
    return best


# --- sequences and rankings ----------------------------------------------------------------------


def _listed(layout: TermLayout, e: n.Primitive[s.Expr], line: Line, last: Sym) -> Sym:
    match e.name:
        case "set":
            items = ((there, slot) for there, slot in _slots(layout, line) if slot is not None)
            return normal(layout, t.inner_of(e.type), Bag(tuple(items)))
        case "nth":
            position = cast(Number, last)
            ways = [
                (layout.numbers.equal(position, layout.numbers.constant(i)), slot)
                for i, slot in enumerate(line.slots)
                if slot is not None
            ]
            return pick_first(layout, e.type, ways)
        case "keep":
            kept = cast("Mask | Bag", last)
            return _filtered(layout, line, lambda item: layout.contains(kept, item))
        case "take":
            return Line(_clamp(layout, cast(Number, last), line.length), line.slots)
        case "drop":
            return _drop(layout, line, _clamp(layout, cast(Number, last), line.length))
        case "size" | "least" | "greatest" | "join":
            raise AssertionError(f"{e.name} of a list")


def _slots(layout: TermLayout, line: Line) -> list[tuple[Term, Sym | None]]:
    """Every slot, and that it counts."""
    numbers = layout.numbers
    return [
        (numbers.less(numbers.constant(i), line.length), slot) for i, slot in enumerate(line.slots)
    ]


def _append(layout: TermLayout, line: Line, item: Sym) -> Line:
    numbers = layout.numbers
    slots: list[Sym] = []
    for i, slot in enumerate((*line.slots, None)):
        here = numbers.equal(line.length, numbers.constant(i))
        slots.append(item if slot is None else layout.choose(here, item, slot))
    return Line(numbers.add(line.length, numbers.constant(1)), tuple(slots))


def _filtered(layout: TermLayout, line: Line, wanted: Callable[[Sym], Term]) -> Line:
    """The items that are wanted, in their order."""
    kept = Line(layout.numbers.constant(0), ())
    for there, slot in _slots(layout, line):
        if slot is not None and there != FALSE:
            kept = _append_if(layout, layout.terms.and_(there, wanted(slot)), kept, slot)
    return kept


def _append_if(layout: TermLayout, condition: Term, line: Line, item: Sym) -> Line:
    grown = layout.choose(condition, _append(layout, line, item), line)
    return cast(Line, grown)


def _join(layout: TermLayout, kind: t.Type, a: Line, b: Line) -> Coded:
    """One list behind the other. Slots that cannot count are left out."""
    numbers = layout.numbers
    slots: list[Sym | None] = []
    for k in range(len(a.slots) + len(b.slots)):
        value = a.slots[k] if k < len(a.slots) else None
        for start in range(min(k, len(a.slots)) + 1):
            if k - start < len(b.slots):
                other = b.slots[k - start]
                here = numbers.equal(a.length, numbers.constant(start))
                if value is None or other is None:
                    value = other if value is None else value
                else:
                    value = layout.choose(here, other, value)
        slots.append(value)
    length = numbers.add(a.length, b.length)
    assert isinstance(kind, t.Seq | t.Ranking)
    most = layout.longest(kind)
    fits = numbers.within(length, 0, most) if isinstance(kind, t.Seq) else TRUE
    return Line(length, tuple(slots[:most])), fits


def _clamp(layout: TermLayout, value: Number, longest: Number) -> Number:
    """`value`, at least 0 and at most `longest`."""
    numbers = layout.numbers
    zero = numbers.constant(0)
    value = numbers.choose(numbers.less(value, zero), zero, value)
    return numbers.choose(numbers.less(longest, value), longest, value)


def _drop(layout: TermLayout, line: Line, cut: Number) -> Line:
    numbers = layout.numbers
    slots: list[Sym | None] = []
    for k in range(len(line.slots)):
        value = line.slots[k]
        for shift in range(1, len(line.slots) - k):
            other = line.slots[k + shift]
            if value is not None and other is not None:
                here = numbers.equal(cut, numbers.constant(shift))
                value = layout.choose(here, other, value)
        slots.append(value)
    return Line(numbers.add(line.length, numbers.negate(cut)), tuple(slots))
