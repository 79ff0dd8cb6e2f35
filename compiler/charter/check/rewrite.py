"""Parts of rules on the surface tree, changed by an edit: conjuncts of guards, updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from charter.syntax import nodes as sx

Change = Callable[[sx.Expr], sx.Expr | None]
"""What an edit puts in the place of an expression; None: nothing, the part goes."""


def changed_guard(
    guard: Iterable[sx.Conjunct], label: str, change: Change
) -> tuple[sx.Conjunct, ...]:
    """A guard with `change` applied to all that `label` covers."""
    found: list[sx.Conjunct] = []
    for part in guard:
        if part.label is None or part.label.text != label:
            found.append(part)
            continue
        new = change(part.condition)
        found += () if new is None else (replace(part, condition=new, span=new.span),)
    return tuple(found)


def updated(body: Iterable[sx.Statement]) -> list[str]:
    """The variables that a body updates, once for each update."""
    return [_root(line.target) for line in body if isinstance(line, sx.Assign)]


def changed_updates(
    body: Iterable[sx.Statement], variable: sx.Name, change: Change
) -> tuple[sx.Statement, ...]:
    """A body with one update of the whole `variable`, where its first one stood, or without any."""
    found: list[sx.Statement] = []
    is_done = False
    for line in body:
        if not isinstance(line, sx.Assign) or _root(line.target) != variable.text:
            found.append(line)
        elif not is_done:
            is_done = True
            new = change(line.value)
            target = sx.Ident(variable.text, span=variable.span)
            if new is not None:
                found.append(replace(line, target=target, value=new, span=new.span))
    return tuple(found)


def _root(target: sx.Expr) -> str:
    """The variable that an assignment changes."""
    while isinstance(target, sx.FieldOf | sx.Index):
        target = target.target
    return target.name if isinstance(target, sx.Ident) else ""
