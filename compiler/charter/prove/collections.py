"""Encodes sets, maps and lists as symbolic values, with their operators and primitives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.operators import StrictOp
from charter.prove.terms import FALSE, TRUE, Term
from charter.prove.terms_of_types import TermsOfTypes
from charter.prove.values import Bag, Fields, Line, Mask, Maybe, Number, ScalarTerm, Sym, Tagged

Coded = tuple[Sym, Term]


def anything(types: TermsOfTypes, kind: t.Type, found: Sym | None = None) -> Sym:
    """What was found, or else an arbitrary value of `kind`: the expression has none there."""
    return found or types.constant(kind, types.universe.least(kind))


def look_up(types: TermsOfTypes, kind: t.Map, table: Fields, key: Sym) -> Coded:
    """The value of a map at a key, and the condition that the key is in the domain."""
    hits = [types.equal(key, k) for k in types.keys(kind.key)[1]]
    value = pick_first(types, kind.value, list(zip(hits, table.items, strict=True)))
    return value, types.terms.or_(*hits) if t.may_miss(kind.key) else TRUE


def pick_first(types: TermsOfTypes, kind: t.Type, ways: list[tuple[Term, Sym]]) -> Sym:
    """The value of the first way whose condition holds; of the last way if none does."""
    ways = [way for way in ways if way[0] != FALSE]
    if not ways:
        return anything(types, kind)
    value = ways[-1][1]
    for condition, item in reversed(ways[:-1]):
        value = types.choose(condition, item, value)
    return value


def normal(types: TermsOfTypes, inner: t.Type, value: Mask | Bag) -> Mask | Bag:
    """A set as a mask if its element type is small enough."""
    return types.as_mask(inner, value) if types.is_finite(inner) else value


def listing(types: TermsOfTypes, kind: t.Type, items: tuple[Sym, ...]) -> Coded:
    """A literal sequence or ranking, and the condition that a ranking has no repeats."""
    line = Line(types.numbers.constant(len(items)), items)
    pairs = [(a, b) for i, a in enumerate(items) for b in items[:i]]
    if not isinstance(kind, t.Ranking):
        return line, TRUE
    return line, types.terms.not_(types.terms.or_(*(types.equal(a, b) for a, b in pairs)))


def is_case(types: TermsOfTypes, kind: t.Type, tag: str, target: Sym) -> Term:
    """That an option, a union or an enum is in a case."""
    match target:
        case Maybe(present=present):
            return present if tag == "present" else types.terms.not_(present)
        case Tagged(tag=term) | ScalarTerm(term=term):
            return types.terms.eq(term, types.tag(kind, tag))
        case _:
            raise TypeError(f"a case of {kind}")


def case_arg(types: TermsOfTypes, e: n.CaseArg[s.Expr], target: Sym) -> Sym:
    """What a case has at a position; anything where it cannot be in that case."""
    if isinstance(target, Maybe):
        found = target.inner
    else:
        args = cast(Tagged, target).cases[t.tags_of(e.target.type).index(e.tag)]
        found = None if args is None else args[e.position]
    return anything(types, e.type, found)


def operator(
    types: TermsOfTypes, e: n.Unary[s.Expr] | n.Binary[s.Expr, StrictOp], args: tuple[Sym, ...]
) -> Sym:
    """An operator that evaluates its operands."""
    terms, numbers, op = types.terms, types.numbers, e.op
    # Only names for the types: what these are is told by `op`.
    pair, sets = cast("tuple[Number, ...]", args), cast("tuple[Mask | Bag, ...]", args)
    match op:
        case "not":
            return ScalarTerm(terms.not_(cast(ScalarTerm, args[0]).term))
        case "negate":
            return numbers.negate(pair[0])
        case "eq":
            return ScalarTerm(types.equal(*args))
        case "ne":
            return ScalarTerm(terms.not_(types.equal(*args)))
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
            return ScalarTerm(types.contains(sets[1], args[0]))
        case "subset":
            return ScalarTerm(types.subset(*sets))
        case "union" | "intersection" | "difference":
            return _algebra(types, op, t.inner_of(e.type), sets)


def _algebra(
    types: TermsOfTypes, op: str, inner: t.Type, sets: tuple[Mask | Bag, ...]
) -> Mask | Bag:
    terms = types.terms
    a, b = (normal(types, inner, each) for each in sets)

    def member(x: Term, y: Term) -> Term:
        if op == "union":
            return terms.or_(x, y)
        return terms.and_(x, y if op == "intersection" else terms.not_(y))

    if isinstance(a, Mask) and isinstance(b, Mask) and a.keys == b.keys:
        members = (member(x, y) for x, y in zip(a.members, b.members, strict=True))
        return Mask(a.keys, tuple(members), a.items)
    if op == "union":
        return Bag((*types.members(a), *types.members(b)))
    found = ((member(x, types.contains(b, item)), item) for x, item in types.members(a))
    return Bag(tuple(found))


def size(types: TermsOfTypes, value: Sym) -> Number:
    """The size of a set, sequence or ranking."""
    match value:
        case Line(length=length):
            return length
        case Mask(members=members):
            return types.numbers.count(list(members))
        case Bag(items=items):
            return types.numbers.count([there for there, _ in distinct(types, items)])
        case _:
            raise TypeError("size of something that has none")


def distinct(
    types: TermsOfTypes, items: tuple[tuple[Term, Sym], ...]
) -> tuple[tuple[Term, Sym], ...]:
    """Items of a set, each only where none before it is the same."""
    terms, first = types.terms, list[tuple[Term, Sym]]()
    for i, (there, item) in enumerate(items):
        seen = terms.or_(*(terms.and_(p, types.equal(item, x)) for p, x in items[:i]))
        first.append((terms.and_(there, terms.not_(seen)), item))
    return tuple(first)


def primitive(types: TermsOfTypes, e: n.Primitive[s.Expr], args: tuple[Sym, ...]) -> Coded:
    """A primitive, and the condition that it has a value."""
    # Only names for the types: what these are is told by the name.
    line, number = cast(Line, args[0]), cast(Number, args[-1])
    match e.name:
        case "size":
            return size(types, args[0]), TRUE
        case "least" | "greatest":
            return _extreme(types, e, cast("Mask | Bag", args[0])), TRUE
        case "set":
            return normal(types, t.inner_of(e.type), Bag(_counting(types, line))), TRUE
        case "nth":
            item = _choose(types, number, enumerate(line.slots))
            return anything(types, e.type, item), TRUE
        case "keep":
            kept = Line(types.numbers.constant(0), ())
            for there, item in _counting(types, line):
                wanted = types.terms.and_(there, types.contains(cast("Mask | Bag", args[1]), item))
                grown = _join(types, kept, Line(types.numbers.constant(1), (item,)))
                kept = cast(Line, types.choose(wanted, grown, kept))
            return kept, TRUE
        case "take":
            return Line(_clamp(types, number, line.length), line.slots), TRUE
        case "drop":
            return _drop(types, line, _clamp(types, number, line.length)), TRUE
        case "join":
            both = _join(types, line, cast(Line, args[1]))
            assert isinstance(e.type, t.Seq | t.Ranking)
            most = types.longest(e.type)
            limited = isinstance(e.type, t.Seq)
            fits = types.numbers.within(both.length, 0, most) if limited else TRUE
            return Line(both.length, both.slots[:most]), fits


def _extreme(types: TermsOfTypes, e: n.Primitive[s.Expr], pool: Mask | Bag) -> Sym:
    """A member of a set that is not empty: the least or greatest number; for other types the first
    in the order of the domain. Without a domain the set has at most one member."""
    terms, numbers = types.terms, types.numbers
    members = types.members(pool)
    if not members or not isinstance(members[0][1], Number):
        order = members if e.name == "least" else members[::-1]
        return pick_first(types, e.type, list(order))
    found, best = members[0][0], members[0][1]
    for there, item in members[1:]:
        other = cast(Number, item)
        better = numbers.less(other, best) if e.name == "least" else numbers.less(best, other)
        take = terms.and_(there, terms.or_(terms.not_(found), better))
        best = numbers.choose(take, other, best)
        found = terms.or_(found, there)
    return best


# --- sequences and rankings ----------------------------------------------------------------------


def _counting(types: TermsOfTypes, line: Line) -> tuple[tuple[Term, Sym], ...]:
    """The slots that may count, and where they do."""
    numbers = types.numbers
    slots = ((numbers.less(numbers.constant(i), line.length), x) for i, x in enumerate(line.slots))
    return tuple((there, x) for there, x in slots if x is not None and there != FALSE)


def _choose(types: TermsOfTypes, at: Number, ways: Iterable[tuple[int, Sym | None]]) -> Sym | None:
    """What stands for the number `at`, the first of `ways` where none does."""
    found: Sym | None = None
    for number, item in ways:
        if found is None or item is None:
            found = found or item
        else:
            here = types.numbers.equal(at, types.numbers.constant(number))
            found = types.choose(here, item, found)
    return found


def _join(types: TermsOfTypes, a: Line, b: Line) -> Line:
    """Concatenation. Slots that cannot be in use are left out."""
    slots: list[Sym | None] = []
    for k in range(len(a.slots) + len(b.slots)):
        starts = range(max(0, k - len(b.slots) + 1), min(k, len(a.slots)) + 1)
        ways = [(start, b.slots[k - start]) for start in starts]
        slots.append(_choose(types, a.length, [(k + 1, x) for x in a.slots[k : k + 1]] + ways))
    return Line(types.numbers.add(a.length, b.length), tuple(slots))


def _drop(types: TermsOfTypes, line: Line, cut: Number) -> Line:
    numbers, slots = types.numbers, line.slots
    moved = (_choose(types, cut, enumerate(slots[k:])) for k in range(len(slots)))
    return Line(numbers.add(line.length, numbers.negate(cut)), tuple(moved))


def _clamp(types: TermsOfTypes, value: Number, longest: Number) -> Number:
    """`value`, at least 0 and at most `longest`."""
    numbers = types.numbers
    zero = numbers.constant(0)
    value = numbers.choose(numbers.less(value, zero), zero, value)
    return numbers.choose(numbers.less(longest, value), longest, value)
