"""Derives what is known about numbers at a place in a charter: their intervals, and relations
between them from comparisons that are true there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from charter.check.numbers.intervals import ANY, Arithmetic, Interval, exactly, shift
from charter.check.numbers.relations import (
    Linear,
    at_most_zero,
    cancel,
    const,
    is_implied,
    keys_in,
    linear,
    of_clamps,
    of_limit,
)
from charter.check.numbers.value_slots import inner_of
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import substitute

Terms = frozenset[tuple[ir.Expr, int]]
"""The terms of a sum, each with its factor."""
_MOST_RELATIONS = 3
"""How many relations are added up in one proof."""


@dataclass(frozen=True, slots=True)
class KnownNumbers:
    """What is known at a place: intervals of lets (`locals`) and of compared expressions (`facts`),
    values of lets, and sums that are at most 0 (`relations`): of those with the same terms the one
    that says most."""

    arithmetic: Arithmetic
    locals: Mapping[str, Interval] = field(default_factory=dict)
    values: Mapping[str, ir.Expr] = field(default_factory=dict)
    facts: Mapping[ir.Expr, Interval] = field(default_factory=dict)
    relations: Mapping[Terms, Linear] = field(default_factory=dict)

    def let(self, name: str, value: ir.Expr) -> KnownNumbers:
        """What is known where `name` has this value."""
        values = {**self.values, name: substitute(value, dict(self.values))}
        if not isinstance(value.type, ty.Int):
            return replace(self, values=values)
        locals_ = {**self.locals, name: self.interval(value)}
        return replace(self, values=values, locals=locals_)

    def ranging(self, name: str, domain: ir.Expr) -> KnownNumbers:
        """What is known where `name` is a member of `domain`."""
        if not isinstance(domain.type, ty.Set) or not isinstance(domain.type.inner, ty.Int):
            return self
        return replace(self, locals={**self.locals, name: self.of_members(domain)})

    def assume(self, condition: ir.Expr, *, truth: bool) -> KnownNumbers:
        """What is known where `condition` has the value `truth`."""
        match condition:
            case ir.Unary(op="not"):
                return self.assume(condition.operand, truth=not truth)
            case ir.Binary(op="and" | "or" as op):
                if truth != (op == "and"):
                    return self
                left = self.assume(condition.left, truth=truth)
                return left.assume(condition.right, truth=truth)
            case ir.Binary(op="implies"):
                if truth:
                    return self
                return self.assume(condition.left, truth=True).assume(condition.right, truth=False)
            case ir.Local(name=name) if name in self.values:
                return self.assume(self.values[name], truth=truth)
            case ir.Let():  # an assumption below a `let` of the operation
                body = substitute(condition.body, {condition.name: condition.value})
                return self.assume(body, truth=truth)
            case ir.Binary() if isinstance(condition.left.type, ty.Int):
                return self.compare(condition, truth=truth)
            case _:
                return self

    def compare(self, condition: ir.Binary, *, truth: bool) -> KnownNumbers:
        op = condition.op if truth else condition.traits.opposite
        left, right = condition.left, condition.right
        one, other = self.interval(left), self.interval(right)
        match op:
            case None:
                return self
            case "lt":
                new, new_other = (
                    Interval(None, shift(other.high, -1)),
                    Interval(shift(one.low, 1), None),
                )
            case "le":
                new, new_other = Interval(None, other.high), Interval(one.low, None)
            case "gt":
                new, new_other = (
                    Interval(shift(other.low, 1), None),
                    Interval(None, shift(one.high, -1)),
                )
            case "ge":
                new, new_other = Interval(other.low, None), Interval(None, one.high)
            case "eq":
                new, new_other = other, one
            case "ne":
                new, new_other = _without(one, other), _without(other, one)
            case _:
                return self
        gap = self.sum_of(left).plus(self.sum_of(right), -1)
        known = self.learn(left, new).learn(right, new_other)
        relations = dict(self.relations)
        for form in self.relate(op, gap):
            terms = frozenset(form.terms.items())
            if terms not in relations or form.number > relations[terms].number:
                relations[terms] = form
        return replace(known, relations=relations)

    def relate(self, op: ir.RichOp, gap: Linear) -> tuple[Linear, ...]:
        """The sums that are at most 0 where `left op right` is true and `gap` is the difference.
        Of two different numbers, it must be known which one is not the greater."""
        if op != "ne":
            return at_most_zero(op, gap)
        sides = (gap, gap.times(-1))
        known = (side for side in sides if self.is_related(side))
        return tuple(side.plus(Linear(1)) for side in known)

    def is_related(self, form: Linear) -> bool:
        """Whether one relation shows that `form` is at most 0."""
        found = self.relations.get(frozenset(form.terms.items()))
        return found is not None and is_implied(form, found)

    def above(self, expr: ir.Expr, low: ty.Limit | None) -> bool:
        """Whether `expr` is at least `low`. For `max` one side suffices, for `min` both are
        needed."""
        if isinstance(expr, ir.Builtin) and len(expr.args) == 2 and expr.traits.picks:
            sides = (self.above(side, low) for side in expr.args)
            if any(sides) if expr.traits.picks == "greatest" else all(sides):
                return True
        if all(found := [place.above(part, low) for place, part in self.ways(expr)]) and found:
            return True
        if low is None or self.arithmetic.inside(self.interval(expr), Interval(low, None)):
            return True
        return self.is_at_most_zero(of_limit(low).plus(self.sum_of(expr), -1))

    def below(self, expr: ir.Expr, high: ty.Limit | None) -> bool:
        """Whether `expr` is at most `high`. For `min` one side suffices, for `max` both are
        needed."""
        if isinstance(expr, ir.Builtin) and len(expr.args) == 2 and expr.traits.picks:
            sides = (self.below(side, high) for side in expr.args)
            if any(sides) if expr.traits.picks == "least" else all(sides):
                return True
        if all(found := [place.below(part, high) for place, part in self.ways(expr)]) and found:
            return True
        if high is None or self.arithmetic.inside(self.interval(expr), Interval(None, high)):
            return True
        return self.is_at_most_zero(self.sum_of(expr).plus(of_limit(high), -1))

    def ways(self, expr: ir.Expr) -> Iterator[tuple[KnownNumbers, ir.Expr]]:
        """The two numbers that an `if` may be, or a local that is one, each with what is known
        there; nothing for other expressions."""
        whole = self.values.get(expr.name, expr) if isinstance(expr, ir.Local) else expr
        if isinstance(whole, ir.If):
            yield self.assume(whole.condition, truth=True), whole.then
            yield self.assume(whole.condition, truth=False), whole.otherwise

    def sum_of(self, expr: ir.Expr) -> Linear:
        """The number `expr` as a sum, with the values of lets."""
        return linear(substitute(expr, dict(self.values)))

    def is_at_most_zero(self, form: Linear, most: int = _MOST_RELATIONS) -> bool:
        """Whether the intervals of its terms, or up to `most` relations, show that a sum is at most
        0."""
        greatest = self.greatest(form)
        if greatest is not None and greatest <= 0:
            return True
        return most > 0 and any(
            self.is_at_most_zero(left, most - 1)
            for relation in (*self.relations.values(), *of_clamps(form), *self.of_sums(form))
            for left in cancel(form, relation)
        )

    def of_sums(self, form: Linear) -> Iterator[Linear]:
        """The sums that are at most 0 because `form` has `held[a]` and `sum x in T: held[x]`, where
        no number is negative: one of them is at most all of them."""
        for whole in form.terms:
            if not isinstance(whole, ir.Quantified) or whole.kind != "sum":
                continue
            if not isinstance(whole.domain, ir.Domain):
                continue
            each = self.ranging(whole.name, whole.domain).interval(whole.body)
            if self.arithmetic.inside(each, Interval(ty.Limit(), None)):
                parts = (term for term in form.terms if self.is_part(term, whole))
                yield from (Linear(0, {part: 1, whole: -1}) for part in parts)

    def is_part(self, term: ir.Expr, whole: ir.Quantified) -> bool:
        """Whether `term` is the body of `whole` for a value of its domain: the key of a lookup."""
        return any(
            self.is_member(key, whole.domain.type)
            and substitute(whole.body, {whole.name: key}) == term
            for key in keys_in(term)
        )

    def is_member(self, key: ir.Expr, group: ty.Type) -> bool:
        """Whether a value is in the set of all values of a type."""
        match group:
            case ty.Set(inner=ty.Int() as numbers):
                return self.arithmetic.inside(self.interval(key), of_type(numbers))
            case _:
                return ty.Set(key.type) == group

    def greatest(self, form: Linear) -> int | None:
        """The greatest value that the intervals of its terms allow a sum. Constants stay symbols
        until no other term is left: their limits name constants above them."""
        others = (term for term in form.terms if not isinstance(term, ir.ConstRef))
        consts = reversed(tuple(self.arithmetic.consts.items()))
        known = [(term, self.interval(term)) for term in others]
        for term, interval in (*known, *((const(name), of_type(kind)) for name, kind in consts)):
            factor = form.terms.get(term, 0)
            limit = interval.high if factor > 0 else interval.low
            if factor and limit is not None:
                form = form.plus(Linear(0, {term: 1}), -factor).plus(of_limit(limit), factor)
        return None if form.terms else form.number

    def learn(self, path: ir.Expr, interval: Interval) -> KnownNumbers:
        if interval == ANY or isinstance(path, ir.Literal):
            return self
        known = substitute(path, dict(self.values))
        before = self.facts.get(known)
        new = interval if before is None else self.arithmetic.both(before, interval)
        return replace(self, facts={**self.facts, known: new})

    def interval(self, expr: ir.Expr) -> Interval:
        """The interval of the number `expr`."""
        found = self.by_shape(expr)
        if self.facts:
            known = self.facts.get(substitute(expr, dict(self.values)))
            if known is not None:
                found = self.arithmetic.both(found, known)
        return found

    def by_shape(self, expr: ir.Expr) -> Interval:
        reckon = self.arithmetic
        match expr:
            case ir.Literal(value=int(number)):
                return exactly(number)
            case ir.ConstRef(name=name):
                return Interval(ty.Limit(name), ty.Limit(name))
            case ir.Local(name=name) if name in self.locals:
                return self.locals[name]
            case ir.Binary(op="add"):
                return reckon.add(self.interval(expr.left), self.interval(expr.right))
            case ir.Binary(op="sub"):
                return reckon.subtract(self.interval(expr.left), self.interval(expr.right))
            case ir.Binary(op="mul"):
                return reckon.multiply(self.interval(expr.left), self.interval(expr.right))
            case ir.Unary(op="negate"):
                return reckon.subtract(exactly(0), self.interval(expr.operand))
            case ir.If():
                return reckon.either(
                    self.assume(expr.condition, truth=True).interval(expr.then),
                    self.assume(expr.condition, truth=False).interval(expr.otherwise),
                )
            case ir.Let():
                return self.let(expr.name, expr.value).interval(expr.body)
            case ir.Match():
                return self.any_case(expr)
            case ir.Builtin():
                return self.of_builtin(expr)
            case ir.Quantified(kind="the"):
                return self.of_members(expr.domain)
            case ir.Quantified(kind="sum"):
                return self.of_sum(expr)
            case _:
                return of_type(expr.type)

    def any_case(self, expr: ir.Match) -> Interval:
        found: Interval | None = None
        for case in expr.cases:
            inside = self.interval(case.body)
            found = inside if found is None else self.arithmetic.either(found, inside)
        return found or ANY

    def of_builtin(self, expr: ir.Builtin) -> Interval:
        match expr.name, expr.args:
            case "size", (of,):
                return Interval(ty.Limit("", 0), self.most_items(of))
            case "min", (left, right):
                return self.arithmetic.smaller(self.interval(left), self.interval(right))
            case "max", (left, right):
                return self.arithmetic.greater(self.interval(left), self.interval(right))
            case "min" | "max", (group,):
                return self.of_members(group)
            case "default", (option, otherwise):
                inner = of_type(inner_of(option.type) or expr.type)
                return self.arithmetic.either(inner, self.interval(otherwise))
            case _:
                return of_type(expr.type)

    def of_sum(self, expr: ir.Quantified) -> Interval:
        """As many numbers as the domain has members, each in the interval of the body."""
        zero = ty.Limit()
        each = self.ranging(expr.name, expr.domain).interval(expr.body)
        found = self.arithmetic.multiply(self.items_of(expr.domain), each)
        not_negative = self.arithmetic.inside(each, Interval(zero, None))
        not_positive = self.arithmetic.inside(each, Interval(None, zero))
        sign = Interval(zero if not_negative else None, zero if not_positive else None)
        return self.arithmetic.both(found, sign)

    def items_of(self, domain: ir.Expr) -> Interval:
        """How many members a domain can have."""
        most = self.most_items(domain)
        match domain, domain.type:
            case ir.Domain(), ty.Set(inner=ty.Int(low=low, high=high)):
                span = self.arithmetic.subtract(Interval(high, high), Interval(low, low))
                return Interval(shift(span.low, 1), most)
            case ir.Domain(), _:
                return Interval(most, most)
            case _:
                return Interval(ty.Limit(), most)

    def most_items(self, of: ir.Expr) -> ty.Limit | None:
        """The greatest size that a set, a sequence or a ranking can have."""
        match of, of.type:
            case ((ir.SetNew(items=items) | ir.SeqNew(items=items)), _):
                return ty.Limit("", len(items))
            case _, ty.Seq(limit=limit):
                return limit
            case _, ty.Set(inner=ty.Enum(members=all_)) | ty.Ranking(inner=ty.Enum(members=all_)):
                return ty.Limit("", len(all_))
            case _, ty.Set(inner=ty.Bool()):
                return ty.Limit("", 2)
            case _, ty.Set(inner=ty.Int(high=ty.Limit()) as inner):
                numbers = of_type(inner)
                return shift(self.arithmetic.subtract(numbers, numbers).high, 1)
            case ir.Comprehend(flatten=False, domain=inside), _:
                return self.most_items(inside)
            case ir.Binary() as made, _ if len(made.traits.members_from) == 1:
                return self.most_items(made.side(made.traits.members_from[0]))
            case _:
                return None

    def of_members(self, group: ir.Expr) -> Interval:
        """The interval of all members of a set of numbers."""
        match group:
            case ir.SetNew(items=(first, *rest)):
                found = self.interval(first)
                for item in rest:
                    found = self.arithmetic.either(found, self.interval(item))
                return found
            case ir.Binary() if group.traits.members_from:
                sides = [self.of_members(group.side(s)) for s in group.traits.members_from]
                return reduce(self.arithmetic.either, sides)
            case ir.Comprehend():
                inside = self.ranging(group.name, group.domain)
                inside = inside.assume(group.condition, truth=True)
                if group.flatten:
                    return inside.of_members(group.body)
                return inside.interval(group.body)
            case ir.Local(name=name) if name in self.values:
                return self.of_members(self.values[name])
            case _:
                return of_type(group.type.inner) if isinstance(group.type, ty.Set) else ANY


def of_type(kind: ty.Type) -> Interval:
    """The range of an integer type."""
    return Interval(kind.low, kind.high) if isinstance(kind, ty.Int) else ANY


def _without(found: Interval, other: Interval) -> Interval:
    """`found` without a bound that is the only number of `other`."""
    if other.low is None or other.low != other.high:
        return ANY
    low = shift(found.low, 1) if found.low == other.low else None
    high = shift(found.high, -1) if found.high == other.high else None
    return Interval(low, high)
