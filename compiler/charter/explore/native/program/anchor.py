"""Finds the anchor of a search: slots that have the same value in all states so far, and whose
values distinguish all elements of the permuted sorts. It turns off symmetry that merges nothing.

Two different states with these values are never permutations of each other: a permutation that
takes one to the other would leave the values as they are, and none does but the identity. So each
state with these values may represent its own class. If all states have them, symmetry merges
nothing, and costs only a comparison with the values. The representative of a class still depends on
the class alone (`keys.py`), so an anchor changes no count.

A search begins without canonical forms if the initial state distinguishes the elements. After a few
levels it looks for an anchor. If there is one, the search continues: its states are those that it
would have found with the anchor from the start. If not, it starts again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from charter.analysis.symmetry import Quotient, permute
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.memory.arrays import Array
from charter.explore.native.memory.layout import Layout, Packing
from charter.explore.native.program.compile_instance import ProgramInterface, slots_of
from charter.explore.native.program.keys import MOST_PAIRS
from charter.explore.native.program.llvm import Library
from charter.semantics.values import Universe

Anchor = tuple[tuple[int, int], ...]
"""Slots and their values."""

Way = tuple[tuple[t.Type | None, Value], ...]
"""The path to a part of a state: names of variables, numbers of fields and items (type None), and
keys of maps with their types."""


@dataclass(frozen=True, slots=True)
class UnchangedPart:
    """A part of a state whose value did not change, with its slots and those that tell whether it
    is present."""

    kind: t.Type
    value: Value
    slots: tuple[int, ...]


def use(library: Library, anchor: Anchor | None) -> None:
    """Set the anchor of a program. Without pairs every state is its own canonical form; with None
    canonical forms are always computed from all permutations."""
    given = Array.of(1 + 2 * MOST_PAIRS)
    flat = [number for pair in anchor or () for number in pair]
    given.write(0, [-1 if anchor is None else len(anchor), *flat])
    library["anchor"](given.address)


def steady(rows: Iterable[Sequence[int]], packing: Packing) -> list[bool]:
    """For each slot, whether it has the same value in all packed states (at least one)."""
    first, *others = rows
    changed = [0] * len(first)
    for row in others:
        changed = [
            old | (word ^ start) for old, word, start in zip(changed, row, first, strict=True)
        ]
    return [not slot for slot in packing.unpack(changed)]


def anchor_of(plan: ProgramInterface, rows: Iterable[Sequence[int]]) -> Anchor | None:
    """An anchor of packed states with the initial one; None if there is none that is small."""
    initial = plan.machine.initial()
    parts: dict[Way, UnchangedPart] = {}
    walk = _Walk(plan.layout, steady(rows, plan.packing), plan.quotient.counters)
    for variable, at in zip(plan.machine.variables, plan.variable_slots.offsets, strict=True):
        parts |= walk.parts(variable.type, initial[variable.name], ((None, variable.name),), (at,))
    chosen = _telling(plan.quotient, plan.layout.universe, parts)
    if chosen is None:
        return None
    slots, numbers = slots_of(plan, initial), sorted({i for part in chosen for i in part.slots})
    return tuple((i, slots[i]) for i in numbers) if len(numbers) <= MOST_PAIRS else None


@dataclass(frozen=True, slots=True)
class _Walk:
    """Finds the largest parts that did not change and contain no renamed counter."""

    layout: Layout
    steady: Sequence[bool]
    counters: frozenset[str]

    def parts(
        self, kind: t.Type, value: Value, way: Way, slots: tuple[int, ...]
    ) -> dict[Way, UnchangedPart]:
        """The unchanged parts of a value that begins at the last of `slots`; the others tell
        whether it is present."""
        *there, at = slots
        places = range(at, at + self.layout.slots(kind))
        named = any(isinstance(k, t.Counter) and k.name in self.counters for k in t.inside(kind))
        if not named and all(self.steady[i] for i in places):
            return {way: UnchangedPart(kind, value, (*there, *places))}
        found: dict[Way, UnchangedPart] = {}
        match kind, value:
            case t.Record(fields=fields), tuple():
                for number, (_, inner) in enumerate(fields):
                    found |= self.parts(inner, value[number], (*way, (None, number)), (*there, at))
                    at += self.layout.slots(inner)
            case t.Map(key=key, value=inner), tuple():
                for member, entry in zip(self.layout.domain(key), value, strict=True):
                    found |= self.parts(inner, entry, (*way, (key, member)), (*there, at))
                    at += self.layout.slots(inner)
            case t.Option(inner=inner), _ if value is not None and self.steady[at]:
                found = self.parts(inner, value, (*way, (None, 0)), (*there, at, at + 1))
            case _:
                pass
        return found


def _telling(
    quotient: Quotient, universe: Universe, parts: Mapping[Way, UnchangedPart]
) -> tuple[UnchangedPart, ...] | None:
    """Parts whose values only the identity permutation preserves; None if all parts together do not
    suffice."""
    left = set(range(1, len(renamings := quotient.renamings(universe))))
    told: dict[Way, dict[int, Way]] = {}
    for way, part in parts.items():
        kinds = (part.kind, *(key for key, _ in way if key is not None))
        if not any(quotient.permutes(kind) for kind in kinds):
            continue
        told[way] = {}
        for number in left:
            renaming = renamings[number]
            other = tuple(
                (key, member if key is None else permute(key, member, renaming, universe))
                for key, member in way
            )
            moved = permute(part.kind, part.value, renaming, universe)
            if other in parts and parts[other].value != moved:
                told[way][number] = other
    chosen: dict[Way, UnchangedPart] = {}
    while left:
        best = max(told, key=lambda way: len(left & told[way].keys()), default=None)
        if best is None or not (now := left & told[best].keys()):
            return None
        chosen |= {way: parts[way] for way in (best, *(told[best][number] for number in now))}
        left -= now
    return tuple(chosen.values())
