"""Outlines expressions that several steps share into functions, which are compiled once.

Each step of a system ends with the updates of all histories. They are equal but for what they read:
the state before or after the step, and its parameters. So an update, or a let, that stands in two
lines or more becomes a function with what it reads as arguments. Values stay the same, and where
they are defined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeGuard, cast

from charter.core import nodes as n
from charter.core import small as s
from charter.core.walk import children, nodes, rebuild

LEAST = 12
"""An expression with fewer nodes stays where it is: as a function it would be printed there, too
(`calls.INLINE`)."""


def outline(model: s.Model) -> s.Model:
    """The model with functions for what two lines of steps or more compute alike."""
    lines = [line for system in model.systems for step in system.steps for line in step.body]
    texts = {id(line): _ExprWithReads.of(line.value) for line in lines if _is_long(line)}
    times = Counter(text.body for text in texts.values())
    names = {body: f"alike.{at}" for at, body in enumerate(times) if times[body] > 1}
    functions: dict[str, s.Function] = {}

    def shorten(line: s.Statement) -> s.Statement:
        if not _is_long(line) or (text := texts[id(line)]).body not in names:
            return line
        name, kind, span = names[text.body], line.value.type, line.value.span
        params = tuple(n.Param(_read(i), e.type) for i, e in enumerate(text.reads))
        functions[name] = n.Function(name, params, kind, text.body, (), span=span)
        return replace(line, value=n.Call(name, text.reads, type=kind, span=span))

    systems = tuple(
        replace(
            system,
            steps=tuple(replace(x, body=tuple(map(shorten, x.body))) for x in system.steps),
        )
        for system in model.systems
    )
    return replace(model, systems=systems, functions=(*model.functions, *functions.values()))


def _is_long(line: s.Statement) -> TypeGuard[n.Bind[s.Expr] | n.Assign[s.Expr]]:
    return isinstance(line, n.Bind | n.Assign) and any(islice(nodes(line.value), LEAST - 1, None))


def _read(number: int) -> str:
    return f"read.{number}"


@dataclass(frozen=True, slots=True)
class _ExprWithReads:
    """An expression in which each read of the state or of a name outside is a name of its own; and
    these reads, in their order. Names that the expression binds are numbered, too, so that equal
    texts are equal."""

    body: s.Expr
    reads: tuple[s.Expr, ...]

    @staticmethod
    def of(e: s.Expr) -> _ExprWithReads:
        made = _Abstraction()
        body = made.of(e, {})
        return _ExprWithReads(body, tuple(made.reads))


@dataclass(slots=True)
class _Abstraction:
    """Makes a text: what it has read so far, and how many names it has bound."""

    reads: list[s.Expr] = field(default_factory=list)
    bound: int = 0

    def of(self, e: s.Expr, names: Mapping[str, str]) -> s.Expr:
        """The text of an expression; `names` are the bound names as they are numbered."""
        match e:
            case n.Local(name=name) if name in names:
                return replace(e, name=names[name])
            case n.Local() | n.StateRef():
                self.reads.append(e)
                return n.Local(_read(len(self.reads) - 1), type=e.type, span=e.span)
            case n.Let():
                value, (name, inside) = self.of(e.value, names), self.binds(e.name, names)
                return replace(e, name=name, value=value, body=self.of(e.body, inside))
            case n.Quantified():
                domain, (name, inside) = self.of(e.domain, names), self.binds(e.name, names)
                return replace(e, name=name, domain=domain, body=self.of(e.body, inside))
            case n.Comprehend():
                domain, (name, inside) = self.of(e.domain, names), self.binds(e.name, names)
                condition = self.of(e.condition, inside)
                body = self.of(e.body, inside)
                return replace(e, name=name, domain=domain, condition=condition, body=body)
            case n.MapNew():
                name, inside = self.binds(e.name, names)
                return replace(e, name=name, value=self.of(e.value, inside))
            case _:
                parts = [self.of(part, names) for part in children(e)]
                # Parts of small core make an expression of small core.
                return cast(s.Expr, rebuild(e, parts))

    def binds(self, name: str, names: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """A numbered name, and the names where it is known."""
        self.bound += 1
        numbered = f"bound.{self.bound}"
        return numbered, {**names, name: numbered}
