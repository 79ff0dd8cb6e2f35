"""Emits what canonical forms need of sets: their members renamed, and what members say of an
element of a sort. Both cost as much as there are members in the set, not as there could be.

A renaming is a few exchanges of two elements each. So the tables have a row for each exchange,
where one for each renaming would be much larger: with six elements 15 rows in place of 720.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations

from charter.analysis.symmetry import Quotient, Renaming, permute
from charter.core import types as t
from charter.explore.native.emit.code import Code, Number, Pointer, Truth
from charter.explore.native.emit.unit import Unit

MIXER = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two elements of a sort that are given each other's names."""

    sort: str
    one: int
    other: int


@dataclass(slots=True)
class SetMembers:
    """Prints what concerns members of sets under the renamings of a quotient."""

    unit: Unit
    quotient: Quotient
    exchanges: tuple[Exchange, ...] = field(init=False)
    _moved: dict[t.Type, tuple[tuple[int, ...], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sorts = self.unit.layout.universe.sorts
        self.exchanges = tuple(
            Exchange(name, one, other)
            for name in self.quotient.sorts
            for one, other in combinations(range(len(sorts[name])), 2)
        )

    def rename(
        self, code: Code, kind: t.Set, where: tuple[Pointer, Truth], way: tuple[Pointer, Number]
    ) -> list[Number]:
        """The slots of a set (its place, and whether it is present) after the exchanges of `way`:
        where their numbers stand, and how many there are."""
        size, slots = self.unit.layout.size(kind.inner), self.unit.layout.slots(kind)
        rows = self.list_moves(kind.inner)
        table = self.unit.table(new for row in rows for new in row)
        out, (exchanges, count) = code.memory(slots), way
        code.clear(out, slots)
        with self.members(code, where, slots) as old:
            new = code.memory(1)
            code.store(old, new)
            with code.counting(count) as i:
                row = code.row(table, code.load(exchanges, i), size)
                code.store(code.load(row, code.load(new)), new)
            found = code.load(new)
            word = code.at(out, code.binary("lshr", found, 6))
            bit = code.binary("shl", 1, code.binary("and", found, 63))
            code.store(code.binary("or", code.load(word), bit), word)
        return [code.load(out, i) for i in range(slots)]

    def emit_signature(
        self, code: Code, kind: t.Set, where: tuple[Pointer, Truth], told: tuple[str, int]
    ) -> Number:
        """What the members of a set (its place, and whether it is present) say of an element of a
        sort: a number that is the same for any names, and for any order of the members."""
        sort, element = told
        classes = self.classes(kind.inner, sort)
        count = self.unit.layout.size(t.Sort(sort))
        table = self.unit.table(number for row in classes for number in row)
        total = code.memory(1)
        code.store(0, total)
        with self.members(code, where, self.unit.layout.slots(kind)) as member:
            number = code.mul(code.load(code.row(table, member, count), element), MIXER)
            mixed = code.binary("xor", number, code.binary("lshr", number, 29))
            code.bump(total, by=code.mul(mixed, MIXER))
        return code.load(total)

    @contextmanager
    def members(self, code: Code, where: tuple[Pointer, Truth], slots: int) -> Iterator[Number]:
        """A loop over the numbers of the members of a set in memory. Where it is not present, other
        values may stand in its place."""
        place, there = where
        with code.counting(code.select(there, slots, 0)) as word:
            left = code.load(place, word)
            with code.when(code.nonzero(left)), code.choosing(left) as bit:
                yield code.add(code.binary("shl", word, 6), bit)

    # --- tables ----------------------------------------------------------------------------------

    def list_moves(self, kind: t.Type) -> tuple[tuple[int, ...], ...]:
        """For each exchange, the new number of each value of a type."""
        known = self._moved.get(kind)
        if known is None:
            layout, sorts = self.unit.layout, self.unit.layout.universe.sorts
            unchanged = {name: tuple(range(len(sorts[name]))) for name in self.quotient.sorts}
            known = self._moved[kind] = tuple(
                tuple(
                    layout.position(kind, permute(kind, value, renaming, layout.universe))
                    for value in layout.domain(kind)
                )
                for renaming in (renaming_of(unchanged, each) for each in self.exchanges)
            )
        return known

    def classes(self, kind: t.Type, sort: str) -> list[list[int]]:
        """A number for each value and each element of the sort. Two of these pairs have the same
        number exactly if some renaming takes one to the other."""
        count = self.unit.layout.size(t.Sort(sort))
        moved, size = self.list_moves(kind), self.unit.layout.size(kind)
        found = [[0] * count for _ in range(size)]
        last = 0
        for value in range(size):
            for element in range(count):
                if found[value][element]:
                    continue
                last += 1
                found[value][element] = last
                open_ = [(value, element)]
                while open_:
                    v, e = open_.pop()
                    for each, row in zip(self.exchanges, moved, strict=True):
                        to = exchange(each, e) if each.sort == sort else e
                        if not found[row[v]][to]:
                            found[row[v]][to] = last
                            open_.append((row[v], to))
        return found

    def ways(self, renamings: Sequence[Renaming]) -> tuple[Pointer, int]:
        """A table with a row for each renaming, and the length of a row: how many exchanges make
        it, and their numbers."""
        rows = [self._way(renaming) for renaming in renamings]
        longest = max(len(row) for row in rows)
        flat = [n for row in rows for n in (len(row), *row, *[0] * (longest - len(row)))]
        return self.unit.table(flat), 1 + longest

    def _way(self, renaming: Renaming) -> list[int]:
        """The numbers of the exchanges that, one after another, rename as `renaming` does."""
        found: list[int] = []
        for name in self.quotient.sorts:
            left = list(range(len(renaming[name])))
            for element, new in enumerate(renaming[name]):
                if left[element] != new:
                    one, other = sorted((left[element], new))
                    each = Exchange(name, one, other)
                    found.append(self.exchanges.index(each))
                    left = [exchange(each, now) for now in left]
        return found


def exchange(each: Exchange, element: int) -> int:
    """The element whose name an element is given."""
    if element == each.one:
        return each.other
    return each.one if element == each.other else element


def renaming_of(unchanged: Mapping[str, tuple[int, ...]], each: Exchange) -> Renaming:
    """An exchange as a renaming of all sorts."""
    row = tuple(exchange(each, element) for element in unchanged[each.sort])
    return {**unchanged, each.sort: row}
