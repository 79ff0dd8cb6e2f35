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
    walker = _Walker(OutcomeBuffer.of(compiled), chance)
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


@dataclass(slots=True)
class _Walker:
    """`pairs` are numbers of operations; `outcomes` counts those that were looked at."""

    asked: OutcomeBuffer
    chance: random.Random
    pairs: set[tuple[int, int]] = field(default_factory=set)
    outcomes: int = 0

    def walk(self, start: list[int], steps: int, preferred: Sequence[int]) -> None:
        """One walk; a step that is not `preferred` is taken where no other is possible."""
        here, last = array("Q", start), -1
        for _ in range(steps):
            following = self._following(here)
            possible = sorted(following)
            if not possible:
                return
            if last >= 0:
                self.pairs.update((last, step) for step in possible)
            last = self.chance.choice([step for step in preferred if step in following] or possible)
            here = array("Q", self.chance.choice(following[last]))

    def _following(self, here: array[int]) -> dict[int, list[bytes]]:
        """The outcomes of a state that change it: the states after, by the operation taken."""
        context = self.asked.program.plan.context
        count, size = self.asked.ask(here.tolist()), context.outcome_size
        self.outcomes += count
        first = 3 + context.words + context.args
        rest = size - first - context.slots
        row = Struct(f"=Q8xQ{8 * (first - 3)}x{8 * context.slots}s{8 * rest}x")
        before, found = here.tobytes(), dict[int, list[bytes]]()
        for operation, branch, after in row.iter_unpack(self.asked.rows.view[: count * size]):
            if branch < UNDEFINED and after != before:
                found.setdefault(operation, []).append(after)
        return found
