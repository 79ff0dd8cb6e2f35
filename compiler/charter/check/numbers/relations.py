"""Relations between several numbers, such as `captured + amount - authorised <= 0`, as sums of
terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from charter.check.names.types import INT
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import children, substitute


@dataclass(frozen=True, slots=True)
class Linear:
    """A number plus terms: constants and other expressions, each with a factor that is not 0."""

    number: int = 0
    terms: Mapping[ir.Expr, int] = field(default_factory=dict)

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """`self + times * other`."""
        terms = dict(self.terms)
        for term, factor in other.terms.items():
            terms[term] = terms.get(term, 0) + times * factor
        left = {term: factor for term, factor in terms.items() if factor}
        return Linear(self.number + times * other.number, left)

    def times(self, factor: int) -> Linear:
        """`factor * self`."""
        return Linear().plus(self, factor)


def const(name: str) -> ir.ConstRef:
    """A constant as a term."""
    return ir.ConstRef(name, type=INT)


def of_limit(limit: ty.Limit) -> Linear:
    """A constant plus a number."""
    return Linear(limit.plus, {const(limit.const): 1} if limit.const else {})


def linear(expr: ir.Expr) -> Linear:
    """An expression of numbers as a sum. What is not added, subtracted or multiplied by a number is
    a term."""
    match expr:
        case ir.Literal(value=int(number)):
            return Linear(number)
        case ir.ConstRef(name=name):
            return of_limit(ty.Limit(name))
        case ir.Unary(op="negate"):
            return linear(expr.operand).times(-1)
        case ir.Binary(op="add" | "sub" as op):
            return linear(expr.left).plus(linear(expr.right), 1 if op == "add" else -1)
        case ir.Binary(op="mul"):
            one, other = linear(expr.left), linear(expr.right)
            if not one.terms:
                return other.times(one.number)
            return one.times(other.number) if not other.terms else Linear(0, {expr: 1})
        case ir.Let(name=name):
            return linear(substitute(expr.body, {name: expr.value}))
        case _:
            return Linear(0, {expr: 1})


def at_most_zero(op: ir.RichOp, gap: Linear) -> tuple[Linear, ...]:
    """The sums that are at most 0 where `left op right` is true and `gap` is `left - right`."""
    match op:
        case "lt":
            return (gap.plus(Linear(1)),)
        case "le":
            return (gap,)
        case "gt":
            return (Linear(1).plus(gap, -1),)
        case "ge":
            return (gap.times(-1),)
        case "eq":
            return (gap, gap.times(-1))
        case _:
            return ()


def of_clamps(form: Linear) -> Iterator[Linear]:
    """The sums that are at most 0 because terms of `form` are a `min` or a `max` of two numbers."""
    for term in form.terms:
        if isinstance(term, ir.Builtin) and len(term.args) == 2 and term.traits.picks:
            sign = 1 if term.traits.picks == "least" else -1
            for side in term.args:
                yield Linear(0, {term: sign}).plus(linear(side), -sign)


def keys_in(term: ir.Expr) -> Iterator[ir.Expr]:
    """The keys of the lookups in a term, apart from those below what binds a name: outside of it
    such a key has no meaning."""
    if isinstance(term, ir.MapGet):
        yield term.key
    if not isinstance(term, ir.Quantified | ir.Comprehend | ir.MapNew | ir.Let | ir.Match):
        for part in children(term):
            yield from keys_in(part)


def cancel(form: Linear, relation: Linear) -> Iterator[Linear]:
    """`form` minus a positive multiple of `relation`, for each multiple that cancels a term. Since
    `relation` is at most 0, `form` is at most what is left."""
    quotients = (
        divmod(factor, relation.terms[term])
        for term, factor in form.terms.items()
        if term in relation.terms
    )
    for times in {times for times, rest in quotients if times > 0 and not rest}:
        yield form.plus(relation, -times)


def is_implied(form: Linear, relation: Linear) -> bool:
    """Whether `form` is at most 0 because it is at most `relation`."""
    left = form.plus(relation, -1)
    return not left.terms and left.number <= 0
