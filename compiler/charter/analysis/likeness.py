"""Renames arguments from one state to another that is equal up to renaming."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from charter.analysis.canonical import Canonical, PlacedForm
from charter.analysis.symmetry import Renaming, permute
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.values import Universe

Image = Callable[[str, int], int]
"""The new value of a counter, by the counter's name and the old value."""


class NoLikeness(Exception):
    """A value of a counter has no counterpart: there is no room for one between its neighbours."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """The renaming that makes one state another: of elements, and of the values of the counters
    that are renamed. The order of the counters `ranked` counts."""

    universe: Universe
    elements: Renaming
    counters: Mapping[str, Mapping[int, int]]
    ranked: frozenset[str]

    @staticmethod
    def of(canonical: Canonical, one: PlacedForm, other: PlacedForm) -> Likeness:
        """From one state to another of the same form."""
        elements = {
            name: tuple(other.renaming[name].index(number) for number in numbers)
            for name, numbers in one.renaming.items()
        }
        counters: dict[str, dict[int, int]] = {}
        for name, ranks in one.ranks.items():
            there = {rank: value for value, rank in other.ranks[name].items()}
            counters[name] = {value: there[rank] for value, rank in ranks.items()}
        return Likeness(canonical.universe, elements, counters, canonical.quotient.ranked)

    def rename(self, params: Sequence[n.Param], args: Sequence[Value]) -> tuple[Value, ...]:
        """Arguments in the other state. Raises `NoLikeness`."""
        return tuple(
            rename_counters(p.type, permute(p.type, a, self.elements, self.universe), self._image)
            for p, a in zip(params, args, strict=True)
        )

    def _image(self, name: str, value: int) -> int:
        """A value that the state does not have keeps its distance to the next smaller one."""
        known = self.counters.get(name)
        if known is None:
            return value
        if value in known:
            return known[value]
        below = max((one for one in known if one < value), default=None)
        image = value if below is None else known[below] + value - below
        above = min((one for one in known if one > value), default=None)
        passes = name in self.ranked and above is not None and image > known[above]
        if passes or image in known.values():
            raise NoLikeness
        return image


def rename_counters(kind: t.Type, value: Value, image: Image) -> Value:
    """A value with other counters."""
    match kind, value:
        case t.Counter(name=name), int():
            return image(name, value)
        case t.Option(inner=inner), _ if value is not None:
            return rename_counters(inner, value, image)
        case t.Record(fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            return tuple(rename_counters(part, item, image) for (_, part), item in pairs)
        case t.Union() as union, (str() as tag, *rest):
            params = zip(union.params(tag), rest, strict=True)
            return (tag, *(rename_counters(part, item, image) for (_, part), item in params))
        case ((t.Map(value=inner) | t.Seq(inner=inner) | t.Ranking(inner=inner)), tuple()):
            return tuple(rename_counters(inner, item, image) for item in value)
        case t.Set(inner=inner), frozenset():
            return frozenset(rename_counters(inner, item, image) for item in value)
        case _:
            return value
