"""Finds which steps follow each other in random walks through an instance that is too large to be
searched. In each state of a walk all steps are looked at, not the chosen one alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from charter.core import nodes as n
from charter.explore.native.program.compile_instance import Choices, program
from charter.explore.native.search.random_walks import RandomWalker, rules_alone
from charter.explore.result import StepPairs


@dataclass(frozen=True, slots=True)
class PairWalks:
    """At most how many walks, of how many steps each, with which seed. They end before if so many
    walks in a row (`patience`) saw no new pair, or so many outcomes were looked at."""

    walks: int = 4_000
    steps: int = 80
    seed: int = 1
    patience: int = 300
    outcomes: int = 20_000_000


def find_walked_pairs(
    model: n.Model,
    instance: n.Instance,
    plan: PairWalks,
    cache: Path | None,
    tell: Callable[[int, int], None],
) -> StepPairs:
    """The pairs of steps that walks saw follow each other. `tell` is told how many walks are done,
    and of how many. Raises CannotCompile."""
    choices = Choices(symmetry=False, renaming=False)
    rules = rules_alone(model, instance)
    compiled = program(rules, instance, choices, cache, optimized=False)
    walker, pairs, idle = RandomWalker.of(compiled, plan.seed), set[tuple[int, int]](), 0
    for number in range(plan.walks):
        if walker.outcomes > plan.outcomes or idle == plan.patience:
            break
        known = len(pairs)
        for here in walker.walk(plan.steps):
            if here.arrived_by >= 0:
                pairs.update((here.arrived_by, step) for step in here.following)
        idle = idle + 1 if len(pairs) == known else 0
        tell(number + 1, plan.walks)
    names = tuple(compiled.plan.machine.operations)
    followed = frozenset((names[one], names[other]) for one, other in pairs)
    return StepPairs(names, followed, complete=False)
