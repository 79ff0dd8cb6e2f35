"""Encodes operations as terms: which branch may be taken, its reply, and the state after it.

Follows `Evaluator.operate`: first match, groups in any order, picks as fresh choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.conditions import find_counted, joins
from charter.core.option_comparisons import comparison
from charter.prove.collections import pick_first
from charter.prove.encode import ComparisonEvent, Encoder, Names, View
from charter.prove.terms import FALSE, TRUE, Term, Terms
from charter.prove.values import Bag, Fields, Mask, Maybe, Sym


@dataclass(frozen=True, slots=True)
class Atom:
    """An atomic condition of a guard. `decides`: the guard's value changes with this condition if
    all others keep theirs. `options` are the two that it compares."""

    expr: s.Expr
    value: Term
    defined: Term
    decides: Term
    options: tuple[Sym, Sym] | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard: its truth, where it is defined, and the atoms of each conjunct in order."""

    value: Term
    defined: Term
    conjuncts: tuple[tuple[Atom, ...], ...]


@dataclass(frozen=True, slots=True)
class BranchCode:
    """A branch. It may be taken if `enabled`. If its choices are `allowed` and its evaluation is
    `defined`, its outcome is `reply` and the state `after`."""

    name: str
    reached: Term
    guard: Guard
    enabled: Term
    allowed: Term
    defined: Term
    reply: Sym
    after: Mapping[str, Sym]
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OperationCode:
    """An operation with its parameters; `valid`: they are of their types, and every guard that is
    evaluated is defined."""

    name: str
    params: tuple[Sym, ...]
    inside: Term
    valid: Term
    branches: tuple[BranchCode, ...]
    events: tuple[ComparisonEvent, ...]


@dataclass(slots=True)
class _Work:
    """The state of encoding the body of a branch."""

    names: dict[str, Sym]
    after: dict[str, Sym]
    defined: list[Term] = field(default_factory=list)
    allowed: list[Term] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)


def encode_operation(
    encoder: Encoder, component: s.Component, operation: s.Operation, view: View
) -> OperationCode:
    """Encode `operation` from the state in `view` with fresh parameters and choices. The body of a
    branch counts as evaluated under its condition in `view.took`."""
    types, terms = encoder.types, encoder.terms
    params = tuple(types.variable(p.type, f"{operation.name}({p.name})") for p in operation.params)
    pairs = list(zip(operation.params, params, strict=True))
    inside = terms.and_(*(types.inside(p.type, value) for p, value in pairs))
    names: dict[str, Sym] = {p.name: value for p, value in pairs}
    first_event = len(encoder.events)
    kinds = {v.name: v.type for v in component.state}
    before, valid, group, met = TRUE, [inside], 0, FALSE
    branches: list[BranchCode] = []
    for branch in operation.branches:
        if branch.group == 0 or branch.group != group:
            before = terms.and_(before, terms.not_(met))
            group, met = branch.group, FALSE
        with encoder.under(before):
            lets = _lets(encoder, branch, view, names)
            guard = encode_guard(encoder, branch.guard, view, names)
        valid.append(terms.implies(before, terms.and_(lets, guard.defined)))
        code = _branch(encoder, (operation.name, branch, kinds), before, guard, (view, names))
        branches.append(code)
        if not code.choices:
            valid.append(terms.implies(code.enabled, code.defined))
        met = terms.or_(met, code.enabled)
    events = tuple(encoder.events[first_event:])
    return OperationCode(
        operation.name, params, inside, terms.and_(*valid), tuple(branches), events
    )


def _lets(encoder: Encoder, branch: s.Branch, view: View, names: dict[str, Sym]) -> Term:
    """Bind the lets before the branch that are not yet bound; returns the condition that they are
    defined."""
    defined = []
    for bind in branch.lets:
        if bind.name not in names:
            names[bind.name], inside = encoder.encode(bind.value, view, names)
            defined.append(inside)
    return encoder.terms.and_(*defined)


def encode_guard(
    encoder: Encoder, conjuncts: tuple[s.Conjunct, ...], view: View, names: Names
) -> Guard:
    """A guard as a chain of conjunctions."""
    terms = encoder.terms
    parts: list[Guard] = []
    value, defined = TRUE, TRUE
    for conjunct in conjuncts:
        with encoder.under(value):
            part = _condition(encoder, conjunct.condition, view, names)
        defined = terms.and_(defined, terms.implies(value, part.defined))
        value = terms.and_(value, part.value)
        parts.append(part)
    found = []
    for i, part in enumerate(parts):
        earlier = terms.and_(*(terms.and_(p.value, p.defined) for p in parts[:i]))
        later = terms.and_(*(terms.or_(p.value, terms.not_(p.defined)) for p in parts[i + 1 :]))
        found.append(_under(terms, part.conjuncts[0], earlier, later))
    return Guard(value, defined, tuple(found))


def _under(terms: Terms, atoms: tuple[Atom, ...], *conditions: Term) -> tuple[Atom, ...]:
    return tuple(replace(a, decides=terms.and_(a.decides, *conditions)) for a in atoms)


def _condition(encoder: Encoder, expr: s.Expr, view: View, names: Names) -> Guard:
    """Encode a condition with its atoms; atoms of an undefined right side do not decide."""
    terms = encoder.terms
    if not joins(encoder.functions, expr):
        value, defined = encoder.condition(expr, view, names)
        options = _options(encoder, expr, view, names)
        return Guard(value, defined, ((Atom(expr, value, defined, TRUE, options),),))
    match expr:
        case n.Unary():
            inner = _condition(encoder, expr.operand, view, names)
            return Guard(terms.not_(inner.value), inner.defined, inner.conjuncts)
        case n.Let(name=name):
            held, known = encoder.encode(expr.value, view, names)
            body = _condition(encoder, expr.body, view, {**names, name: held})
            return _within(terms, known, body)
        case n.Call(function=name, args=args):
            return _joining_call(encoder, encoder.functions[name], args, (view, names))
        case n.If():
            return _if(encoder, expr, view, names)
        case n.Binary():
            return _either(encoder, expr, view, names)
        case _:
            raise AssertionError(f"{type(expr).__name__} joins no conditions")


def _options(encoder: Encoder, atom: s.Expr, view: View, names: Names) -> tuple[Sym, Sym] | None:
    """The options that an atom compares."""
    if comparison(atom) is None:
        return None
    while isinstance(atom, n.Unary):
        atom = atom.operand
    assert isinstance(atom, n.Binary)
    left, right = (encoder.encode(side, view, names)[0] for side in (atom.left, atom.right))
    return left, right


def _either(encoder: Encoder, expr: n.Binary[s.Expr], view: View, names: Names) -> Guard:
    """`and`, `or`, `implies`."""
    terms = encoder.terms
    left = _condition(encoder, expr.left, view, names)
    goes_on = terms.not_(left.value) if expr.op == "or" else left.value
    with encoder.under(goes_on):
        right = _condition(encoder, expr.right, view, names)
    open_right = terms.not_(right.value) if expr.op != "and" else right.value
    neutral = terms.or_(open_right, terms.not_(right.defined))
    reached = terms.and_(goes_on, left.defined)
    atoms = (
        *_under(terms, left.conjuncts[0], neutral),
        *_under(terms, right.conjuncts[0], reached),
    )
    defined = terms.and_(left.defined, terms.implies(goes_on, right.defined))
    if expr.op == "and":
        return Guard(terms.and_(left.value, right.value), defined, (atoms,))
    first = left.value if expr.op == "or" else terms.not_(left.value)
    return Guard(terms.or_(first, right.value), defined, (atoms,))


def _if(encoder: Encoder, expr: n.If[s.Expr], view: View, names: Names) -> Guard:
    """An `if`: its condition decides where the two ways differ, or one of them has no value."""
    terms = encoder.terms
    test = _condition(encoder, expr.condition, view, names)
    with encoder.under(test.value):
        then = _condition(encoder, expr.then, view, names)
    with encoder.under(terms.not_(test.value)):
        otherwise = _condition(encoder, expr.otherwise, view, names)
    same = terms.and_(then.defined, otherwise.defined, terms.eq(then.value, otherwise.value))
    reached = terms.and_(test.value, test.defined)
    passed = terms.and_(terms.not_(test.value), test.defined)
    decides = (terms.not_(same), reached, passed)
    ways = zip(decides, (test, then, otherwise), find_counted(expr), strict=True)
    atoms = [a for alone, g, counts in ways if counts for a in _under(terms, g.conjuncts[0], alone)]
    value = terms.ite(test.value, then.value, otherwise.value)
    inside = terms.ite(test.value, then.defined, otherwise.defined)
    return Guard(value, terms.and_(test.defined, inside), (tuple(atoms),))


def _within(terms: Terms, known: Term, inner: Guard) -> Guard:
    """A condition that is defined only where `known` is true."""
    atoms = _under(terms, inner.conjuncts[0], known)
    return Guard(inner.value, terms.and_(known, inner.defined), (atoms,))


def _joining_call(
    encoder: Encoder,
    function: s.Function,
    args: tuple[s.Expr, ...],
    scope: tuple[View, Mapping[str, Sym]],
) -> Guard:
    """A call of a function that joins conditions, with the atoms of the function."""
    coded = [encoder.encode(arg, *scope) for arg in args]
    names = {p.name: value for p, (value, _) in zip(function.params, coded, strict=True)}
    given = encoder.terms.and_(*(defined for _, defined in coded))
    inner = _condition(encoder, function.body, View({}), names)
    return _within(encoder.terms, given, inner)


def _branch(
    encoder: Encoder,
    where: tuple[str, s.Branch, Mapping[str, t.Type]],
    reached: Term,
    guard: Guard,
    scope: tuple[View, Mapping[str, Sym]],
) -> BranchCode:
    terms = encoder.terms
    operation, branch, kinds = where
    view, names = scope
    name = f"{operation}/{branch.name}"
    enabled = terms.and_(reached, guard.value, guard.defined)
    work = _Work(dict(names), dict(view.before))
    with encoder.under(terms.and_(enabled, view.took.get(name, TRUE))):
        for line in branch.body:
            _statement(encoder, line, view, (name, kinds, work))
        reply, inside = encoder.encode(branch.reply, view, work.names)
    work.defined.append(inside)
    return BranchCode(
        name,
        reached,
        guard,
        enabled,
        terms.and_(*work.allowed),
        terms.and_(*work.defined),
        reply,
        work.after,
        tuple(work.choices),
    )


def _statement(
    encoder: Encoder,
    line: s.Change,
    view: View,
    where: tuple[str, Mapping[str, t.Type], _Work],
) -> None:
    branch, kinds, work = where
    match line:
        case n.Bind(name=name):
            work.names[name], inside = encoder.encode(line.value, view, work.names)
            work.defined.append(inside)
        case n.Assign(variable=variable):
            coded, inside = encoder.encode(line.value, view, work.names)
            work.after[variable] = encoder.types.fit(kinds[variable], coded)
            work.defined.append(inside)
        case n.Pick(name=name):
            work.names[name] = _pick(encoder, line, view, (f"{encoder.tag}{branch}:{name}", work))


def _pick(encoder: Encoder, pick: n.Pick[s.Expr], view: View, where: tuple[str, _Work]) -> Sym:
    name, work = where
    if pick.index is None:
        return _choice(encoder, pick, view, (name, work), work.names)
    variable, kind = pick.index
    keys = encoder.types.keys(kind)[1]
    each = (
        _choice(encoder, pick, view, (f"{name}[{i}]", work), {**work.names, variable: key})
        for i, key in enumerate(keys)
    )
    return Fields(tuple(each))


def _choice(
    encoder: Encoder, pick: n.Pick[s.Expr], view: View, where: tuple[str, _Work], names: Names
) -> Sym:
    """A member of the domain; an option of one, with `or none`."""
    terms, types = encoder.terms, encoder.types
    name, work = where
    coded, defined = encoder.encode(pick.domain, view, names)
    domain = cast("Mask | Bag", coded)
    members = types.members(domain)
    nonempty = terms.or_(*(there for there, _ in members))
    value, allowed = _member(encoder, pick, name, domain)
    work.choices.append(name)
    work.defined.append(defined)
    work.allowed.append(terms.implies(nonempty, allowed))
    if pick.or_none:
        return Maybe(nonempty, value)
    work.defined.append(nonempty)
    return value


def _member(
    encoder: Encoder, pick: n.Pick[s.Expr], name: str, domain: Mask | Bag
) -> tuple[Sym, Term]:
    """A fresh value, and that it is a member: a variable of a finite type, else a position among
    the possible members."""
    terms, types = encoder.terms, encoder.types
    assert isinstance(pick.domain.type, t.Set)
    inner = pick.domain.type.inner
    if isinstance(domain, Mask) and types.is_finite(inner):
        fresh = types.variable(inner, name)
        return fresh, terms.and_(types.inside(inner, fresh), types.contains(domain, fresh))
    members = types.members(domain)
    position = types.numbers.variable(name, 0, max(1, len(members)))
    chosen = [
        (types.numbers.equal(position, types.numbers.constant(i)), there, item)
        for i, (there, item) in enumerate(members)
    ]
    value = pick_first(types, inner, [(here, item) for here, _, item in chosen])
    return value, terms.or_(*(terms.and_(here, there) for here, there, _ in chosen))
