"""Makes a state cover of an instance: every state, reached by a shortest path on which the target
has no choice, and there every operation that only answers.

An implementation may keep more than the charter does, and so answer wrongly in some states alone.
A random walk comes to such a state by a long history, which may mend what is wrong. The paths are
those of one tree: a question goes to a leaf, and on its way to each state that no other reads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.explore.select import TooManyStates
from charter.formats.canonical import text
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
    """The vectors, and how far they go: `left` of so many `states` of the instance are not covered,
    of which `unnamed` have a path, but no question. `answering` are the operations that only answer
    and that some vector has, `operations` counts those of all vectors. `refused` are questions that
    could not be made, by reason. Without vectors there is no cover, for the reason `why`."""

    instance: str = ""
    answering: tuple[str, ...] = ()
    vectors: tuple[Vector, ...] = ()
    states: int = 0
    left: int = 0
    unnamed: int = 0
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
        chosen = self.left - self.unnamed
        left = (
            f"; {chosen:,} others are reached by a choice of the target alone, and not covered"
            if chosen
            else ""
        )
        if self.unnamed:
            left += f"; of {self.unnamed:,} others no question can be made"
        return (
            f"{self.states - self.left:,} of the {self.states:,} states of {self.instance}, each"
            f" after a shortest path, answer {', '.join(self.answering)} with all arguments that"
            f" can be named: {len(self.vectors):,} vectors with {self.operations:,} operations"
            f"{left}"
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
            len(self.reached) - len(self.done),
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
        """A vector that goes to a state, or as far towards it as a question can; None if none has
        anything new."""
        way = [leaf]
        while (before := self.reached[way[-1]].before) is not None:
            way.append(before[0])
        way.reverse()
        while way and way[-1] not in self.done:
            reading = {one: self._list_reading(one) for one in way if one not in self.done}
            if vector := self._plan_some(way, reading):
                return vector
            way.pop()
        return None

    def _plan_some(self, way: Sequence[int], reading: dict[int, list[Act]]) -> Vector | None:
        """A vector of a path with all of the `reading` on it of which a question can be made;
        None if none can of the path, or of its last state."""
        refused = self.explored.opened.planner.refused
        known, chosen = {**refused}, reading
        vector = self._plan(way, reading)
        if vector is None:
            refused.clear()
            refused.update(known)  # what is refused is counted by itself
        if vector is None and self._plan(way, {}) is not None:
            chosen = {number: self._list_possible(way, number, acts)
                     for number, acts in reading.items()}  # fmt: skip
            vector = self._plan(way, chosen)
        if vector is None or (reading[way[-1]] and not chosen[way[-1]]):
            return None
        self.done.update(one for one, acts in chosen.items() if acts or not reading[one])
        first = self._drop_repeated(way, chosen, vector)
        return (self._plan(way, first) if first != chosen else None) or vector

    def _list_possible(self, way: Sequence[int], number: int, acts: Sequence[Act]) -> list[Act]:
        """What has a question, each by itself, in a state on a path."""
        there = way[: way.index(number) + 1]
        return [act for act in acts if self._plan(there, {number: [act]}) is not None]

    def _drop_repeated(
        self, way: Sequence[int], chosen: Mapping[int, Sequence[Act]], vector: Vector
    ) -> dict[int, list[Act]]:
        """What a vector asks without repeated calls in the same state: where nothing shows a
        value, several arguments become one."""
        led = len(self.explored.opened.planner.prelude)
        calls = iter(vector.question.operations[led:])
        found: dict[int, list[Act]] = {}
        for number in way:
            if self.reached[number].before is not None:
                next(calls)
            first: dict[str, Act] = {}
            for act in chosen.get(number, ()):
                first.setdefault(text(next(calls).json()), act)
            if number in chosen:
                found[number] = [*first.values()]
        return found

    def _plan(self, way: Sequence[int], chosen: Mapping[int, Sequence[Act]]) -> Vector | None:
        """The vector of a path that asks so much in its states."""
        trace: list[tuple[State, Act]] = []
        for number in way:
            one = self.reached[number]
            if one.before is not None:
                trace.append((self.reached[one.before[0]].state, one.before[1]))
            trace += [(one.state, act) for act in chosen.get(number, ())]
        planner = self.explored.opened.planner
        return planner.plan_trace(trace, None, Why((), "exploration", "", OPEN, ()))

    def _list_reading(self, number: int) -> list[Act]:
        """What only answers in a state, with all arguments."""
        state, found = self.reached[number].state, list[Act]()
        for act in self.explored.acts(state):
            outcomes = self.explored.outcomes(state, act) if act[0] in self.answering else ()
            if outcomes and all(outcome.state == state for outcome in outcomes):
                found.append(act)
        return found
