"""Rewrites surface expressions from the outside in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar, assert_never

from charter.syntax import nodes as sx

BinderT = TypeVar("BinderT", bound=sx.AnyBinder)
Rewrite = Callable[[sx.Expr], sx.Expr | None]
"""Maps an expression to its replacement; None keeps it, and its parts are rewritten."""


def rewrite_expr(expr: sx.Expr, rewrite: Rewrite) -> sx.Expr:
    """`expr` with every replacement of `rewrite` applied, outermost first."""
    new = rewrite(expr)
    return _inside(expr, rewrite) if new is None else new


def _inside(expr: sx.Expr, rewrite: Rewrite) -> sx.Expr:
    def one(part: sx.Expr) -> sx.Expr:
        return rewrite_expr(part, rewrite)

    def each(parts: tuple[sx.Expr, ...]) -> tuple[sx.Expr, ...]:
        return tuple(one(part) for part in parts)

    match expr:
        case sx.IntLit() | sx.BoolLit() | sx.NoneLit() | sx.Ident() | sx.Took(args=None):
            return expr
        case sx.Took(args=args):
            return replace(expr, args=each(args or ()))
        case sx.Apply(args=args):
            return replace(expr, args=each(args))
        case sx.NamedArg():
            return replace(expr, value=one(expr.value))
        case sx.FieldOf():
            return replace(expr, target=one(expr.target))
        case sx.Index(target, key):
            return replace(expr, target=one(target), key=one(key))
        case sx.SetLit(items) | sx.SeqLit(items):
            return replace(expr, items=each(items))
        case sx.Is():
            return replace(expr, subject=one(expr.subject))
        case sx.Unary():
            return replace(expr, operand=one(expr.operand))
        case sx.Binary():
            return replace(expr, left=one(expr.left), right=one(expr.right))
        case sx.If(condition, then, otherwise):
            return sx.If(one(condition), one(then), one(otherwise), span=expr.span)
        case sx.LetIn():
            return replace(expr, value=one(expr.value), body=one(expr.body))
        case sx.Match(subject, cases):
            found = tuple(replace(case, body=one(case.body)) for case in cases)
            return replace(expr, subject=one(subject), cases=found)
        case _:
            return _collection(expr, one)


def _collection(
    expr: sx.RecordLit
    | sx.WithFields
    | sx.WithEntries
    | sx.Comprehension
    | sx.MapLit
    | sx.Quantifier,
    one: Callable[[sx.Expr], sx.Expr],
) -> sx.Expr:
    def bound(binder: BinderT) -> BinderT:
        return replace(binder, domain=one(binder.domain))

    match expr:
        case sx.RecordLit(fields=fields):
            return replace(expr, fields=tuple(replace(f, value=one(f.value)) for f in fields))
        case sx.WithFields(target, fields):
            inits = tuple(replace(f, value=one(f.value)) for f in fields)
            return replace(expr, target=one(target), fields=inits)
        case sx.WithEntries(target, entries):
            found = tuple(replace(e, key=one(e.key), value=one(e.value)) for e in entries)
            return replace(expr, target=one(target), entries=found)
        case sx.Comprehension(body, binders, condition):
            return replace(
                expr,
                body=None if body is None else one(body),
                binders=tuple(bound(binder) for binder in binders),
                condition=None if condition is None else one(condition),
            )
        case sx.MapLit(binder, value):
            return replace(expr, binder=bound(binder), value=one(value))
        case sx.Quantifier(binders=binders):
            ranges = tuple(bound(binder) for binder in binders)
            return replace(expr, binders=ranges, body=one(expr.body))
        case _:
            assert_never(expr)
