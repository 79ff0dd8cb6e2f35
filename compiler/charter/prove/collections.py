"""Sets, maps and lists as symbolic values, and the operators and built-in functions on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never, cast

from charter.core import nodes as n
from charter.core import types as t
from charter.prove.layout import Layout
from charter.prove.terms import FALSE, TRUE, Term
from charter.prove.values import (
    Bag,
    Fields,
    Line,
    Mask,
    Maybe,
    Number,
    Scalar,
    Sym,
    Tagged,
    Unsupported,
)

Coded = tuple[Sym, Term]


def anything(layout: Layout, kind: t.Type) -> Sym:
    """Some value of `kind`, for places where nothing is defined."""
    match kind:
        case t.Bool():
            return Scalar(FALSE)
        case t.Int() | t.Counter():
            return layout.numbers.constant(layout.range(kind)[0] or 0)
        case t.Sort() | t.Enum():
            return Scalar(layout.word(0, layout.cardinality(kind)))
        case t.Option():
            return Maybe(FALSE, None)
        case t.Record(fields=fields):
            return Fields(tuple(anything(layout, part) for _, part in fields))
        case t.Union(cases=cases):
            first = tuple(anything(layout, part) for _, part in cases[0][1])
            return Tagged(layout.word(0, len(cases)), (first, *[None] * (len(cases) - 1)))
        case t.Set(inner=inner):
            return normal(layout, inner, Bag(()))
        case t.Map(key=key, value=value):
            return Fields((anything(layout, value),) * len(layout.keys(key)[0]))
        case t.Seq() | t.Ranking():
            return Line(layout.numbers.constant(0), ())
        case _:
            assert_never(kind)


def has_numbers(kind: t.Type) -> bool:
    """Whether values of a finite key type hold ints, so that a key may lie outside the domain."""
    match kind:
        case t.Int() | t.Seq() | t.Ranking():
            return True
        case t.Option(inner=inner) | t.Set(inner=inner) | t.Map(value=inner):
            return has_numbers(inner)
        case t.Record(fields=fields):
            return any(has_numbers(part) for _, part in fields)
        case t.Union(cases=cases):
            return any(has_numbers(part) for _, params in cases for _, part in params)
        case _:
            return False


def in_domain(layout: Layout, kind: t.Type, hits: list[Term]) -> Term:
    """That a key is one of the domain, from its comparisons with all of them."""
    return layout.terms.or_(*hits) if has_numbers(kind) else TRUE


def look_up(layout: Layout, kind: t.Map, table: Fields, key: Sym) -> Coded:
    """The value of a map at a key, and that the key is one."""
    hits = [layout.equal(key, k) for k in layout.keys(kind.key)[1]]
    value = pick_first(layout, kind.value, list(zip(hits, table.items, strict=True)))
    return value, in_domain(layout, kind.key, hits)


def pick_first(layout: Layout, kind: t.Type, ways: list[tuple[Term, Sym]]) -> Sym:
    """The value of the first way that is open; of the last one where none is."""
    ways = [way for way in ways if way[0] != FALSE]
    if not ways:
        return anything(layout, kind)
    value = ways[-1][1]
    for condition, item in reversed(ways[:-1]):
        value = layout.choose(condition, item, value)
    return value


def normal(layout: Layout, inner: t.Type, value: Mask | Bag) -> Mask | Bag:
    """A set as a mask where its elements are few enough."""
    return layout.as_mask(inner, value) if layout.is_finite(inner) else value


def infix(layout: Layout, e: n.Binary, left: Sym, right: Sym) -> Sym:
    """An infix operation other than and, or, implies."""
    terms, numbers = layout.terms, layout.numbers
    match e.op:
        case "eq":
            return Scalar(layout.equal(left, right))
        case "ne":
            return Scalar(terms.not_(layout.equal(left, right)))
        case "in":
            return Scalar(layout.contains(cast("Mask | Bag", right), left))
    if isinstance(left, Mask | Bag) and isinstance(right, Mask | Bag):
        return _set_infix(layout, e, left, right)
    a, b = cast(Number, left), cast(Number, right)
    match e.op:
        case "lt":
            return Scalar(numbers.less(a, b))
        case "le":
            return Scalar(numbers.less_equal(a, b))
        case "gt":
            return Scalar(numbers.less(b, a))
        case "ge":
            return Scalar(numbers.less_equal(b, a))
        case "add":
            return numbers.add(a, b)
        case "sub":
            return numbers.add(a, numbers.negate(b))
        case "mul":
            return numbers.multiply(a, b)
        case _:
            raise TypeError(f"{e.op} of numbers")


def _set_infix(layout: Layout, e: n.Binary, a: Mask | Bag, b: Mask | Bag) -> Sym:
    terms = layout.terms
    if e.op == "subset":
        return Scalar(layout.subset(a, b))
    assert isinstance(e.type, t.Set)
    a, b = normal(layout, e.type.inner, a), normal(layout, e.type.inner, b)
    if isinstance(a, Mask) and isinstance(b, Mask) and a.keys == b.keys:
        pairs = list(zip(a.members, b.members, strict=True))
        match e.op:
            case "union":
                members = [terms.or_(x, y) for x, y in pairs]
            case "intersection":
                members = [terms.and_(x, y) for x, y in pairs]
            case _:
                members = [terms.and_(x, terms.not_(y)) for x, y in pairs]
        return Mask(a.keys, tuple(members), a.items)
    each = layout.members(a)
    match e.op:
        case "union":
            return Bag((*each, *layout.members(b)))
        case "intersection":
            return Bag(tuple((terms.and_(p, layout.contains(b, x)), x) for p, x in each))
        case _:
            rest = ((terms.and_(p, terms.not_(layout.contains(b, x))), x) for p, x in each)
            return Bag(tuple(rest))


def size(layout: Layout, value: Sym) -> Number:
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


def builtin(layout: Layout, e: n.Builtin, args: tuple[Sym, ...]) -> Coded:
    """A built-in function, and where it has a value."""
    first = args[0]
    match e.name:
        case "size":
            return size(layout, first), TRUE
        case "value":
            option = cast(Maybe, first)
            if option.inner is None:
                return anything(layout, e.type), FALSE
            return option.inner, option.present
        case "default":
            option = cast(Maybe, first)
            if option.inner is None:
                return args[1], TRUE
            return layout.choose(option.present, option.inner, args[1]), TRUE
        case "bump":
            return layout.numbers.add(cast(Number, first), layout.numbers.constant(1)), TRUE
        case "min" | "max":
            return _extreme(layout, e, args)
        case _:
            return _listed(layout, e, cast(Line, first), args)


def _extreme(layout: Layout, e: n.Builtin, args: tuple[Sym, ...]) -> Coded:
    terms, numbers = layout.terms, layout.numbers
    if len(args) == 2:
        pool: tuple[tuple[Term, Sym], ...] = ((TRUE, args[0]), (TRUE, args[1]))
    else:
        pool = layout.members(cast("Mask | Bag", args[0]))
    if not pool:
        return anything(layout, e.type), FALSE
    found, best = pool[0][0], cast(Number, pool[0][1])
    for there, item in pool[1:]:
        other = cast(Number, item)
        better = numbers.less(other, best) if e.name == "min" else numbers.less(best, other)
        take = terms.and_(there, terms.or_(terms.not_(found), better))
        best = numbers.choose(take, other, best)
        found = terms.or_(found, there)
    return best, found


# --- sequences and rankings ----------------------------------------------------------------------


def _listed(layout: Layout, e: n.Builtin, line: Line, args: tuple[Sym, ...]) -> Coded:
    numbers = layout.numbers
    match e.name:
        case "set":
            assert isinstance(e.type, t.Set)
            items = ((there, slot) for there, slot in _slots(layout, line) if slot is not None)
            return normal(layout, e.type.inner, Bag(tuple(items))), TRUE
        case "first":
            return _at(layout, line, numbers.constant(0)), TRUE
        case "last":
            end = numbers.add(line.length, numbers.constant(-1))
            return _at(layout, line, end), TRUE
        case "at":
            return _at(layout, line, cast(Number, args[1])), TRUE
        case "item":
            found = _at(layout, line, cast(Number, args[1]))
            inner = anything(layout, e.type) if found.inner is None else found.inner
            return inner, found.present
        case "append" if isinstance(e.type, t.Ranking):
            moved = _append(layout, _remove(layout, line, args[1]), args[1])
            return _without_excess(layout, e.type, moved), TRUE
        case "append":
            return _bounded(layout, e, _append(layout, line, args[1]))
        case "remove":
            return _remove(layout, line, args[1]), TRUE
        case "keep":
            kept = cast("Mask | Bag", args[1])
            return _filtered(layout, line, lambda item: layout.contains(kept, item)), TRUE
        case "concat" if isinstance(e.type, t.Ranking):
            joined = _joined(layout, line, cast(Line, args[1]))
            return _without_excess(layout, e.type, joined), TRUE
        case "concat":
            return _bounded(layout, e, _concat(layout, line, cast(Line, args[1])))
        case "take" | "drop":
            cut = _clamp(layout, cast(Number, args[1]), line.length)
            return (_take(line, cut) if e.name == "take" else _drop(layout, line, cut)), TRUE
        case _:
            raise Unsupported(f"the built-in {e.name}")


def _slots(layout: Layout, line: Line) -> list[tuple[Term, Sym | None]]:
    """Every slot, and that it counts."""
    numbers = layout.numbers
    return [
        (numbers.less(numbers.constant(i), line.length), slot) for i, slot in enumerate(line.slots)
    ]


def _at(layout: Layout, line: Line, position: Number) -> Maybe:
    numbers = layout.numbers
    inside = layout.terms.and_(
        numbers.less_equal(numbers.constant(0), position), numbers.less(position, line.length)
    )
    held = [
        (layout.terms.and_(there, numbers.equal(position, numbers.constant(i))), slot)
        for i, (there, slot) in enumerate(_slots(layout, line))
        if slot is not None
    ]
    ways = [(here, slot) for here, slot in held if here != FALSE]
    if not ways:
        return Maybe(FALSE, None)
    value = ways[-1][1]
    for here, slot in reversed(ways[:-1]):
        value = layout.choose(here, slot, value)
    return Maybe(inside, value)


def _append(layout: Layout, line: Line, item: Sym) -> Line:
    numbers = layout.numbers
    slots: list[Sym] = []
    for i, slot in enumerate((*line.slots, None)):
        here = numbers.equal(line.length, numbers.constant(i))
        slots.append(item if slot is None else layout.choose(here, item, slot))
    return Line(numbers.add(line.length, numbers.constant(1)), tuple(slots))


def _remove(layout: Layout, line: Line, item: Sym) -> Line:
    """Of a ranking, which holds an item once at most: what follows it moves up by one."""
    terms, numbers = layout.terms, layout.numbers
    gone = FALSE
    slots: list[Sym | None] = []
    following = (*line.slots[1:], None)[: len(line.slots)]
    for (there, slot), after in zip(_slots(layout, line), following, strict=True):
        if slot is not None:
            gone = terms.or_(gone, terms.and_(there, layout.equal(slot, item)))
        slots.append(slot if slot is None or after is None else layout.choose(gone, after, slot))
    less = numbers.choose(gone, numbers.constant(-1), numbers.constant(0))
    return Line(numbers.add(line.length, less), tuple(slots))


def _filtered(layout: Layout, line: Line, wanted: Callable[[Sym], Term]) -> Line:
    """The items that are wanted, in their order."""
    kept = Line(layout.numbers.constant(0), ())
    for there, slot in _slots(layout, line):
        if slot is not None and there != FALSE:
            kept = _append_if(layout, layout.terms.and_(there, wanted(slot)), kept, slot)
    return kept


def _joined(layout: Layout, a: Line, b: Line) -> Line:
    """Of rankings: `a`, and behind it what only `b` holds."""
    held = Bag(tuple((there, slot) for there, slot in _slots(layout, a) if slot is not None))
    joined = a
    for there, slot in _slots(layout, b):
        if slot is not None and there != FALSE:
            new = layout.terms.and_(there, layout.terms.not_(layout.contains(held, slot)))
            joined = _append_if(layout, new, joined, slot)
    return joined


def _without_excess(layout: Layout, kind: t.Ranking, line: Line) -> Line:
    """Without the slots that a ranking, which repeats nothing, cannot reach."""
    return Line(line.length, line.slots[: layout.longest(kind)])


def _append_if(layout: Layout, condition: Term, line: Line, item: Sym) -> Line:
    grown = layout.choose(condition, _append(layout, line, item), line)
    return cast(Line, grown)


def _bounded(layout: Layout, e: n.Builtin, line: Line) -> Coded:
    assert isinstance(e.type, t.Seq)
    limit = layout.universe.limit(e.type.limit)
    fits = layout.numbers.within(line.length, 0, limit)
    return Line(line.length, line.slots[:limit]), fits


def _concat(layout: Layout, a: Line, b: Line) -> Line:
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
    return Line(numbers.add(a.length, b.length), tuple(slots))


def _clamp(layout: Layout, value: Number, longest: Number) -> Number:
    """`value`, at least 0 and at most `longest`."""
    numbers = layout.numbers
    zero = numbers.constant(0)
    value = numbers.choose(numbers.less(value, zero), zero, value)
    return numbers.choose(numbers.less(longest, value), longest, value)


def _take(line: Line, length: Number) -> Line:
    return Line(length, line.slots)


def _drop(layout: Layout, line: Line, cut: Number) -> Line:
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
