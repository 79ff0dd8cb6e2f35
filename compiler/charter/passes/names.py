"""Makes new names for passes. They contain `#`, which no name of a charter does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from charter.core import nodes as n


@dataclass(slots=True)
class Fresh:
    """Makes new names for one declaration and one pass; they begin with `stem`."""

    stem: str
    count: int = 0

    def next(self) -> str:
        """A new name."""
        self.count += 1
        return f"{self.stem}#{self.count}"

    def hold(self, values: tuple[n.Expr, ...], build: Callable[..., n.Expr]) -> n.Expr:
        """The result of `build` on expressions that it may repeat: values that are not cheap are
        bound by lets, and so evaluated once."""
        lets: list[tuple[str, n.Expr]] = []
        repeated: list[n.Expr] = []
        for value in values:
            if is_path(value):
                repeated.append(value)
                continue
            name = self.next()
            lets.append((name, value))
            repeated.append(n.Local(name, type=value.type, span=value.span))
        result = build(*repeated)
        for name, value in reversed(lets):
            result = n.Let(name, value, result, type=result.type, span=result.span)
        return result


def is_path(expr: n.Expr) -> bool:
    """Whether an expression always has a value and is as cheap as a name."""
    while isinstance(expr, n.FieldOf | n.CaseArg):
        expr = expr.target
    return isinstance(expr, n.Local | n.StateRef | n.Literal | n.ConstRef | n.Domain)
