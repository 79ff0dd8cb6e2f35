"""Edits parts of rules in the surface tree: conjuncts of guards, updates, choices and lets. In the
new text the name `replaced` means the old part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from charter.check.names.scopes import REPLACED
from charter.syntax import nodes as sx
from charter.syntax.mapped import rewrite_expr

Change = Callable[[sx.Expr], sx.Expr | None]
"""Maps an expression to its replacement; None drops it."""

Named = Literal["pick", "let"]


# --- `replaced` ----------------------------------------------------------------------------------


def fill(expr: sx.Expr, old: sx.Expr) -> sx.Expr:
    """`expr` with the name `replaced` substituted by `old`."""
    return rewrite_expr(expr, lambda part: old if _is_replaced(part) else None)


def calling(expr: sx.Expr, function: str, params: Sequence[sx.Param]) -> sx.Expr:
    """`expr` with `replaced` substituted by a call of `function` with the parameters, and
    `replaced(a)` by a call with `a`."""

    def call_old(part: sx.Expr) -> sx.Expr | None:
        if _is_replaced(part):
            given = tuple(sx.Ident(param.name.text, span=part.span) for param in params)
            return sx.Apply(sx.Name(function, span=part.span), given, span=part.span)
        if isinstance(part, sx.Apply) and part.name.text == REPLACED:
            args = tuple(rewrite_expr(arg, call_old) for arg in part.args)
            return sx.Apply(replace(part.name, text=function), args, span=part.span)
        return None

    return rewrite_expr(expr, call_old)


def _is_replaced(expr: sx.Expr) -> bool:
    return isinstance(expr, sx.Ident) and expr.name == REPLACED and not expr.primed


# --- guards --------------------------------------------------------------------------------------


def change_guard(
    guard: Iterable[sx.Conjunct], label: str, change: Change
) -> tuple[sx.Conjunct, ...]:
    """A guard with `change` applied to the conjuncts that `label` covers."""
    found: list[sx.Conjunct] = []
    for part in guard:
        if part.label is None or part.label.text != label:
            found.append(part)
            continue
        new = change(part.condition)
        found += () if new is None else (replace(part, condition=new, span=new.span),)
    return tuple(found)


def wrap_guard(guard: Iterable[sx.Conjunct], old: Sequence[sx.Conjunct]) -> tuple[sx.Conjunct, ...]:
    """A guard with `replaced` substituted by the guard `old`, which keeps its labels if `replaced`
    is a conjunct by itself."""
    whole: sx.Expr = sx.BoolLit(True)
    if old:
        whole = old[0].condition
        for part in old[1:]:
            span = whole.span.to(part.span)
            whole = sx.Binary("and", whole, part.condition, span=span)
    found: list[sx.Conjunct] = []
    for part in guard:
        if part.label is None and _is_replaced(part.condition):
            found += old
        else:
            found.append(replace(part, condition=fill(part.condition, whole)))
    return tuple(found)


# --- bodies --------------------------------------------------------------------------------------


def wrap_body(
    body: Iterable[sx.Statement], old: Sequence[sx.Statement]
) -> tuple[sx.Statement, ...]:
    """A body with `replaced` in each update, choice, let and reply substituted by the value that
    the body `old` gave to the same name."""
    return tuple(_wrap_statement(line, old) for line in body)


def _wrap_statement(line: sx.Statement, old: Sequence[sx.Statement]) -> sx.Statement:
    match line:
        case sx.Let(name, value):
            before = find_named(old, "let", name.text)
            return replace(line, value=fill(value, before[0])) if len(before) == 1 else line
        case sx.Pick(name=name):
            before = find_named(old, "pick", name.text)
            if len(before) != 1:
                return line
            return replace(line, domain=fill(line.domain, before[0]))
        case sx.Assign(sx.Ident(variable), value) if variable in list_updates(old):
            return replace(line, value=fill(value, whole_update(old, variable)))
        case sx.Reply(value):
            replies = [each.value for each in old if isinstance(each, sx.Reply)]
            return replace(line, value=fill(value, replies[-1])) if replies else line
        case _:
            return line


def list_updates(body: Iterable[sx.Statement]) -> list[str]:
    """The variables that a body updates, once for each update."""
    return [_root(line.target) for line in body if isinstance(line, sx.Assign)]


def change_updates(
    body: Sequence[sx.Statement], variable: sx.Name, change: Change
) -> tuple[sx.Statement, ...]:
    """A body with a single update of the whole `variable` at the position of its first one, or with
    none."""
    found: list[sx.Statement] = []
    is_done = False
    for line in body:
        if not isinstance(line, sx.Assign) or _root(line.target) != variable.text:
            found.append(line)
        elif not is_done:
            is_done = True
            new = change(whole_update(body, variable.text))
            target = sx.Ident(variable.text, span=variable.span)
            if new is not None:
                found.append(replace(line, target=target, value=new, span=new.span))
    return tuple(found)


def whole_update(body: Iterable[sx.Statement], variable: str) -> sx.Expr:
    """The value of a variable after all its updates in a body."""
    value: sx.Expr = sx.Ident(variable)
    for line in body:
        if isinstance(line, sx.Assign) and _root(line.target) == variable:
            value = _put(value, _path(line.target), line.value)
    return value


def _put(whole: sx.Expr, path: Sequence[sx.FieldOf | sx.Index], value: sx.Expr) -> sx.Expr:
    """`whole` with `value` at a path of fields and keys."""
    if not path:
        return value
    first, *rest = path
    span = value.span
    match first:
        case sx.FieldOf(field=field):
            inner = _put(sx.FieldOf(whole, field, span=span), rest, value)
            return sx.WithFields(whole, (sx.FieldInit(field, inner, span=span),), span=span)
        case sx.Index():
            inner = _put(sx.Index(whole, first.key, span=span), rest, value)
            return sx.WithEntries(whole, (sx.Entry(first.key, inner, span=span),), span=span)


def _path(target: sx.Expr) -> list[sx.FieldOf | sx.Index]:
    """The fields and keys in the target of an update, outermost first."""
    path: list[sx.FieldOf | sx.Index] = []
    while isinstance(target, sx.FieldOf | sx.Index):
        path.insert(0, target)
        target = target.target
    return path


def _root(target: sx.Expr) -> str:
    """The variable that an assignment changes."""
    while isinstance(target, sx.FieldOf | sx.Index):
        target = target.target
    return target.name if isinstance(target, sx.Ident) else ""


# --- choices and lets ----------------------------------------------------------------------------

LineT = TypeVar("LineT", bound=sx.Item)


def find_named(body: Iterable[sx.Item], what: Named, name: str) -> list[sx.Expr]:
    """The values of the lets, or the sets of the choices, with this name."""
    found: list[sx.Expr] = []
    for line in body:
        match line:
            case sx.Let(name=own) if what == "let" and own.text == name:
                found.append(line.value)
            case sx.Pick(name=own) if what == "pick" and own.text == name:
                found.append(line.domain)
            case _:
                pass
    return found


def change_named(
    body: Iterable[LineT], what: Named, name: str, change: Change
) -> tuple[LineT, ...]:
    """A body with `change` applied to the choice, or to the let, of a name."""
    found: list[LineT] = []
    for line in body:
        new = change(value[0]) if (value := find_named((line,), what, name)) else None
        if new is None:
            found.append(line)
        elif isinstance(line, sx.Pick):
            found.append(replace(line, domain=new))
        elif isinstance(line, sx.Let):
            found.append(replace(line, value=new))
    return tuple(found)


def lets_inside(expr: sx.Expr, name: str) -> list[sx.Expr]:
    """The values of all `let name = ... in` inside an expression."""
    found: list[sx.Expr] = []

    def note_names(part: sx.Expr) -> None:
        if isinstance(part, sx.LetIn) and part.name.text == name:
            found.append(part.value)

    rewrite_expr(expr, note_names)
    return found


def change_let(expr: sx.Expr, name: str, change: Change) -> sx.Expr:
    """An expression with `change` applied to the value of its `let name = ... in`."""

    def change_here(part: sx.Expr) -> sx.Expr | None:
        if isinstance(part, sx.LetIn) and part.name.text == name:
            return replace(part, value=change(part.value) or part.value)
        return None

    return rewrite_expr(expr, change_here)
