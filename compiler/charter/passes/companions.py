"""Adds a companion to each condition of a property, to detect properties that hold vacuously.

Changes: adds witnesses to a model. Keeps: everything else. Leaves none of: nothing is removed.

`a implies b` is vacuous if `a` is false, and `forall x in s: b` if `s` is empty. For each such
condition of a property a companion is added: a witness of the same machine that is found if the
condition is met in its context. A property without conditions that is vacuous in some case of a
`match` gets one companion for the other cases. Every evaluation of witnesses includes companions; a
companion that is never found is a part of a property that was never exercised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.core import types as t
from charter.core.show import show_expr
from charter.diagnostics import Span

TRUE = n.Literal(True, type=t.Bool())
FALSE = n.Literal(False, type=t.Bool())

Around = Callable[[n.Expr], n.Expr]
"""Puts a condition into its context in the property, with `some` instead of `forall`."""


@dataclass(frozen=True, slots=True)
class Companion:
    """A condition of the property (or `eventually`) called `of`: its text ("": that the property is
    not vacuous), its span, and the witness that is found if it is met. The witness's name contains
    a blank, so it differs from all names of the charter."""

    of: str
    text: str
    span: Span
    witness: n.Property


def run(model: n.Model, machine: str) -> n.Model:
    """`model` with the companions of one machine ("": of all) added behind its properties."""
    witnesses = tuple(companion.witness for companion in companions(model, machine))
    return replace(model, properties=(*model.properties, *witnesses))


def companions(model: n.Model, machine: str) -> tuple[Companion, ...]:
    """The companions of all properties of a machine ("": of all), in the order of the charter. The
    result is the same before and after the pass."""
    found: list[Companion] = []
    for prop in model.properties:
        if prop.kind != "witness" and machine in ("", prop.machine):
            sites = list(conditions(prop.body))
            found += _name_sites(prop, sites)
            if not sites and (met := _find_condition(prop.body)) != TRUE:
                (whole,) = _name_sites(prop, [(met, prop.span)])
                found.append(replace(whole, text=""))
    for live in model.liveness:
        if live.trigger is not None and machine in ("", live.machine):
            met = live.trigger
            for param in reversed(live.params):
                domain = n.Domain(type=t.Set(param.type))
                met = n.Quantified("some", param.name, domain, met, type=t.Bool())
            found += _name_sites(live, [(met, live.trigger.span)])
    return tuple(found)


def _name_sites(
    of: n.Property | n.Eventually, sites: list[tuple[n.Expr, Span]]
) -> Iterator[Companion]:
    for number, (met, span) in enumerate(sites, 1):
        witness = n.Property("witness", f"{of.name} {number}", of.machine, met, (), span=span)
        text = span.quote()
        yield Companion(of.name, text or show_expr(met), span, witness)


def conditions(e: n.Expr, around: Around = lambda met: met) -> Iterator[tuple[n.Expr, Span]]:
    """The left sides of `implies`, and the sets of `forall`s without an `implies` inside unless
    they are whole types. Conditions inside of `or`, `not` and `some` are not included."""
    match e:
        case n.Binary(op="implies"):
            yield around(e.left), e.left.span
            yield from conditions(e.right, lambda met: around(_and(e.left, met)))
        case n.Binary(op="and"):
            yield from conditions(e.left, around)
            yield from conditions(e.right, around)
        case n.Quantified(kind="forall"):
            inside = list(conditions(e.body, lambda met: around(_some(e, met))))
            if not inside and not isinstance(e.domain, n.Domain):
                inside = [(around(_some(e, TRUE)), e.domain.span)]
            yield from inside
        case n.Let():
            yield from conditions(e.body, lambda met: around(replace(e, body=met)))
        case n.If():
            yield from conditions(e.then, lambda met: around(_and(e.condition, met)))
            yield from conditions(e.otherwise, lambda met: around(_and(_not(e.condition), met)))
        case n.Match(cases=cases):
            for case in cases:
                yield from conditions(case.body, _in_case(e, case, around))
        case _:
            pass


def _in_case(e: n.Match, taken: n.Case, around: Around) -> Around:
    def put(met: n.Expr) -> n.Expr:
        cases = (replace(case, body=met if case is taken else FALSE) for case in e.cases)
        return around(replace(e, cases=tuple(cases)))

    return put


def _find_condition(e: n.Expr) -> n.Expr:
    """The condition under which an expression without conditions is not vacuous: all expressions
    but `true` and `false` never are."""
    match e:
        case n.Literal():
            return FALSE
        case n.Binary(op="and"):
            return _or(_find_condition(e.left), _find_condition(e.right))
        case n.Quantified(kind="forall"):
            met = _find_condition(e.body)
            return TRUE if met == TRUE else _some(e, met)
        case n.Let():
            met = _find_condition(e.body)
            return TRUE if met == TRUE else replace(e, body=met)
        case n.If():
            sides = _find_condition(e.then), _find_condition(e.otherwise)
            if sides == (TRUE, TRUE):
                return TRUE
            return n.If(e.condition, *sides, type=t.Bool(), span=e.span)
        case n.Match(cases=cases):
            bodies = [_find_condition(case.body) for case in cases]
            if all(body == TRUE for body in bodies):
                return TRUE
            pairs = zip(cases, bodies, strict=True)
            return replace(e, cases=tuple(replace(case, body=body) for case, body in pairs))
        case _:
            return TRUE


def _some(e: n.Quantified, met: n.Expr) -> n.Expr:
    return replace(e, kind="some", body=met)


def _and(left: n.Expr, right: n.Expr) -> n.Expr:
    return n.Binary("and", left, right, type=t.Bool(), span=left.span)


def _or(left: n.Expr, right: n.Expr) -> n.Expr:
    if TRUE in (left, right):
        return TRUE
    return n.Binary("or", left, right, type=t.Bool(), span=left.span)


def _not(e: n.Expr) -> n.Expr:
    return n.Unary("not", e, type=t.Bool(), span=e.span)
