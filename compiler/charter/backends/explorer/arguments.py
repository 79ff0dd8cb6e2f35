"""Arguments that an environment may offer: all values of finite types, and of counters the values
that tell cases apart: those in the state, an older one, and one that was never issued.

At most one counter of an argument list is not taken from the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations, product

from charter.ir import nodes as n
from charter.ir import types as t
from charter.ir.nodes import Value
from charter.semantics.values import NotFinite, Universe

Pool = tuple[tuple[Value, int], ...]
"""Values, each with the number of counters in it that are not taken from the state."""

Issued = Mapping[str, frozenset[int]]
"""For each counter type, the values that occur in the state."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The argument lists of operations in one universe."""

    universe: Universe

    def of(self, params: tuple[n.Param, ...], issued: Issued) -> tuple[tuple[Value, ...], ...]:
        """Every argument list, those without foreign counters first."""
        found = list(_product([self.pool(p.type, issued) for p in params]))
        return tuple(args for args, _ in sorted(found, key=lambda pair: pair[1]))

    def pool(self, kind: t.Type, issued: Issued) -> Pool:
        """The values of one type."""
        try:
            return tuple((value, 0) for value in self.universe.domain(kind))
        except NotFinite:
            return tuple(self._unbounded(kind, issued))

    def _unbounded(self, kind: t.Type, issued: Issued) -> Iterator[tuple[Value, int]]:
        match kind:
            case t.Counter(name=name):
                yield from counter_values(issued.get(name, frozenset()))
            case t.Option(inner=inner):
                yield (None, 0)
                yield from self.pool(inner, issued)
            case t.Record(fields=fields):
                yield from _product([self.pool(part, issued) for _, part in fields])
            case t.Union(cases=cases):
                for tag, params in cases:
                    pools = [self.pool(part, issued) for _, part in params]
                    for args, foreign in _product(pools):
                        yield (tag, *args), foreign
            case t.Map(key=key, value=value):
                pool = self.pool(value, issued)
                yield from _product([pool] * len(self.universe.domain(key)))
            case t.Set(inner=inner):
                pool = self.pool(inner, issued)
                for size in range(len(pool) + 1):
                    for chosen in combinations(pool, size):
                        foreign = sum(f for _, f in chosen)
                        if foreign <= 1:
                            yield frozenset(v for v, _ in chosen), foreign
            case t.Seq(inner=inner, limit=limit):
                pool = self.pool(inner, issued)
                for size in range(self.universe.limit(limit) + 1):
                    yield from _product([pool] * size)
            case t.Ranking(inner=inner):
                pool = self.pool(inner, issued)
                for size in range(len(pool) + 1):
                    for ranked in permutations(pool, size):
                        foreign = sum(f for _, f in ranked)
                        if foreign <= 1:
                            yield tuple(v for v, _ in ranked), foreign
            case _:
                raise NotFinite(f"{kind} has no arguments to offer")


def counter_values(issued: frozenset[int]) -> Iterator[tuple[Value, int]]:
    """The values in the state, newest first; then an older one (if there is room below), then one
    that was never issued."""
    for value in sorted(issued, reverse=True):
        yield value, 0
    newest = max(issued, default=-1)
    older = next((v for v in range(newest - 1, -1, -1) if v not in issued), None)
    if older is not None:
        yield older, 1
    yield newest + 1, 1


def _product(pools: list[Pool]) -> Iterator[tuple[tuple[Value, ...], int]]:
    for chosen in product(*pools):
        foreign = sum(f for _, f in chosen)
        if foreign <= 1:
            yield tuple(value for value, _ in chosen), foreign
