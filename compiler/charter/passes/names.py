"""Names that passes make up. No name of a charter has a `#`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from charter.core import nodes as n


@dataclass(slots=True)
class Fresh:
    """Of one declaration and one pass, whose names begin with `stem`."""

    stem: str
    count: int = 0

    def next(self) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"{self.stem}#{self.count}"

    def held(self, values: tuple[n.Expr, ...], build: Callable[..., n.Expr]) -> n.Expr:
        """What `build` makes of expressions that stand for these values and may be repeated: all
        of them are evaluated first, once."""
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
    """Whether an expression always has a value, and is read as quickly as a name for it."""
    while isinstance(expr, n.FieldOf | n.CaseArg):
        expr = expr.target
    return isinstance(expr, n.Local | n.StateRef | n.Literal | n.ConstRef | n.Domain)
