"""The anchor of a search: slots that have had one value in all states so far, and whose values tell
all elements of the permuted sorts apart.

Two different states with these values are never permutations of each other: a permutation that
takes one to the other would leave the values as they are, and none does but the identity. So each
state with the values may stand for its own class, and where all states have them, symmetry merges
nothing and costs no more than a look at the values. Which state stands for a class depends on the
class alone, for other states too (`keys.py`), so an anchor changes no count.

A search begins with every state standing for itself, if the initial state tells the elements apart.
After a few levels it looks for an anchor. With one it goes on: the states that it has are those
that it would have found with the anchor from the start. Without one it begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.keys import MOST_PAIRS
from charter.explore.native.layout import Layout, Packing
from charter.explore.native.llvm import Library
from charter.explore.native.memory import Array
from charter.explore.native.program import ProgramInterface, slots_of
from charter.semantics.quotient import Quotient, permute
from charter.semantics.values import Universe

Anchor = tuple[tuple[int, int], ...]
"""Slots and their values."""

Way = tuple[tuple[t.Type | None, Value], ...]
"""The way to a part of a state: names of variables, numbers of fields and items (None), and keys of
maps with their types."""


@dataclass(frozen=True, slots=True)
class UnchangedPart:
    """A part of a state whose value did not change, the slots that it stands in, and those that say
    that it is there."""

    kind: t.Type
    value: Value
    slots: tuple[int, ...]


def use(library: Library, anchor: Anchor | None) -> None:
    """Have the keys of a program use an anchor. Without pairs every state stands for itself alone;
    with None no state does before it was compared with its permutations."""
    given = Array.of(1 + 2 * MOST_PAIRS)
    flat = [number for pair in anchor or () for number in pair]
    given.write(0, [-1 if anchor is None else len(anchor), *flat])
    library["anchor"](given.address)


def steady(rows: Iterable[Sequence[int]], packing: Packing) -> list[bool]:
    """For each slot whether it has the same value in all packed states, of which there is one."""
    first, *others = rows
    changed = [0] * len(first)
    for row in others:
        changed = [
            old | (word ^ start) for old, word, start in zip(changed, row, first, strict=True)
        ]
    return [not slot for slot in packing.unpack(changed)]


def anchor_of(plan: ProgramInterface, rows: Iterable[Sequence[int]]) -> Anchor | None:
    """An anchor of packed states, the initial one among them; None if there is none, or none that
    is small."""
    initial = plan.machine.initial()
    parts: dict[Way, UnchangedPart] = {}
    walk = _Walk(plan.layout, steady(rows, plan.packing), plan.quotient.counters)
    for variable, at in zip(plan.machine.variables, plan.shape.offsets, strict=True):
        parts |= walk.parts(variable.type, initial[variable.name], ((None, variable.name),), (at,))
    chosen = _telling(plan.quotient, plan.layout.universe, parts)
    if chosen is None:
        return None
    slots, numbers = slots_of(plan, initial), sorted({i for part in chosen for i in part.slots})
    return tuple((i, slots[i]) for i in numbers) if len(numbers) <= MOST_PAIRS else None


@dataclass(frozen=True, slots=True)
class _Walk:
    """Looks for the largest parts that did not change and hold no renamed counter."""

    layout: Layout
    steady: Sequence[bool]
    counters: frozenset[str]

    def parts(
        self, kind: t.Type, value: Value, way: Way, slots: tuple[int, ...]
    ) -> dict[Way, UnchangedPart]:
        """Those inside a value, which begins at the last of `slots`; the others say whether it is
        there."""
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
    """Parts whose values no permutation but the identity leaves as they are; None if all parts
    together are not enough."""
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
