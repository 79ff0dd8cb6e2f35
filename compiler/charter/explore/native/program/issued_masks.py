"""Finds the counters in parameters, and places masks of their values in a worker's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.explore.native.memory.layout import CannotCompile, Layout


def counters_in(kind: t.Type) -> Iterator[str]:
    """The counters in a parameter. Raises CannotCompile for one that the engine cannot offer."""
    if not t.holds(kind, t.Counter):
        return
    match kind:
        case t.Counter(name=name) | t.Map(value=t.Option(inner=t.Counter(name=name))):
            yield name
        case t.Option(inner=inner) | t.Seq(inner=inner):
            yield from counters_in(inner)
        case t.Record(fields=fields):
            for _, part in fields:
                yield from counters_in(part)
        case t.Union(cases=cases):
            for part in (part for _, params in cases for _, part in params):
                yield from counters_in(part)
        case _:
            raise CannotCompile("an operation with a set or a map of counters as an argument")


@dataclass(frozen=True, slots=True)
class IssuedMasks:
    """The offsets of the counters' masks: `all` values, and those `under` each sort's elements."""

    all: Mapping[str, int]
    under: Mapping[tuple[str, str], int]
    size: int

    @staticmethod
    def of(layout: Layout, params: Iterable[n.Param]) -> IssuedMasks:
        """The masks of the counters that occur in parameters of operations."""
        names: list[str] = []
        for param in params:
            names += [name for name in counters_in(param.type) if name not in names]
        everything, under, at = {}, {}, 0
        for name in names:
            everything[name] = at
            at += 1
            for sort, members in layout.universe.sorts.items():
                under[name, sort] = at
                at += len(members)
        return IssuedMasks(everything, under, at)
