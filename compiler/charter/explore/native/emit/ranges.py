"""Emits `@outside`: whether a state has left the ranges of the instance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from charter.core import types as t
from charter.core.nodes import StateVar
from charter.explore.native.emit.code import FALSE, TRUE, Code, Truth
from charter.explore.native.emit.functions import OUTSIDE, STATE
from charter.explore.native.emit.unit import Unit


@dataclass(slots=True)
class RangePrinter:
    """Emits the function for the variables of a machine."""

    unit: Unit
    variables: tuple[StateVar, ...]
    code: Code = field(init=False)

    def print(self) -> None:
        """`@outside(slots)`: whether a number or a length has left its range."""
        self.code = Code.of(OUTSIDE, STATE)
        found, at = FALSE, 0
        for variable in self.variables:
            for test in self.outside(variable.type, at, TRUE):
                found = self.code.either(found, test)
            at += self.unit.layout.slots(variable.type)
        self.code.give(found)
        self.unit.add(self.code)

    def outside(self, kind: t.Type, at: int, there: Truth) -> Iterator[Truth]:
        """Truths, one for each way in which a value can be out of range."""
        code, layout = self.code, self.unit.layout
        match kind:
            case t.Int():
                low, high = layout.span(kind)
                test = code.compare("ugt", code.load(STATE, at), high - low)
                yield code.both(there, test)
            case t.Option(inner=inner):
                yield from self.outside(inner, at + 1, there)
            case t.Record(fields=fields):
                for _, part in fields:
                    yield from self.outside(part, at, there)
                    at += layout.slots(part)
            case t.Union(cases=cases):
                for number, (_, params) in enumerate(cases):
                    here = at + 1
                    for _, part in params:
                        if has_range(part):
                            tag = code.compare("eq", code.load(STATE, at), number)
                            yield from self.outside(part, here, code.both(there, tag))
                        here += layout.slots(part)
            case t.Map(key=key, value=value):
                for i in range(layout.size(key)):
                    yield from self.outside(value, at + i * layout.slots(value), there)
            case t.Seq() | t.Ranking():
                most = layout.most(kind)
                yield code.both(there, code.compare("ugt", code.load(STATE, at), most))
                for i in range(most):
                    yield from self.outside(
                        kind.inner, at + 1 + i * layout.slots(kind.inner), there
                    )
            case t.Bool() | t.Sort() | t.Counter() | t.Enum() | t.Set():
                pass


def has_range(kind: t.Type) -> bool:
    """Whether a value of a type can be out of range."""
    match kind:
        case t.Int() | t.Seq() | t.Ranking():
            return True
        case t.Option(inner=inner):
            return has_range(inner)
        case t.Record(fields=fields):
            return any(has_range(part) for _, part in fields)
        case t.Union(cases=cases):
            return any(has_range(part) for _, params in cases for _, part in params)
        case t.Map(value=value):
            return has_range(value)
        case t.Bool() | t.Sort() | t.Counter() | t.Enum() | t.Set():
            return False
