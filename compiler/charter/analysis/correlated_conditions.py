"""Finds the conditions of a rule that are read in several places, and the rule where their answers
are known: `if c then A else B` is A in all of its lines, or B in all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from charter.core import nodes as n
from charter.core.walk import fold, nodes

Answers = Mapping[n.Expr, str]
"""For each condition, or subject of a match, its answer: the tag of a case, `true` or `false`."""

MOST = 64
"""A rule with more combinations of answers is taken as it is."""


def decisions(
    exprs: Iterable[n.Expr], fixed: frozenset[str], counts: Callable[[n.Expr], bool]
) -> Sequence[Answers]:
    """All combinations of answers of the conditions and matches in `exprs`. Those count of which an
    alternative `counts`, and that have one value while a rule is evaluated: they read only the
    state and names in `fixed`. No combination at all (`[{}]`) if there are too many."""
    asked: dict[n.Expr, tuple[str, ...]] = {}
    for e in exprs:
        question = _question(e)
        if question is None or not _reads_only(question[0], fixed):
            continue
        if any(map(counts, _alternatives(e))):
            subject, tags = question
            asked[subject] = tuple(dict.fromkeys((*asked.get(subject, ()), *tags)))
    if prod(map(len, asked.values())) > MOST:
        return [{}]
    return [dict(zip(asked, chosen, strict=True)) for chosen in product(*asked.values())]


def decide(expr: n.Expr, answers: Answers) -> n.Expr:
    """An expression in which the conditions with an answer are replaced by what they choose."""

    def change(e: n.Expr) -> n.Expr:
        match e:
            case n.If():
                subject, tag = _split_test(e.condition)
                if subject not in answers:
                    return e
                return e.then if answers[subject] == tag else e.otherwise
            case n.Match(cases=cases) if e.subject in answers:
                return next((c.body for c in cases if c.tag == answers[e.subject]), e)
            case _:
                return e

    return fold(expr, change) if answers else expr


def _question(e: n.Expr) -> tuple[n.Expr, tuple[str, ...]] | None:
    """What a condition or a match depends on, with its possible answers."""
    match e:
        case n.If():
            subject, tag = _split_test(e.condition)
            return subject, ("none", "present") if tag in _OF_OPTIONS else ("true", "false")
        case n.Match(cases=cases):
            return e.subject, tuple(case.tag for case in cases)
        case _:
            return None


_OF_OPTIONS = ("none", "present")


def _split_test(condition: n.Expr) -> tuple[n.Expr, str]:
    """What a condition depends on, and the answer with which it is true: `x != none` is true if `x`
    is present."""
    match condition:
        case n.Unary(op="not"):
            subject, tag = _split_test(condition.operand)
            return subject, _OTHER[tag]
        case n.Binary(op="eq" | "ne" as op):
            left, right = condition.left, condition.right
            same = n.Binary("eq", left, right, type=condition.type)
            for one, other in ((left, right), (right, left)):
                if isinstance(other, n.Literal) and other.value is None:
                    return one, "none" if op == "eq" else "present"
            return same, "true" if op == "eq" else "false"
        case _:
            return condition, "true"


_OTHER = {"true": "false", "false": "true", "none": "present", "present": "none"}


def _alternatives(e: n.Expr) -> tuple[n.Expr, ...]:
    match e:
        case n.If():
            return e.then, e.otherwise
        case n.Match(cases=cases):
            return tuple(case.body for case in cases)
        case _:
            return ()


def _reads_only(subject: n.Expr, fixed: frozenset[str]) -> bool:
    """Whether the locals that an expression reads are fixed, or bound in it."""
    bound = frozenset(name for e in nodes(subject) for name in binds(e))
    return all(e.name in fixed | bound for e in nodes(subject) if isinstance(e, n.Local))


def binds(e: n.Expr) -> Iterator[str]:
    """The names that an expression binds for its subexpressions. Core never shadows a name."""
    match e:
        case n.Let() | n.Quantified() | n.Comprehend() | n.MapNew():
            yield e.name
        case n.Match(cases=cases):
            for case in cases:
                yield from case.names
        case _:
            pass
