"""Records MC/DC of a guard: the conditions that an operation evaluates, their values, and which of
them decide alone. It asks the definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core.conditions import atoms, find_counted, joins
from charter.core.nodes import Value
from charter.core.option_comparisons import Apart, apart, comparison
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Evaluator
from charter.semantics.expressions import Locals, Scope, State, case_of

AtomRead = tuple[bool | None, bool, Apart | None]

Atoms = tuple[AtomRead, ...]
"""For each atom its truth (None: it has none), whether it alone decides, and how the options that
it compares differ."""


@dataclass(frozen=True, slots=True)
class _Condition:
    """The truth of a condition (None: it has none), and its atoms."""

    value: bool | None
    atoms: Atoms


def guard_atoms(
    ev: Evaluator, guard: tuple[n.Conjunct, ...], scope: Scope, names: Locals
) -> list[tuple[tuple[int, int], bool, Apart | None]]:
    """Of each atom of a guard that alone decides its place (the number of the conjunct, and its own
    in that), its truth, and how the options that it compares differ."""
    parts = [_condition(ev, c.condition, scope, names) for c in guard]
    found = []
    for i, part in enumerate(parts):
        earlier = all(p.value is True for p in parts[:i])
        later = all(p.value is not False for p in parts[i + 1 :])
        for k, (value, alone, differ) in enumerate(part.atoms):
            if value is not None and alone and earlier and later:
                found.append(((i, k), value, differ))
    return found


def _condition(ev: Evaluator, expr: n.Expr, scope: Scope, names: Locals) -> _Condition:
    """The condition and its atoms, which are those of `conditions.atoms`."""
    if not joins(ev.functions, expr):
        truth = _truth(ev, expr, scope, names)
        return _Condition(truth, ((truth, True, _apart(ev, expr, scope, names)),))
    match expr:
        case n.Unary():
            inner = _condition(ev, expr.operand, scope, names)
            return _Condition(None if inner.value is None else not inner.value, inner.atoms)
        case n.Binary(op=op):
            left = _condition(ev, expr.left, scope, names)
            right = _condition(ev, expr.right, scope, names)
            goes_on = left.value is (op != "or")
            neutral = right.value is not (op != "and")
            both = (*_only_if(neutral, left.atoms), *_only_if(goes_on, right.atoms))
            short = None if left.value is None else op != "and"
            return _Condition(right.value if goes_on else short, both)
        case n.If():
            return _choice(ev, expr, scope, names)
        case _:
            try:
                inside = [*_inside(ev, expr, scope, names)]
            except EvaluationError:
                return _Condition(None, _unread(ev, expr))
            return _one_of(ev, inside, scope)


def _choice(ev: Evaluator, expr: n.If, scope: Scope, names: Locals) -> _Condition:
    """An `if`: its condition decides where the two ways differ, or only one has a value."""
    test, then, otherwise = (
        _condition(ev, part, scope, names) for part in (expr.condition, expr.then, expr.otherwise)
    )
    differs = then.value is not otherwise.value or then.value is None
    decides = (differs, test.value is True, test.value is False)
    ways = zip(decides, (test, then, otherwise), find_counted(expr), strict=True)
    found = [a for alone, part, counts in ways if counts for a in _only_if(alone, part.atoms)]
    taken = None if test.value is None else (then if test.value else otherwise).value
    return _Condition(taken, tuple(found))


def _one_of(ev: Evaluator, parts: list[tuple[n.Expr, Locals | None]], scope: Scope) -> _Condition:
    """The one of several conditions that has names; the others are not read."""
    value: bool | None = None
    found: list[AtomRead] = []
    for part, names in parts:
        if names is None:
            found += _unread(ev, part)
            continue
        read = _condition(ev, part, scope, names)
        value = read.value
        found += read.atoms
    return _Condition(value, tuple(found))


def _only_if(decides: bool, found: Atoms) -> Atoms:
    return tuple((value, alone and decides, differ) for value, alone, differ in found)


def _unread(ev: Evaluator, expr: n.Expr) -> Atoms:
    return ((None, False, None),) * len(atoms(ev.functions, expr))


def _inside(
    ev: Evaluator, expr: n.Expr, scope: Scope, names: Locals
) -> Iterator[tuple[n.Expr, Locals | None]]:
    """The body of a `let` or of a function, or the cases of a `match`, each with its names; None
    for the cases that are not taken. Raises EvaluationError."""
    match expr:
        case n.Let(name=name):
            yield expr.body, {**names, name: ev.value(expr.value, scope, names)}
        case n.Call():
            params = ev.functions[expr.function].params
            values = zip(params, expr.args, strict=True)
            inner = {p.name: ev.value(a, scope, names) for p, a in values}
            yield ev.functions[expr.function].body, inner
        case n.Match():
            tag, parts = case_of(expr.subject.type, ev.value(expr.subject, scope, names))
            for case in expr.cases:
                if case.tag == tag:
                    yield case.body, {**names, **dict(zip(case.names, parts, strict=True))}
                else:
                    yield case.body, None
        case _:
            raise AssertionError(f"{type(expr).__name__} joins no conditions")


def _truth(ev: Evaluator, expr: n.Expr, scope: Scope, names: Locals) -> bool | None:
    try:
        return ev.truth(expr, scope, names)
    except EvaluationError:
        return None


def _apart(ev: Evaluator, expr: n.Expr, scope: Scope, names: Locals) -> Apart | None:
    compared = comparison(expr)
    if compared is None:
        return None
    try:
        sides = [ev.value(side, scope, names) for side in (compared[0].left, compared[0].right)]
    except EvaluationError:
        return None
    return apart(*sides)


# --- what is read --------------------------------------------------------------------------------


def atoms_read(
    ev: Evaluator, operation: n.Operation, state: State, args: tuple[Value, ...]
) -> tuple[bool, ...]:
    """The truth of each atom of the guards that an operation reads on its way to what it does, in
    that order; of a `match` also which case it is. Raises EvaluationError."""
    names: Locals = dict(zip((p.name for p in operation.params), args, strict=True))
    scope, found, group = Scope(ev.universe, state), list[bool](), 0
    for branch in operation.branches:
        if group and branch.group != group:
            break
        for bind in branch.lets:
            if bind.name not in names:
                names[bind.name] = ev.value(bind.value, scope, names)
        if all(_read(ev, c.condition, (scope, names), found) for c in branch.guard):
            if branch.group == 0:
                break
            group = branch.group
    return tuple(found)


def _read(ev: Evaluator, e: n.Expr, about: tuple[Scope, Locals], found: list[bool]) -> bool:
    """The truth of a part of a guard; its atoms go to `found` as they are read."""
    scope, names = about
    if not joins(ev.functions, e):
        found.append(ev.truth(e, scope, names))
        return found[-1]
    match e:
        case n.Unary():
            return not _read(ev, e.operand, about, found)
        case n.Binary(op="and"):
            return _read(ev, e.left, about, found) and _read(ev, e.right, about, found)
        case n.Binary(op="or"):
            return _read(ev, e.left, about, found) or _read(ev, e.right, about, found)
        case n.Binary():
            return not _read(ev, e.left, about, found) or _read(ev, e.right, about, found)
        case n.If():
            way = e.then if _read(ev, e.condition, about, found) else e.otherwise
            return _read(ev, way, about, found)
        case _:
            for part, inside in _inside(ev, e, scope, names):
                if isinstance(e, n.Match):
                    found.append(inside is not None)
                if inside is not None:
                    return _read(ev, part, (scope, inside), found)
            raise AssertionError("a match without its case")
