"""Random walks through an instance that is too large to be searched; a walk that fails is
shortened by dropping steps.

Walks are made in batches. A batch depends on its seed alone. Each walk leaves some operations out
(as swarm testing does: runs with less choice get further in one direction), and where walks are
guided it may begin where an earlier one saw something new: two branches after each other that no
walk of its batch had taken so. What is found is shortened step by step, and never a proof.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.transition import is_of_transition
from charter.explore.reference.explore import Action, Trace
from charter.explore.reference.load import FlatMachine, FlatOutcome, FlatState, Key, load
from charter.explore.reference.support import Undefined

BATCH = 50
"""Walks of one batch."""

_POOL, _ARGUMENTS, _WAYS = 64, 32, 64


@dataclass(frozen=True, slots=True)
class Plan:
    """`steps` of each walk, `walks` of the batch, and its `seed`."""

    steps: int
    walks: int
    seed: int
    guided: bool = True


@dataclass(frozen=True, slots=True)
class Failure:
    """A property that fails at the end of a trace (`undefined`: a value that does not exist;
    `deadlock`: nothing can happen), and the seed of its batch."""

    kind: str
    name: str
    trace: Trace
    seed: int
    detail: str = ""


@dataclass(slots=True)
class Batch:
    """What a batch saw: steps taken by branch, keys of states, witnesses; the last walk."""

    branches: Counter[str] = field(default_factory=Counter)
    states: set[Key] = field(default_factory=set)
    witnesses: set[str] = field(default_factory=set)
    failures: dict[str, Failure] = field(default_factory=dict)
    last: Trace = ()


Start = tuple[FlatState, Trace]


def simulate(model: n.Model, instance: n.Instance, plan: Plan) -> Batch:
    """Make one batch of walks. Equal plans give equal batches."""
    walker = _Walker(load(model, instance), plan, random.Random(plan.seed))
    for prop in model.properties:
        if prop.machine == instance.machine:
            walker.properties.append((prop, is_of_transition(prop)))
    walker.look((walker.flat.initial(), ()), None)
    for _ in range(plan.walks):
        walker.walk()
    return walker.batch


@dataclass(slots=True)
class _Walker:
    """One batch on its way."""

    flat: FlatMachine
    plan: Plan
    chance: random.Random
    batch: Batch = field(default_factory=Batch)
    properties: list[tuple[n.Property, bool]] = field(default_factory=list)
    pool: list[Start] = field(default_factory=list)
    pairs: set[tuple[str, str]] = field(default_factory=set)

    def walk(self) -> None:
        """One walk, from the initial state or from a state of the pool."""
        names = sorted(self.flat.operations)
        share = self.chance.choice((0.3, 0.5, 0.7, 1.0))
        kept = [name for name in names if self.chance.random() < share] or names
        state, trace = self.flat.initial(), Trace()
        if self.plan.guided and self.pool and self.chance.random() < 0.5:
            state, trace = self.rare()
        for _ in range(self.plan.steps):
            while (chosen := self.step(state, trace, kept)) is None and len(kept) < len(names):
                kept = [*kept, self.chance.choice([name for name in names if name not in kept])]
            if chosen is None:
                if self.flat.machine.component is None and not self.possible(state):
                    self.fail("deadlock", "deadlock", trace)
                break
            before, (action, state) = (state, chosen)
            trace = (*trace, action)
            self.batch.branches[action.branch] += 1
            self.look((state, trace), before)
        self.batch.last = trace

    def rare(self) -> Start:
        """Of a few states of the pool the one whose last branch was taken least often."""
        few = self.chance.sample(self.pool, min(3, len(self.pool)))
        return min(few, key=lambda start: self.batch.branches[start[1][-1].branch])

    def step(
        self, state: FlatState, trace: Trace, names: Sequence[str]
    ) -> tuple[Action, FlatState] | None:
        """A random operation that is possible, with random arguments, and an outcome of it."""
        for name in self.chance.sample(names, len(names)):
            for args, outcomes in self.offers(state, name, trace):
                if outcomes:
                    branch, _, after = self.chance.choice(outcomes)
                    return Action(name, args, branch), after
        return None

    def offers(
        self, state: FlatState, name: str, trace: Trace
    ) -> Iterator[tuple[tuple[Value, ...], list[FlatOutcome]]]:
        """Some argument lists of an operation in random order, and what comes of them."""
        lists = self.flat.arguments(state).of(self.flat.machine.operations[name].params)
        only = self.flat.only.get(name)
        for args in self.chance.sample(lists, min(len(lists), _ARGUMENTS)):
            if only is not None and not only(state, args, None)[0][1]:
                continue
            try:
                outcomes = self.flat.operations[name](state, args, None)
            except Undefined as problem:
                self.fail("undefined", name, (*trace, Action(name, args, "")), str(problem))
                continue
            yield args, [o for o in outcomes if not self.flat.outside(state, o[2])]

    def possible(self, state: FlatState) -> bool:
        """Whether any step can happen at all, also one that leaves the instance."""
        for name, operate in self.flat.operations.items():
            for args in self.flat.arguments(state).of(self.flat.machine.operations[name].params):
                try:
                    if operate(state, args, None):
                        return True
                except Undefined:
                    return True
        return False

    def look(self, at: Start, before: FlatState | None) -> None:
        """Check what has been reached, and keep it if it is new."""
        state, trace = at
        self.batch.states.add(self.flat.key(state))
        for prop, about_step in self.properties:
            if about_step and before is None:
                continue
            took = trace[-1].branch if trace else ""
            try:
                holds = self.flat.properties[prop.name](
                    state if before is None or not about_step else before, state, took
                )
            except Undefined as problem:
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

    def fail(self, kind: str, name: str, trace: Trace, detail: str = "") -> None:
        """Keep the first failure of each property, shortened."""
        if name not in self.batch.failures:
            short = trace if kind in ("undefined", "deadlock") else self.shortened(name, trace)
            self.batch.failures[name] = Failure(kind, name, short, self.plan.seed, detail)

    def shortened(self, name: str, trace: Trace) -> Trace:
        """The trace without steps that the failure does not need, the last ones first."""
        position = len(trace) - 1
        while position >= 0:
            shorter = (*trace[:position], *trace[position + 1 :])
            if self.fails(name, shorter):
                trace = shorter
            position = min(position, len(trace)) - 1
        return trace

    def fails(self, name: str, trace: Trace) -> bool:
        """Whether a property can fail right after a trace."""
        holds = self.flat.properties[name]
        steps = [(self.flat.initial(), self.flat.initial(), "")]
        try:
            for action in trace:
                steps = [
                    (after, outcome, branch)
                    for _, after, _ in steps[:_WAYS]
                    for branch, _, outcome in self.flat.operations[action.operation](
                        after, action.args, None
                    )
                    if branch == action.branch and not self.flat.outside(after, outcome)
                ]
            about_step = next(about for prop, about in self.properties if prop.name == name)
            if about_step and not trace:
                return False
            return any(not holds(b if about_step else a, a, took) for b, a, took in steps)
        except Undefined:
            return False
