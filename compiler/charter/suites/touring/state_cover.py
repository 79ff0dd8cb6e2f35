"""Makes a state cover of an instance: every state, reached by a shortest path on which the target
has no choice, and there every operation that only answers.

An implementation may keep more than the charter does, and so answer wrongly in some states alone.
A random walk comes to such a state by a long history, which may mend what is wrong. The paths are
those of one tree: a question goes to a leaf, and on its way to each state that no other reads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.explore.select import TooManyStates
from charter.formats.suite import COVER_STATES
from charter.formats.vector import Vector, Why
from charter.semantics.expressions import State
from charter.suites.explored import ExploredInstance, HowFar
from charter.suites.proofs import list_searched
from charter.suites.touring.answering import list_answering
from charter.vectors.plan import OPEN

STATES_MAX = 2_000
"""The most states of an instance that is covered."""
ACTS_MAX = 100_000
"""The most operations in all of its states."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class StateCover:
    """The vectors, and how far they go: `left` of so many `states` of the instance are not reached
    without a choice of the target. `answering` are the operations that only answer and that some
    vector has, `operations` counts those of all vectors. `refused` are questions that could not be
    made, by reason. Without vectors there is no cover, for the reason `why`."""

    instance: str = ""
    answering: tuple[str, ...] = ()
    vectors: tuple[Vector, ...] = ()
    states: int = 0
    left: int = 0
    operations: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    why: str = ""

    def counts(self) -> dict[str, int]:
        """Numbers for the manifest; none without a cover."""
        return {COVER_STATES: self.states, "cover_states_left": self.left} if self.vectors else {}

    def tell(self) -> str:
        """A sentence: what is covered, within which bounds, and what is not."""
        if not self.vectors:
            return f"no state cover: {self.why}"
        left = (
            f"; {self.left:,} others are reached by a choice of the target alone, and not covered"
            if self.left
            else ""
        )
        return (
            f"{self.states - self.left:,} of the {self.states:,} states of {self.instance}, each"
            f" after a shortest path, answer {', '.join(self.answering)} with all arguments:"
            f" {len(self.vectors):,} vectors with {self.operations:,} operations{left}"
        )

    def markdown(self) -> str:
        """The part of the ledger."""
        words = self.tell()
        return f"\n## State cover\n\n{words[0].upper()}{words[1:]}.\n"


def cover_states(
    model: n.Model, component: n.Component, instances: Sequence[n.Instance], progress: Progress
) -> StateCover:
    """The cover of the smallest of some instances that are searched for questions."""
    answering = list_answering(component)
    if not answering:
        return StateCover(why="each operation may change the state")
    searched = list_searched(model, component.name)
    smallest: ExploredInstance | None = None
    for instance in (one for one in instances if one in searched):
        progress(f"states of {instance.name}", 0, 1)
        most = len(smallest.graph.states) if smallest else STATES_MAX
        try:
            explored = ExploredInstance.of(model, instance, (), HowFar(most))
        except TooManyStates:
            continue
        if _is_small(explored) and (smallest is None or len(explored.graph.states) < most):
            smallest = explored
    progress("states", 1, 1)
    if smallest is None:
        bounds = f"at most {STATES_MAX:,} states and {ACTS_MAX:,} operations in them"
        return StateCover(why=f"no instance that begins in the first state has {bounds}")
    return _ShortestPaths(smallest, answering).cover()


def _is_small(explored: ExploredInstance) -> bool:
    """Whether an instance can be covered by questions that begin in the first state."""
    begun = explored.opened.planner.start()[1] is None
    return begun and explored.acts_in_all() <= ACTS_MAX


@dataclass(slots=True)
class _ReachedState:
    """A state with the act that led there from the one before, by its number; None for the
    first."""

    state: State
    before: tuple[int, Act] | None


@dataclass(slots=True)
class _ShortestPaths:
    """The shortest paths from the first state of an instance; `answering` are the operations that
    only answer, `inner` the numbers of states from which a path leads on, `done` those in which a
    vector has them."""

    explored: ExploredInstance
    answering: tuple[str, ...]
    reached: list[_ReachedState] = field(default_factory=list)
    inner: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)

    def cover(self) -> StateCover:
        """The cover of all states that are reached."""
        self._search()
        leaves = [number for number in range(len(self.reached)) if number not in self.inner]
        found: dict[str, Vector] = {}
        for number in leaves:
            vector = self._ask(number)
            if vector is not None:
                found[vector.id] = vector
        states, name = len(self.explored.graph.states), self.explored.opened.machine.instance.name
        calls = {call.operation for one in found.values() for call in one.question.operations}
        answering = tuple(one for one in self.answering if one in calls)
        if found and not answering:
            return StateCover(why=f"no operation that only answers is possible in {name}")
        return StateCover(
            name,
            answering,
            tuple(found.values()),
            states,
            states - len(self.done),
            sum(len(vector.question.operations) for vector in found.values()),
            dict(self.explored.opened.planner.refused),
            "none of its questions has an answer",
        )

    def _search(self) -> None:
        """Find the states breadth first, by acts with one state after them."""
        explored, form = self.explored, self.explored.graph.successors.form
        known = {form(state) for state in explored.graph.states}
        first = explored.graph.states[0]
        seen: set[Hashable] = {form(first)}
        self.reached.append(_ReachedState(first, None))
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            state = self.reached[number].state
            for act in explored.acts(state):
                outcomes = () if act[0] in self.answering else explored.outcomes(state, act)
                if not outcomes or any(o.state != outcomes[0].state for o in outcomes[1:]):
                    continue
                after = outcomes[0].state
                name = form(after)
                if name in known and name not in seen:
                    seen.add(name)
                    self.inner.add(number)
                    waiting.append(len(self.reached))
                    self.reached.append(_ReachedState(after, (number, act)))

    def _ask(self, leaf: int) -> Vector | None:
        """A vector that goes to a state; None if it has no answer."""
        way = [leaf]
        while (before := self.reached[way[-1]].before) is not None:
            way.append(before[0])
        new = [number for number in way if number not in self.done]
        trace: list[tuple[State, Act]] = []
        for number in reversed(way):
            one = self.reached[number]
            if one.before is not None:
                trace.append((self.reached[one.before[0]].state, one.before[1]))
            if number in new:
                trace += self._list_reading(one.state)
        planner = self.explored.opened.planner
        vector = planner.plan_trace(trace, None, Why((), "exploration", "", OPEN, ()))
        if vector is not None:
            self.done.update(new)
        return vector

    def _list_reading(self, state: State) -> Iterator[tuple[State, Act]]:
        """What only answers in a state, with all arguments."""
        for act in self.explored.acts(state):
            outcomes = self.explored.outcomes(state, act) if act[0] in self.answering else ()
            if outcomes and all(outcome.state == state for outcome in outcomes):
                yield state, act
