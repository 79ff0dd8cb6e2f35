"""Walks at random, with seeds, through an instance, steered towards branches that are still
rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from charter.analysis.environment import Arguments, Context, narrow, offers
from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.successors import Successors
from charter.formats.vector import Vector, Why
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.suites.planning.instance_planner import InstancePlanner, pair
from charter.vectors.plan import OPEN

SHORTEST, LONGEST = 6, 14
CANDIDATES = 5
"""Candidate acts in each state; the one with the rarest branch is taken."""

FOREIGN = 0.15
"""The probability that an argument list may have a foreign counter."""

Chosen = tuple[Act, Outcome]


@dataclass(slots=True)
class Chooser:
    """Chooses the next act: deterministic, and balanced over the branches."""

    asked: Successors
    seed: str
    taken: Counter[str] = field(default_factory=Counter)
    finite: dict[t.Type, tuple[Value, ...]] = field(default_factory=dict)

    def choose(self, state: State, number: int | str) -> Chosen:
        """An act, and one of its outcomes inside the instance. `number` identifies the choice."""
        random = Random(f"{self.seed}/{number}")
        machine = self.asked.machine
        arguments = Arguments.at(machine, state)
        found: list[tuple[int, Chosen]] = []
        attempts = 0
        while len(found) < CANDIDATES and attempts < 20 * CANDIDATES:
            attempts += 1
            operation = random.choice(sorted(machine.operations))
            chosen = self.sample(state, operation, arguments, random)
            if chosen is not None:
                found.append((self.taken[chosen[1].branch], chosen))
        if not found:
            raise ValueError(f"nothing can be done in {state}")
        best = min(found, key=lambda pair: pair[0])[1]
        self.taken[best[1].branch] += 1
        return best

    def sample(
        self, state: State, operation: str, arguments: Arguments, random: Random
    ) -> Chosen | None:
        """An operation with arguments, and one of its outcomes; None if one is undefined or leaves
        the instance, or an assumption is false."""
        act = operation, self._arguments(operation, arguments, random)
        outcome = self._outcome(state, act, random)
        return None if outcome is None else (act, outcome)

    def _outcome(self, state: State, act: Act, random: Random) -> Outcome | None:
        if not offers(self.asked.machine, state, *act):
            return None
        try:
            found = self.asked.outcomes(state, *act)
        except EvaluationError:
            return None
        if any(self.asked.machine.outside(outcome.state) for outcome in found):
            return None
        return random.choice(found)

    def _arguments(self, operation: str, arguments: Arguments, random: Random) -> tuple[Value, ...]:
        params = self.asked.machine.operations[operation].params
        context: Context = frozenset()
        values: list[Value] = [None] * len(params)
        counted: list[int] = []
        for i, param in enumerate(params):
            if t.holds(param.type, t.Counter):
                counted.append(i)
                continue
            values[i] = random.choice(self._domain(param.type))
            context = narrow(context, param.type, values[i])
        budget = 1 if random.random() < FOREIGN else 0
        for i in random.sample(counted, len(counted)):
            pool = arguments.pool(params[i].type, context)
            possible = [pair for pair in pool if pair[1] <= budget] or list(pool)
            values[i], foreign = random.choice(possible)
            budget -= foreign
        return tuple(values)

    def _domain(self, kind: t.Type) -> tuple[Value, ...]:
        known = self.finite.get(kind)
        if known is None:
            known = self.finite[kind] = tuple(self.asked.machine.universe.domain(kind))
        return known


@dataclass(slots=True)
class Walks:
    """Random walks through an instance, with everything that its component offers."""

    engine: InstancePlanner
    name: str
    pairs: set[int] = field(default_factory=set)

    @staticmethod
    def of(model: n.Model, instance: n.Instance) -> Walks:
        """Walks that begin where `instance` does."""
        return Walks(InstancePlanner.open_planner(model, instance), instance.name)

    def vectors(self, count: int) -> Iterator[Vector]:
        """The vectors of `count` walks; fewer if a walk cannot be a question."""
        chooser = Chooser(self.engine.asked, f"walks of {self.name}")
        for number in range(count):
            vector = self._walk(chooser, number)
            if vector is not None:
                yield vector

    def _walk(self, chooser: Chooser, number: int) -> Vector | None:
        """The vector of one walk, as far as it has one: in a question an old value may be one that
        nobody issued, and so break an assumption."""
        random = Random(f"{self.name}/{number}")
        state, given = self.engine.planner.start()
        trace: list[tuple[State, Act]] = []
        taken: list[str] = []
        for step in range(random.randint(SHORTEST, LONGEST)):
            act, outcome = chooser.choose(state, f"{number}/{step}")
            trace.append((state, act))
            taken.append(outcome.branch)
            self.pairs.add(pair(self.engine.name(state), outcome.branch))
            state = outcome.state
        for count in range(len(trace), 0, -1):
            names = tuple(dict.fromkeys(f"branch {branch}" for branch in taken[:count]))
            why = Why(names, "random", "", OPEN, ())
            vector = self.engine.planner.plan_trace(trace[:count], given, why)
            if vector is not None:
                return vector
        return None
