"""Whether mutants do what the charter does, in states that random walks through large instances
reach. Only the rules that a mutant changes are compiled for it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from charter.core import nodes as n
from charter.explore.native.difference import outcome_rows
from charter.explore.native.program.compile_instance import Choices, program
from charter.explore.native.search.random_walks import RandomWalker, rules_alone
from charter.explore.native.search.traces import OutcomeBuffer
from charter.mutate.baseline import RuleCoverage
from charter.mutate.mutants import MadeMutant, mutate

PLAIN = Choices(symmetry=False, renaming=False, detailed=True)
STEPS = 80
"""The length of a walk."""
Table = np.ndarray[tuple[int, int], np.dtype[np.uint64]]


@dataclass(slots=True)
class Sample:
    """At most `size` states, of all that were offered."""

    size: int
    chance: random.Random
    states: list[bytes] = field(default_factory=list)
    offered: int = 0

    def offer(self, state: bytes) -> None:
        """Keep a state, perhaps in place of another one."""
        self.offered += 1
        if len(self.states) < self.size:
            self.states.append(state)
        elif (place := self.chance.randrange(self.offered)) < self.size:
            self.states[place] = state


@dataclass(slots=True)
class WalkedStates:
    """States that walks through an instance reached: samples of those in which each operation is
    possible, and of all. `rules` are the compiled operations of the charter that were asked for,
    by their names."""

    model: n.Model
    instance: n.Instance
    possible: dict[str, Sample]
    all: Sample
    rules: dict[frozenset[str], OutcomeBuffer] = field(default_factory=dict)

    @staticmethod
    def of(model: n.Model, instance: n.Instance, walked: int, kept: int) -> WalkedStates:
        """Walk until so many states were seen, and keep at most `kept` in each sample."""
        walker = RandomWalker.of(program(rules_alone(model, instance), instance, PLAIN, None), 1)
        names = tuple(walker.asked.program.plan.machine.operations)
        chance = random.Random(1)
        possible = {name: Sample(kept, chance) for name in names}
        seen, every = set[bytes](), Sample(kept, chance)
        while len(seen) < walked:
            for here in walker.walk(STEPS):
                if here.state not in seen:
                    seen.add(here.state)
                    every.offer(here.state)
                    for number in here.following:
                        possible[names[number]].offer(here.state)
        return WalkedStates(model, instance, possible, every)

    def difference(self, made: MadeMutant) -> str | None:
        """The operation, or step, that has other outcomes with a mutant in one of the states; None
        if there is none."""
        machine = self.instance.machine
        labels = RuleCoverage(self.model).labels(made.rule, machine)
        names = frozenset(label.partition("/")[0] for label in labels)
        if not names:
            return None
        if names not in self.rules:
            self.rules[names] = self._compile(self.model, names)
        mine, its = self.rules[names], self._compile(mutate(self.model, made), names)
        for state in self._states(names):
            slots = memoryview(state).cast("Q").tolist()
            if not same_outcomes(mine, its, slots):
                return " or ".join(sorted(names))
        return None

    def _states(self, names: Iterable[str]) -> Sequence[bytes]:
        where = [state for name in sorted(names) for state in self.possible[name].states]
        return [*dict.fromkeys([*where, *self.all.states])]

    def _compile(self, model: n.Model, names: frozenset[str]) -> OutcomeBuffer:
        cut = rules_alone(model, self.instance)
        components = tuple(
            replace(c, operations=tuple(o for o in c.operations if o.name in names))
            if c.name == self.instance.machine
            else c
            for c in cut.components
        )
        systems = tuple(
            replace(s, steps=tuple(step for step in s.steps if step.name in names))
            if s.name == self.instance.machine
            else s
            for s in cut.systems
        )
        alone = replace(cut, components=components, systems=systems)
        return OutcomeBuffer.of(program(alone, self.instance, PLAIN, None, optimized=False))


def same_outcomes(first: OutcomeBuffer, second: OutcomeBuffer, slots: list[int]) -> bool:
    """Whether two programs have the same outcomes in a state: operation, branch, arguments, state
    after, and reply."""
    if np.array_equal(table(first, slots), table(second, slots)):
        return True
    # Branches may be numbered in another order, and undefined values be read in other places.
    return outcome_rows(first, slots) == outcome_rows(second, slots)


def table(asked: OutcomeBuffer, slots: list[int]) -> Table:
    """The outcomes of a state, a row each, without what their guards read."""
    context = asked.program.plan.context
    count = asked.ask(slots)
    words = np.frombuffer(asked.rows.view[: count * context.outcome_size], dtype=np.uint64)
    return words.reshape(count, context.outcome_size)[:, : context.outcome_reply + context.reply]
