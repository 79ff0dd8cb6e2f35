"""Walks at random through the states of an instance: in each state all outcomes are looked at."""

from __future__ import annotations

import random
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from struct import Struct

from charter.core import nodes as n
from charter.explore.native.program.compile_instance import Program, slots_of
from charter.explore.native.search.traces import OutcomeBuffer
from charter.passes.narrow import narrow

SHARES = (0.3, 0.5, 0.7, 1.0)
"""How many of the operations a walk chooses from: with less choice it gets further in one
direction."""
UNDEFINED = 1 << 63
"""A branch from here on stands for an outcome that asks for a value that does not exist."""


def rules_alone(model: n.Model, instance: n.Instance) -> n.Model:
    """The machine of an instance without properties: what a walk needs."""
    return narrow(replace(model, properties=(), liveness=()), instance.machine)


@dataclass(frozen=True, slots=True)
class WalkedState:
    """A state of a walk, as the bytes of its slots; the number of the operation that led to it
    (-1: none); and the outcomes that change it, as the states after by operation."""

    state: bytes
    arrived_by: int
    following: Mapping[int, Collection[bytes]]


@dataclass(slots=True)
class RandomWalker:
    """Walks of one program, from its initial state. `outcomes` counts those that were looked at."""

    asked: OutcomeBuffer
    row: Struct
    chance: random.Random
    outcomes: int = 0

    @staticmethod
    def of(program: Program, seed: int) -> RandomWalker:
        """Walks drawn with a seed."""
        row = program.plan.context.outcome_row
        return RandomWalker(OutcomeBuffer.of(program), row, random.Random(seed))

    def walk(self, steps: int) -> Iterator[WalkedState]:
        """One walk of at most so many steps. It prefers some of the operations: another one is
        taken only where none of them is possible."""
        machine, share = self.asked.program.plan.machine, self.chance.choice(SHARES)
        operations = range(len(machine.operations))
        preferred = [i for i in operations if self.chance.random() < share]
        here = array("Q", slots_of(self.asked.program.plan, machine.initial())).tobytes()
        last = -1
        for _ in range(steps):
            following = self._following(here)
            yield WalkedState(here, last, following)
            if not following:
                return
            choice = [i for i in preferred if i in following] or sorted(following)
            last = self.chance.choice(choice)
            here = self.chance.choice(following[last])

    def _following(self, here: bytes) -> dict[int, list[bytes]]:
        count = self.asked.ask(array("Q", here).tolist())
        self.outcomes += count
        found: dict[int, list[bytes]] = {}
        rows = self.asked.rows.view[: count * self.asked.program.plan.context.outcome_size]
        for operation, _, branch, _, _, after, _ in self.row.iter_unpack(rows):
            if branch < UNDEFINED and after != here:
                found.setdefault(operation, []).append(after)
        return found
