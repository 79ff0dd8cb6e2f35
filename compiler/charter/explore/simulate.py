"""Walks at random through an instance that is too large to be searched; a walk that fails is
shortened (charter.explore.shorten).

Walks are made in batches; a batch depends only on its seed. Each walk leaves out some operations,
as swarm testing does: with less choice it gets further in one direction. A guided walk may begin
where an earlier walk saw something new: a pair of successive branches that no walk of the batch had
taken. Walks find failures, which are shortened, but prove nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from charter.analysis.environment import Arguments, is_cut, list_offered, offers, unrestrict
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.transition import is_of_transition
from charter.explore.result import CheckResult, Kind, Trace, TraceStep
from charter.explore.select import successors
from charter.explore.shorten import shorten
from charter.explore.successors import Defined, Successors
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State

BATCH = 50
"""Walks of one batch."""

_POOL, _ARGUMENTS = 64, 32


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """Options of a batch: the most `steps` of a walk, the number of `walks`, the `seed`."""

    steps: int
    walks: int
    seed: int
    guided: bool = True


@dataclass(slots=True)
class Batch:
    """The result of a batch of random walks: steps taken by branch, canonical forms of states,
    witnesses, failures; the last walk."""

    branches: Counter[str] = field(default_factory=Counter)
    states: set[Hashable] = field(default_factory=set)
    witnesses: set[str] = field(default_factory=set)
    failures: dict[str, CheckResult] = field(default_factory=dict)
    last: Trace = ()


Start = tuple[State, Trace]


def simulate(
    model: n.Model, instance: n.Instance, plan: WalkPlan, *, compiled: bool = False
) -> Batch:
    """Make one batch of walks, with the native engine if `compiled` and possible. Equal plans give
    equal batches."""
    asked = _compile(model, instance) if compiled else Defined.of(model, instance)
    walker = _Walker(asked, plan, random.Random(plan.seed))
    for prop in model.properties:
        if prop.machine == instance.machine:
            walker.properties.append((prop, is_of_transition(prop)))
    walker.look((walker.asked.machine.initial(), ()), None)
    for _ in range(plan.walks):
        walker.walk()
    return walker.batch


@lru_cache(maxsize=1)
def _compile(model: n.Model, instance: n.Instance) -> Successors:
    """Cached: one process makes several batches."""
    return successors(model, instance)


@dataclass(slots=True)
class _Walker:
    """The state of making one batch."""

    asked: Successors
    plan: WalkPlan
    chance: random.Random
    batch: Batch = field(default_factory=Batch)
    properties: list[tuple[n.Property, bool]] = field(default_factory=list)
    pool: list[Start] = field(default_factory=list)
    pairs: set[tuple[str, str]] = field(default_factory=set)

    def walk(self) -> None:
        """One walk, from the initial state or from a state of the pool."""
        machine = self.asked.machine
        names = sorted(machine.operations)
        share = self.chance.choice((0.3, 0.5, 0.7, 1.0))
        kept = [name for name in names if self.chance.random() < share] or names
        state, trace = machine.initial(), Trace()
        if self.plan.guided and self.pool and self.chance.random() < 0.5:
            state, trace = self.rare()
        for _ in range(self.plan.steps):
            while (chosen := self.step(state, trace, kept)) is None and len(kept) < len(names):
                kept = [*kept, self.chance.choice([name for name in names if name not in kept])]
            if chosen is None:
                if machine.component is None and not self.can_go_on(state):
                    self.fail("deadlock", "deadlock", trace)
                break
            before, (action, state) = (state, chosen)
            trace = (*trace, action)
            self.batch.branches[action.branch] += 1
            self.look((state, trace), before)
        self.batch.last = trace

    def rare(self) -> Start:
        """Out of a few random states of the pool, the one whose last branch was taken least
        often."""
        few = self.chance.sample(self.pool, min(3, len(self.pool)))
        return min(few, key=lambda start: self.batch.branches[start[1][-1].branch])

    def step(
        self, state: State, trace: Trace, names: Sequence[str]
    ) -> tuple[TraceStep, State] | None:
        """A random possible operation with random arguments, and one of its outcomes."""
        arguments = Arguments.at(self.asked.machine, state)
        for name in self.chance.sample(names, len(names)):
            for args, outcomes in self.offers((state, trace), name, arguments):
                if outcomes:
                    outcome = self.chance.choice(outcomes)
                    return TraceStep(name, args, outcome.branch), outcome.state
        return None

    def offers(
        self, at: Start, name: str, arguments: Arguments
    ) -> Iterator[tuple[tuple[Value, ...], list[Outcome]]]:
        """Some argument lists of an operation in random order, with their outcomes."""
        machine, (state, trace) = self.asked.machine, at
        lists = arguments.of(machine.operations[name].params)
        for args in self.chance.sample(lists, min(len(lists), _ARGUMENTS)):
            try:
                if not offers(machine, state, name, args):
                    continue
                outcomes = self.asked.outcomes(state, name, args)
            except EvaluationError as problem:
                self.fail("undefined", name, (*trace, TraceStep(name, args, "")), str(problem))
                continue
            yield args, [o for o in outcomes if not machine.outside(o.state)]

    def can_go_on(self, state: State) -> bool:
        """Whether any step can happen at all, also one that leaves the instance, or that the
        instance leaves out."""
        machine = self.asked.machine
        for name, args in list_offered(machine, state):
            try:
                if self.asked.outcomes(state, name, args):
                    return True
            except EvaluationError:
                return True
        return is_cut(machine, unrestrict(machine), state)

    def look(self, at: Start, before: State | None) -> None:
        """Check the properties in the state that was reached, and add it to the pool if it is
        new."""
        state, trace = at
        self.batch.states.add(self.asked.form(state))
        for prop, about_step in self.properties:
            if about_step and before is None:
                continue
            took, args = (trace[-1].branch, trace[-1].args) if trace else ("", ())
            origin = state if before is None or not about_step else before
            try:
                holds = self.asked.holds(prop, self.asked.machine.scope(origin, state, took, args))
            except EvaluationError as problem:
                self.fail("undefined", prop.name, trace, str(problem))
                continue
            if prop.kind == "witness" and holds:
                self.batch.witnesses.add(prop.name)
            elif prop.kind != "witness" and not holds:
                self.fail(prop.kind, prop.name, trace)
        pair = tuple(action.branch for action in trace[-2:])
        if len(pair) == 2 and (pair[0], pair[1]) not in self.pairs:
            self.pairs.add((pair[0], pair[1]))
            self.pool = [*self.pool[-_POOL + 1 :], at]

    def fail(self, kind: Kind, name: str, trace: Trace, detail: str = "") -> None:
        """Keep the first failure of each property, shortened."""
        if name in self.batch.failures:
            return
        if kind not in ("undefined", "deadlock"):
            prop = next(prop for prop, _ in self.properties if prop.name == name)
            trace = shorten(self.asked, prop, trace)
        self.batch.failures[name] = CheckResult(kind, name, 1, trace, detail)
