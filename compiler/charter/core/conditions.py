"""Finds the atomic conditions of a guard: what `and`, `or`, `implies`, `not`, `if`, `let` and
`match` put together, in the guard itself and in functions that it calls.

Rich and small core have the same atoms in the same order, although a `match` is a chain of `if` in
small core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from charter.core import nodes as n

Functions = Mapping[str, n.Function]
"""Functions by their names."""


def joins(functions: Functions, expr: n.Expr) -> bool:
    """Whether `expr` puts conditions together, itself or in a function that it calls."""
    match expr:
        case n.Binary(op="and" | "or" | "implies"):
            return True
        case n.Unary(op="not", operand=inner) | n.Let(body=inner):
            return joins(functions, inner)
        case n.Match(cases=(only,)):
            return joins(functions, only.body)
        case n.Match():
            return True
        case n.If():
            return not _is_default(expr)
        case n.Call(function=name):
            return joins(functions, functions[name].body)
        case _:
            return False


def _is_default(expr: n.If) -> bool:
    """Whether an `if` of small core is a call of `default`, which is an atom of rich core."""
    return isinstance(expr.condition, n.IsCase) and isinstance(expr.then, n.CaseArg)


def find_counted(expr: n.If) -> tuple[bool, bool, bool]:
    """Whether the atoms of its condition and of its two ways count. The test of a case of a `match`
    does not: it has no text of its own, and each case has an atom. Neither does the literal way of
    an `if`: its condition shows it."""
    if isinstance(expr.condition, n.IsCase):
        return False, True, True
    return True, literal(expr.then) is None, literal(expr.otherwise) is None


def literal(expr: n.Expr) -> bool | None:
    """The truth that an expression always has, if its text says so."""
    match expr:
        case n.Literal(value=bool(truth)):
            return truth
        case n.Let():
            return literal(expr.body)
        case n.Match(cases=(only,)):
            return literal(only.body)
        case _:
            return None


def atoms(functions: Functions, expr: n.Expr) -> tuple[n.Expr, ...]:
    """The atoms of `expr`, from left to right. A negated atom includes its negation. The condition
    of an `if` stands before its ways; of a `match` there are those of its cases."""
    return tuple(atom for _, atom in name_atoms(functions, expr, ""))


def name_atoms(functions: Functions, expr: n.Expr, label: str) -> Iterator[tuple[str, n.Expr]]:
    """The atoms with their names: `label`, and the number in it if there are several; behind it
    the same of the function that has the atom."""
    parts = [*_parts(functions, expr)]
    for number, part in enumerate(parts, 1):
        name = label if len(parts) == 1 else f"{label}[{number}]"
        call = part
        while isinstance(call, n.Unary):
            call = call.operand
        if not (isinstance(call, n.Call) and joins(functions, call)):
            yield name, part
            continue
        for inner, atom in name_atoms(functions, functions[call.function].body, call.function):
            yield f"{name} {inner}", atom


def _parts(functions: Functions, expr: n.Expr) -> Iterator[n.Expr]:
    """The conditions that `expr` puts together in its own text."""
    if not joins(functions, expr):
        yield expr
        return
    match expr:
        case n.Binary():
            inner: tuple[n.Expr, ...] = (expr.left, expr.right)
        case n.Unary() if not isinstance(expr.operand, n.Call):
            inner = (expr.operand,)
        case n.Let():
            inner = (expr.body,)
        case n.If():
            ways = zip((expr.condition, expr.then, expr.otherwise), find_counted(expr), strict=True)
            inner = tuple(way for way, counts in ways if counts)
        case n.Match(cases=cases):
            inner = tuple(case.body for case in cases)
        case _:
            yield expr
            return
    for part in inner:
        yield from _parts(functions, part)
