"""Drops lets that nothing reads.

Changes: lets in expressions, operations and steps whose name is not read. Keeps: values, outcomes,
and where they are defined: a `let` whose value may be undefined is kept, as is every choice. A
`let` that several branches share is kept in all of them if one reads it, so that its conditions are
evaluated where they were. Leaves none of: nothing, since other passes may introduce such lets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar, assert_never

from charter.core import nodes as n
from charter.core import types as t
from charter.core.builtins import FAIL_PAST_LIMIT
from charter.core.walk import branch_expressions, locals_of, nodes, statement_expressions

S = TypeVar("S", bound="n.Statement")


def run(model: n.Model) -> n.Model:
    """Drop unread lets in the bodies of operations and steps."""
    components = (
        replace(c, operations=tuple(_operation(o) for o in c.operations)) for c in model.components
    )
    systems = (
        replace(s, steps=tuple(replace(step, body=_body(step.body, set())) for step in s.steps))
        for s in model.systems
    )
    return replace(model, components=tuple(components), systems=tuple(systems))


def without_let(e: n.Expr) -> n.Expr:
    """Rewrite one node whose children are rewritten."""
    if isinstance(e, n.Let) and e.name not in locals_of(e.body) and is_total(e.value):
        return e.body
    return e


def is_total(expr: n.Expr) -> bool:
    """Whether an expression of small core is always defined, as far as its text shows."""
    return all(adds_no_condition(node) for node in nodes(expr))


def adds_no_condition(e: n.Expr) -> bool:
    """Whether a node of small core has a value wherever its parts have one."""
    match e:
        case n.Checked() | n.Call() | n.Builtin() | n.Match() | n.MapWith():
            return False
        case n.StateRef():
            return not e.primed
        case n.MapGet():
            return not t.may_miss(t.map_of(e.target.type).key)
        case n.SeqNew():
            return not isinstance(e.type, t.Ranking) or len(e.items) < 2
        case n.Primitive():
            return e.name not in FAIL_PAST_LIMIT or isinstance(e.type, t.Ranking)
        case n.Quantified():
            return e.kind != "the"
        case n.Literal() | n.Local() | n.ConstRef() | n.Domain() | n.Took() | n.CaseArg():
            return True
        case n.Unary() | n.Binary() | n.If() | n.Let() | n.Comprehend() | n.IsCase() | n.SetNew():
            return True
        case n.RecordNew() | n.RecordWith() | n.FieldOf() | n.UnionNew() | n.Present() | n.MapNew():
            return True
        case _:
            assert_never(e)


def _operation(operation: n.Operation) -> n.Operation:
    branches = [replace(b, body=_body(b.body, {*locals_of(b.reply)})) for b in operation.branches]
    read = _read(e for b in branches for e in branch_expressions(replace(b, lets=())))
    lets = max((b.lets for b in branches), key=len)
    kept = {let.name for let in _body(lets, read)}
    return replace(
        operation,
        branches=tuple(
            replace(b, lets=tuple(let for let in b.lets if let.name in kept)) for b in branches
        ),
    )


def _body(body: tuple[S, ...], read: set[str]) -> tuple[S, ...]:
    """The statements without unread lets, examined from the last to the first."""
    kept: list[S] = []
    for line in reversed(body):
        if isinstance(line, n.Bind) and line.name not in read and is_total(line.value):
            continue
        kept.append(line)
        read |= _read(statement_expressions(line))
    return tuple(reversed(kept))


def _read(exprs: Iterable[n.Expr]) -> set[str]:
    return {name for e in exprs for name in locals_of(e)}
