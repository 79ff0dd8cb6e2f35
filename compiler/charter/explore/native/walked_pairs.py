"""Which steps follow each other in random walks through an instance that is too large to be
searched. In each state of a walk all steps are looked at, not the chosen one alone."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from struct import Struct

from charter.core import nodes as n
from charter.explore.native.context import MachineContext
from charter.explore.native.program import Choices, program, slots_of
from charter.explore.native.traces import OutcomeBuffer
from charter.explore.result import StepPairs
from charter.passes.narrow import narrowed

SHARES = (0.3, 0.5, 0.7, 1.0)
"""How many of the steps a walk chooses from: with less choice it gets further in one direction."""
UNDEFINED = 1 << 63
"""A branch from here on stands for an outcome that asks for a value that does not exist."""


@dataclass(frozen=True, slots=True)
class PairWalks:
    """At most how many walks, of how many steps each, with which seed. They end before if so many
    walks in a row (`patience`) saw no new pair, or so many outcomes were looked at."""

    walks: int = 4_000
    steps: int = 80
    seed: int = 1
    patience: int = 300
    outcomes: int = 20_000_000


def walked_pairs(
    model: n.Model,
    instance: n.Instance,
    plan: PairWalks,
    cache: Path | None,
    tell: Callable[[int, int], None],
) -> StepPairs:
    """The pairs of steps that walks saw follow each other. `tell` is told how many walks are done,
    and of how many. Raises CannotCompile."""
    alone = narrowed(replace(model, properties=(), liveness=()), instance.machine)
    choices = Choices(symmetry=False, renaming=False)
    compiled = program(alone, instance, choices, cache, optimized=False)
    machine, chance = compiled.plan.machine, random.Random(plan.seed)
    names = tuple(machine.operations)
    walker = _Walker(OutcomeBuffer.of(compiled), _row(compiled.plan.context), chance)
    start = slots_of(compiled.plan, machine.initial())
    idle = 0
    for number in range(plan.walks):
        if walker.outcomes > plan.outcomes or idle == plan.patience:
            break
        share, known = chance.choice(SHARES), len(walker.pairs)
        walker.walk(start, plan.steps, [i for i in range(len(names)) if chance.random() < share])
        idle = idle + 1 if len(walker.pairs) == known else 0
        tell(number + 1, plan.walks)
    followed = frozenset((names[one], names[other]) for one, other in walker.pairs)
    return StepPairs(names, followed, complete=False)


def _row(context: MachineContext) -> Struct:
    between = context.words + context.args
    rest = context.outcome_size - 3 - between - context.slots
    return Struct(f"=Q8xQ{8 * between}x{8 * context.slots}s{8 * rest}x")


@dataclass(slots=True)
class _Walker:
    """`pairs` are numbers of operations; `outcomes` counts those that were looked at. States are
    the bytes of their slots; `row` takes the operation, the branch and the state after out of an
    outcome."""

    asked: OutcomeBuffer
    row: Struct
    chance: random.Random
    pairs: set[tuple[int, int]] = field(default_factory=set)
    outcomes: int = 0

    def walk(self, start: list[int], steps: int, preferred: Sequence[int]) -> None:
        """One walk; a step that is not `preferred` is taken where no other is possible."""
        here, last = array("Q", start).tobytes(), -1
        for _ in range(steps):
            following = self._following(here)
            possible = sorted(following)
            if not possible:
                return
            if last >= 0:
                self.pairs.update((last, step) for step in possible)
            last = self.chance.choice([step for step in preferred if step in following] or possible)
            here = self.chance.choice(following[last])

    def _following(self, here: bytes) -> dict[int, list[bytes]]:
        """The outcomes of a state that change it: the states after, by the operation taken."""
        count = self.asked.ask(array("Q", here).tolist())
        self.outcomes += count
        found: dict[int, list[bytes]] = {}
        rows = self.asked.rows.view[: count * self.asked.program.plan.context.outcome_size]
        for operation, branch, after in self.row.iter_unpack(rows):
            if branch < UNDEFINED and after != here:
                found.setdefault(operation, []).append(after)
        return found
