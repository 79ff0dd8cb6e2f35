"""Sets, maps and lists as symbolic values, with their operators and primitives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.prove.layout import TermLayout
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
    """An arbitrary value of `kind`, where the expression has no value."""
    return layout.constant(kind, layout.universe.least(kind))


def look_up(layout: TermLayout, kind: t.Map, table: Fields, key: Sym) -> Coded:
    """The value of a map at a key, and the condition that the key is in the domain."""
    hits = [layout.equal(key, k) for k in layout.keys(kind.key)[1]]
    value = pick_first(layout, kind.value, list(zip(hits, table.items, strict=True)))
    return value, layout.terms.or_(*hits) if t.may_miss(kind.key) else TRUE


def pick_first(layout: TermLayout, kind: t.Type, ways: list[tuple[Term, Sym]]) -> Sym:
    """The value of the first way whose condition holds; of the last way if none does."""
    ways = [way for way in ways if way[0] != FALSE]
    if not ways:
        return anything(layout, kind)
    value = ways[-1][1]
    for condition, item in reversed(ways[:-1]):
        value = layout.choose(condition, item, value)
    return value


def normal(layout: TermLayout, inner: t.Type, value: Mask | Bag) -> Mask | Bag:
    """A set as a mask if its element type is small enough."""
    return layout.as_mask(inner, value) if layout.is_finite(inner) else value


def listing(layout: TermLayout, kind: t.Type, items: tuple[Sym, ...]) -> Coded:
    """A literal sequence or ranking, and the condition that a ranking has no repeats."""
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


def case_arg(layout: TermLayout, e: n.CaseArg[s.Expr], target: Sym) -> Sym:
    """What a case has at a position; anything where it cannot be in that case."""
    if isinstance(target, Maybe):
        found = target.inner
    else:
        args = cast(Tagged, target).cases[t.tags_of(e.target.type).index(e.tag)]
        found = None if args is None else args[e.position]
    return anything(layout, e.type) if found is None else found


def operator(
    layout: TermLayout, e: n.Unary[s.Expr] | n.Binary[s.Expr], args: tuple[Sym, ...]
) -> Sym:
    """An operator, but not `and`, `or`, `implies`."""
    terms, numbers, op = layout.terms, layout.numbers, e.op
    # Only names for the types: what these are is told by `op`.
    pair, sets = cast("tuple[Number, ...]", args), cast("tuple[Mask | Bag, ...]", args)
    match op:
        case "not":
            return ScalarTerm(terms.not_(cast(ScalarTerm, args[0]).term))
        case "negate":
            return numbers.negate(pair[0])
        case "eq":
            return ScalarTerm(layout.equal(*args))
        case "ne":
            return ScalarTerm(terms.not_(layout.equal(*args)))
        case "lt" | "gt":
            return ScalarTerm(numbers.less(*(pair if op == "lt" else pair[::-1])))
        case "le" | "ge":
            return ScalarTerm(numbers.less_equal(*(pair if op == "le" else pair[::-1])))
        case "add":
            return numbers.add(*pair)
        case "sub":
            return numbers.add(pair[0], numbers.negate(pair[1]))
        case "mul":
            return numbers.multiply(*pair)
        case "in":
            return ScalarTerm(layout.contains(sets[1], args[0]))
        case "subset":
            return ScalarTerm(layout.subset(*sets))
        case "union" | "intersection" | "difference":
            return _algebra(layout, op, t.inner_of(e.type), sets)
        case "and" | "or" | "implies":
            raise AssertionError(f"{op} does not evaluate all of its operands")


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
    """A primitive, and the condition that it has a value."""
    # Only names for the types: what these are is told by the name.
    line, number = cast(Line, args[0]), cast(Number, args[-1])
    match e.name:
        case "size":
            return size(layout, args[0]), TRUE
        case "least" | "greatest":
            return _extreme(layout, e, cast("Mask | Bag", args[0])), TRUE
        case "set":
            return normal(layout, t.inner_of(e.type), Bag(_counting(layout, line))), TRUE
        case "nth":
            numbers = layout.numbers
            ways = [
                (numbers.equal(number, numbers.constant(i)), item)
                for i, item in enumerate(line.slots)
                if item is not None
            ]
            return pick_first(layout, e.type, ways), TRUE
        case "keep":
            kept = Line(layout.numbers.constant(0), ())
            for there, item in _counting(layout, line):
                wanted = layout.terms.and_(
                    there, layout.contains(cast("Mask | Bag", args[1]), item)
                )
                grown = _joined(layout, kept, Line(layout.numbers.constant(1), (item,)))
                kept = cast(Line, layout.choose(wanted, grown, kept))
            return kept, TRUE
        case "take":
            return Line(_clamp(layout, number, line.length), line.slots), TRUE
        case "drop":
            return _drop(layout, line, _clamp(layout, number, line.length)), TRUE
        case "join":
            both = _joined(layout, line, cast(Line, args[1]))
            assert isinstance(e.type, t.Seq | t.Ranking)
            most = layout.longest(e.type)
            limited = isinstance(e.type, t.Seq)
            fits = layout.numbers.within(both.length, 0, most) if limited else TRUE
            return Line(both.length, both.slots[:most]), fits


def _extreme(layout: TermLayout, e: n.Primitive[s.Expr], pool: Mask | Bag) -> Sym:
    """A member of a set that is not empty: the least or greatest number; for other types the first
    in the order of the domain. Without a domain the set has at most one member."""
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


def _counting(layout: TermLayout, line: Line) -> tuple[tuple[Term, Sym], ...]:
    """The slots that may count, and where they do."""
    numbers = layout.numbers
    slots = ((numbers.less(numbers.constant(i), line.length), x) for i, x in enumerate(line.slots))
    return tuple((there, x) for there, x in slots if x is not None and there != FALSE)


def _chosen(layout: TermLayout, at: Number, ways: Iterable[tuple[int, Sym | None]]) -> Sym | None:
    """What stands for the number `at`, the first of `ways` where none does."""
    found: Sym | None = None
    for number, item in ways:
        if found is None or item is None:
            found = found or item
        else:
            here = layout.numbers.equal(at, layout.numbers.constant(number))
            found = layout.choose(here, item, found)
    return found


def _joined(layout: TermLayout, a: Line, b: Line) -> Line:
    """Concatenation. Slots that cannot be in use are left out."""
    slots: list[Sym | None] = []
    for k in range(len(a.slots) + len(b.slots)):
        starts = range(max(0, k - len(b.slots) + 1), min(k, len(a.slots)) + 1)
        ways = [(start, b.slots[k - start]) for start in starts]
        slots.append(_chosen(layout, a.length, [(k + 1, x) for x in a.slots[k : k + 1]] + ways))
    return Line(layout.numbers.add(a.length, b.length), tuple(slots))


def _drop(layout: TermLayout, line: Line, cut: Number) -> Line:
    numbers, slots = layout.numbers, line.slots
    moved = (_chosen(layout, cut, enumerate(slots[k:])) for k in range(len(slots)))
    return Line(numbers.add(line.length, numbers.negate(cut)), tuple(moved))


def _clamp(layout: TermLayout, value: Number, longest: Number) -> Number:
    """`value`, at least 0 and at most `longest`."""
    numbers = layout.numbers
    zero = numbers.constant(0)
    value = numbers.choose(numbers.less(value, zero), zero, value)
    return numbers.choose(numbers.less(longest, value), longest, value)
