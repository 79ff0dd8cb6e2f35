"""Derives the test obligations of a component from core: the rows of the obligation ledger.

Pure data: `charter.analysis.coverage` decides whether a transition meets an obligation, and the
backends search for such transitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal as OneOf

from charter.core import nodes as n
from charter.core import types as t
from charter.core.amounts import REPLY, list_counted_parts
from charter.core.conditions import Functions, atoms, literal, name_atoms
from charter.core.option_comparisons import (
    APART,
    Apart,
    comparison,
    list_differences,
    may_differ,
    split_test,
)
from charter.core.walk import branch_expressions, children, nodes, operands
from charter.diagnostics import BUILTIN

Kind = OneOf["branch", "reply", "mcdc", "amount", "boundary", "order"]
Amount = OneOf["none", "one", "several"]
Side = OneOf["equal", "unequal", "below", "above", "less", "greater"]
Want = OneOf["taken", "true", "false"] | Side | Amount | Apart

AMOUNTS: tuple[Amount, ...] = ("none", "one", "several")

SEEN = ("boundary", "order")
"""The kinds that ask for the values of an expression wherever an operation evaluates it."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """One row. `name` is unique within a component.

    branch: `branch` (operation/branch) is taken. reply: it is taken with a reply that holds the
    enum member `member`. mcdc: the guard of `branch` is reached, and the condition `expr` (atom
    `atom` of conjunct `conjunct`, both from 0) alone decides it, being true or false; `apart` says
    how the options that it compares differ then. amount: it changes none, one or several members of
    the variable `member`, or replies with so many (if `member` is `REPLY`). boundary: the operation
    `operation` evaluates the comparison `expr` in `where` (operation/branch or a function) with its
    left side equal to its right, or one below or above it; where there is no such step, unequal;
    options differ in that one is none, or in that one has another value. An order that is no
    condition of a guard has its third side, too, by any distance: `less` or `greater`. Of `min` or
    `max` of two numbers the first one is less, and greater. order: the operation
    evaluates the sequence or ranking `expr` in `where`, of which not all items are equal: with
    equal ones an implementation may take the wrong end unseen.
    """

    kind: Kind
    name: str
    want: Want
    branch: str = ""
    member: str = ""
    operation: str = ""
    where: str = ""
    conjunct: int = 0
    atom: int = 0
    apart: Apart | None = None
    expr: n.Expr | None = field(default=None, compare=False, repr=False)


def obligations(model: n.Model, component: n.Component) -> tuple[Obligation, ...]:
    """All obligations of a component, in the order of the text: branches, replies, conditions of
    guards, amounts, then the boundaries and the sequences of its operations and of the functions
    that they reach, for each operation that reaches them. What histories compare is no rule, and
    has none."""
    functions = {f.name: f for f in model.functions}
    shown = {o.path[0] for o in component.observables if o.path and o.mode != "ignored"}
    operations = [_without_histories(component, o) for o in component.operations]
    found: list[Obligation] = []
    for operation in operations:
        excluded: list[n.Expr] = []
        for branch in operation.branches:
            label = f"{operation.name}/{branch.name}"
            found.append(Obligation("branch", f"branch {label}", "taken", branch=label))
            found += _replies(model, label, branch)
            found += _conditions(functions, label, branch, excluded)
            found += _amounts(
                label, [p for p in list_counted_parts(functions, branch) if p in shown | {REPLY}]
            )
    sites = [site for o in operations for site in _operation_sites(functions, o)]
    for o in operations:
        decided = _list_decided(functions, o)
        for f in reachable_functions(functions, o):
            sites += [_Site(o.name, f.name, e, False, id(e) in decided) for e in nodes(f.body)]
    return (*found, *_boundaries(sites), *_orders(operations, sites))


def _without_histories(component: n.Component, operation: n.Operation) -> n.Operation:
    """An operation whose branches do not update histories."""
    kept = {v.name for v in component.state if v.is_history}
    branches = []
    for branch in operation.branches:
        body = (x for x in branch.body if not (isinstance(x, n.Assign) and x.variable in kept))
        branches.append(replace(branch, body=tuple(body)))
    return replace(operation, branches=tuple(branches)) if kept else operation


def bound(
    model: n.Model, component: n.Component, wanted: Iterable[Obligation]
) -> tuple[Obligation, ...]:
    """The obligations of `model` with the names of `wanted`, which may come from another
    compilation of the same text. Raises ValueError for a name that `model` does not have."""
    own = {o.name: o for o in obligations(model, component)}
    names = [o.name for o in wanted]
    for name in names:
        if name not in own:
            raise ValueError(f"{name} is no obligation of {component.name}")
    return tuple(own[name] for name in names)


# --- replies -------------------------------------------------------------------------------------


def _replies(model: n.Model, label: str, branch: n.Branch) -> Iterator[Obligation]:
    for member in dict.fromkeys(_members(model, branch)):
        yield Obligation("reply", f"reply {label} {member}", "taken", branch=label, member=member)


def _members(model: n.Model, branch: n.Branch) -> Iterator[str]:
    """The enum members that the reply of a branch may hold, as far as its text shows them."""
    functions = {f.name: f for f in model.functions}
    sources: dict[str, n.Expr] = {}
    for line in (*branch.lets, *branch.body):
        match line:
            case n.Bind(name=name, value=source) | n.Pick(name=name, domain=source):
                sources[name] = source
            case _:
                pass
    enums = {p.name for p in _enum_parts(branch.reply.type)}
    queue: list[n.Expr] = [branch.reply]
    seen: set[str] = set()
    while queue:
        for node in nodes(queue.pop(0)):
            match node:
                case n.Literal(type=t.Enum(name=name), value=str(member)) if name in enums:
                    yield member
                case n.Local(name=name) if name in sources and name not in seen:
                    if _mentions(node.type, enums):
                        seen.add(name)
                        queue.append(sources[name])
                case n.Call(function=name) if name not in seen and _mentions(node.type, enums):
                    seen.add(name)
                    queue.append(functions[name].body)
                case _:
                    pass


def _enum_parts(kind: t.Type) -> Iterator[t.Enum]:
    """The enums directly in a reply: the reply itself, or a parameter of one of its cases."""
    match kind:
        case t.Enum():
            yield kind
        case t.Union(cases=cases):
            for _, params in cases:
                yield from (part for _, part in params if isinstance(part, t.Enum))
        case _:
            pass


def _mentions(kind: t.Type, enums: set[str]) -> bool:
    match kind:
        case t.Enum(name=name):
            return name in enums
        case t.Option(inner=inner) | t.Set(inner=inner):
            return _mentions(inner, enums)
        case t.Union():
            return any(part.name in enums for part in _enum_parts(kind))
        case _:
            return False


# --- conditions of guards ------------------------------------------------------------------------


def _conditions(
    functions: Functions, label: str, branch: n.Branch, excluded: list[n.Expr]
) -> Iterator[Obligation]:
    """`excluded` are options that have a value here, since an earlier branch is taken for none;
    those that have one after this branch are added."""
    parts = [part for c in branch.guard for part in operands(c.condition, "and")]
    options = [option for part in parts if (option := split_test(part)) is not None]
    known = [*excluded, *(option for option, truth in options if not truth)]
    if len(parts) == 1 and branch.group == 0:
        excluded += [option for option, truth in options if truth]
    for conjunct, part in enumerate(branch.guard):
        named = name_atoms(functions, part.condition, part.label)
        for atom, (called, expr) in enumerate(named):
            for want, apart in _truths(expr, known):
                yield Obligation(
                    "mcdc",
                    f"mcdc {label} {called} {want}" + (f" {apart}" if apart else ""),
                    want,
                    branch=label,
                    where=label,
                    conjunct=conjunct,
                    atom=atom,
                    apart=apart,
                    expr=expr,
                )


def _truths(atom: n.Expr, known: Collection[n.Expr]) -> Iterator[tuple[Want, Apart | None]]:
    """The truths that an atom may have: a literal has one. Where it compares options, the ways in
    which these may differ; those in `known` have a value wherever it decides."""
    always, compared = literal(atom), comparison(atom)
    for truth in (True, False) if always is None else (always,):
        want: Want = "true" if truth else "false"
        if compared is None or compared[1] != truth:
            yield want, None
        else:
            yield from ((want, apart) for apart in list_differences(atom, known))


# --- amounts -------------------------------------------------------------------------------------


def _amounts(label: str, parts: Iterable[str]) -> Iterator[Obligation]:
    for part in parts:
        for want in AMOUNTS:
            name = f"amount {label} {part} {want}"
            yield Obligation("amount", name, want, branch=label, member=part)


# --- boundaries ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Site:
    """An expression that an operation evaluates, in `where`; whether it is an atom of a guard, for
    which MC/DC requires both values already; whether it decides one, perhaps negated or as what a
    function is."""

    operation: str
    where: str
    expr: n.Expr
    is_atom: bool
    in_guard: bool

    @property
    def place(self) -> str:
        """`where` as names of obligations have it: a function with the operation that reaches
        it."""
        return self.where if "/" in self.where else f"{self.operation} {self.where}"


def reachable_functions(functions: Functions, operation: n.Operation) -> tuple[n.Function, ...]:
    """The functions that an operation calls, directly or not, in declared order."""
    queue = [e for branch in operation.branches for e in branch_expressions(branch)]
    reached: set[str] = set()
    while queue:
        for node in nodes(queue.pop()):
            if isinstance(node, n.Call) and node.function not in reached:
                reached.add(node.function)
                queue.append(functions[node.function].body)
    return tuple(f for f in functions.values() if f.name in reached)


def _operation_sites(functions: Functions, operation: n.Operation) -> Iterator[_Site]:
    """Every expression of an operation once."""
    bound: set[str] = set()
    conditions = _list_conditions(functions, operation)
    decided = _list_decided(functions, operation)
    for branch in operation.branches:
        label = f"{operation.name}/{branch.name}"
        lets = [let for let in branch.lets if let.name not in bound]
        bound |= {let.name for let in lets}
        kept = n.Branch(branch.name, 0, tuple(lets), branch.guard, branch.body, branch.reply, ())
        for expr in branch_expressions(kept):
            for node in nodes(expr):
                known = id(node)
                yield _Site(operation.name, label, node, known in conditions, known in decided)


def _list_conditions(functions: Functions, operation: n.Operation) -> set[int]:
    """The atoms of the guards of an operation, which MC/DC asks for, by identity."""
    guards = (c.condition for branch in operation.branches for c in branch.guard)
    return {id(atom) for guard in guards for atom in atoms(functions, guard)}


def _list_decided(functions: Functions, operation: n.Operation) -> set[int]:
    """The same, and for an atom that is a call of a function what that function is."""
    found: set[int] = set()
    guards = (c.condition for branch in operation.branches for c in branch.guard)
    queue = [atom for guard in guards for atom in atoms(functions, guard)]
    while queue:
        match queue.pop():
            case n.Unary(operand=inner):
                queue.append(inner)
            case n.Call(function=name):
                queue.append(functions[name].body)
            case decided:
                found.add(id(decided))
    return found


def _boundaries(sites: list[_Site]) -> Iterator[Obligation]:
    names: set[str] = set()
    seen: set[tuple[str, int]] = set()
    for site in sites:
        expr, place = site.expr, (site.operation, id(site.expr))
        sides = find_sides(expr)
        if sides is None or place in seen:
            continue
        if not all(expr.span != side.span and expr.span.holds(side.span) for side in sides):
            continue  # the compiler made it: what `flush` and `crash` do
        seen.add(place)
        wants = boundary_wants(expr, in_guard=site.in_guard)
        if site.is_atom and not {"unequal", "another"}.isdisjoint(wants):
            continue
        base = f"boundary {site.place} {phrase(expr)}"
        called, again = base, 2
        while called in names:
            called, again = f"{base} #{again}", again + 1
        names.add(called)
        for want in wants:
            yield Obligation(
                "boundary",
                f"{called} {want}",
                want,
                operation=site.operation,
                where=site.where,
                expr=expr,
            )


# --- sequences -----------------------------------------------------------------------------------


def _orders(operations: Iterable[n.Operation], sites: Iterable[_Site]) -> Iterator[Obligation]:
    """One row for each sequence whose order an operation keeps or shows. The same text in one place
    counts once."""
    ordered = [replace(site, expr=expr) for site in sites for expr in _find_ordered(site.expr)]
    ordered += [
        _Site(o.name, f"{o.name}/{branch.name}", expr, False, False)
        for o in operations
        for branch in o.branches
        for expr in _find_replied(branch.reply)
    ]
    names: set[str] = set()
    for site in ordered:
        name = f"order {site.place} {phrase(site.expr)}"
        if name not in names:
            names.add(name)
            yield Obligation(
                "order",
                name,
                "unequal",
                operation=site.operation,
                where=site.where,
                expr=site.expr,
            )


def _find_ordered(expr: n.Expr) -> Iterator[n.Expr]:
    """The sequence of which an expression reads a place or a part, or that it makes."""
    if any(part.span == expr.span for part in children(expr)):
        return  # the compiler made it, as for what is on disk
    match expr:
        case n.Builtin(args=(first, *_)) if expr.traits.order == "read" and _is_ordered(first):
            yield first
        case n.Builtin() if expr.traits.order == "made" and _is_ordered(expr):
            yield expr
        case n.SeqNew(items=items) if len(items) > 1:
            yield expr
        case _:
            pass


def _find_replied(reply: n.Expr) -> Iterator[n.Expr]:
    """The sequences in a reply that have no row yet."""
    match reply:
        case n.UnionNew() | n.RecordNew() | n.Present():
            for part in children(reply):
                yield from _find_replied(part)
        case n.SeqNew() | n.Literal() | n.Builtin():
            pass
        case _ if _is_ordered(reply):
            yield reply
        case _:
            pass


def _is_ordered(expr: n.Expr) -> bool:
    return isinstance(expr.type, t.Seq | t.Ranking)


def find_sides(expr: n.Expr) -> tuple[n.Expr, n.Expr] | None:
    """The two values that an expression compares: a comparison, or the least or greatest of two."""
    match expr:
        case n.Binary(left=left, right=right) if expr.traits.compares:
            return left, right
        case n.Builtin(args=(left, right)) if expr.traits.picks:
            return left, right
        case _:
            return None


def boundary_wants(expr: n.Expr, *, in_guard: bool) -> tuple[Want, ...]:
    """The boundary cases of what compares two values. For numbers the two (for equality three)
    values of the left side next to the right one. An order that is no condition of a guard has the
    side that both of these lack, too, unless the types exclude it. For options equal, and both ways
    to differ; for other types equal and unequal. Of the least and the greatest both sides."""
    less, greater = _sides(expr)
    if not isinstance(expr, n.Binary):
        return (*less, *greater)
    kind = expr.left.type
    number = isinstance(kind, t.Int) or (isinstance(kind, t.Counter) and not kind.opaque)
    match expr.op:
        case "lt" | "ge":
            return ("below", "equal") if in_guard else ("below", "equal", *greater)
        case "le" | "gt":
            return ("equal", "above") if in_guard else (*less, "equal", "above")
        case _ if number:
            return ("below", "equal", "above")
        case _:
            return ("equal", *(APART if may_differ(expr) else ("unequal",)))


def _sides(expr: n.Expr) -> tuple[tuple[Want, ...], tuple[Want, ...]]:
    """The sides on which the first of two compared values can be, as far as their types say."""
    sides = find_sides(expr)
    assert sides is not None
    (low, high), (other_low, other_high) = map(_range, sides)
    less: tuple[Want, ...] = ("less",) if low < other_high else ()
    return less, ("greater",) if high > other_low else ()


def _range(expr: n.Expr) -> tuple[float, float]:
    """The least and the greatest number that an expression can be, as far as its type says."""
    match expr:
        case n.Literal(value=int(number)):
            return number, number
        case n.Builtin(name="size"):
            return 0, inf
        case _ if isinstance(expr.type, t.Int):
            low, high = expr.type.low, expr.type.high
            known = (
                -inf if low is None or low.const else low.plus,
                inf if high is None or high.const else high.plus,
            )
            return known
        case _:
            return -inf, inf


def phrase(expr: n.Expr) -> str:
    """The text of an expression on one line, or its kind if it has no text. Not `Span.quote`: names
    of obligations have this text, and files next to a charter keep those names."""
    if expr.span.source is BUILTIN or expr.span.start == expr.span.end:
        return expr.op if isinstance(expr, n.Binary) else type(expr).__name__.lower()
    return " ".join(expr.span.source.text[expr.span.start : expr.span.end].split())
