"""Makes tours of an instance: vectors that each ask many of its transitions, one after another.

A tour leads to a state by a shortest path, asks what does not change it, and moves on by a
transition that is left, or by a few others to where something is left. There a transition is
renamed: the states are equal up to renaming only. What has no counterpart there comes after a
shortest path, as the search found it. A transition that leads to one of several states is the
last one of its tour: where the target goes is not known. Behind such a path nothing
counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from charter.analysis.canonical import Canonical, PlacedForm
from charter.analysis.likeness import Likeness, NoLikeness
from charter.analysis.retell import Act
from charter.explore.successors import Transition
from charter.formats.vector import Vector, Why
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.suites.explored import ExploredInstance
from charter.vectors.plan import OPEN, REFUSALS, AskedPlan, Trace, check_vector
from charter.vectors.question import Asking

OPERATIONS_MAX = 40
"""The most operations of a tour after its prelude, but for a shortest path that is longer."""
PATH_MAX = 6
"""The most operations that are repeated to reach a state where something is left."""
SEEN_MAX = 400
"""The most states that are looked at for such a path."""
FORK = -1
"""The target of a transition that leads to one of several states."""


@dataclass(frozen=True, slots=True)
class TourStep:
    """A transition of the graph: what is done, a branch that may be taken and all of them, and the
    number of the state after it."""

    act: Act
    branch: str
    branches: frozenset[str]
    target: int


@dataclass(slots=True)
class StepsLeft:
    """What is left to ask in a state: transitions that do not change it, those that lead to another
    one, those that lead to one of several, and those that were tried in vain in a renamed
    state."""

    stays: list[TourStep] = field(default_factory=list)
    moves: list[TourStep] = field(default_factory=list)
    forks: list[TourStep] = field(default_factory=list)
    again: list[TourStep] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.stays) + len(self.moves) + len(self.forks) + len(self.again)

    def add(self, source: int, step: TourStep) -> None:
        """Add a transition out of the state with this number."""
        kind = self.moves if step.target != source else self.stays
        (self.forks if step.target == FORK else kind).append(step)

    def take_all(self) -> list[TourStep]:
        """Everything that is left; nothing is afterwards."""
        taken = [*self.again, *self.stays, *self.moves, *self.forks]
        for part in (self.again, self.stays, self.moves, self.forks):
            part.clear()
        return taken


@dataclass(slots=True)
class Position:
    """Where a tour is: the number of the state in the graph, the state itself, and how the former
    is renamed to the latter (None: they are the same)."""

    number: int
    state: State
    likeness: Likeness | None = None


@dataclass(slots=True)
class Tour:
    """A tour that is being made. `expected` has for each operation the branches that it may take
    (None: any), `firsts` the transitions that it is the first to ask, by the number of the
    operation."""

    at: Position
    asking: Asking
    expected: list[frozenset[str] | None]
    firsts: dict[int, tuple[int, TourStep]] = field(default_factory=dict)

    def room(self, most: int) -> int:
        """How many operations may follow."""
        return most - len(self.expected)


@dataclass(slots=True)
class Tours:
    """The tours of an explored instance. `ways` has for each state a transition to each of the next
    ones. `alone` are transitions that no tour can ask, with the numbers of their states; `total`
    counts all, `behind_choice` those in a state that a choice of the target leads to and that looks
    like others. No tour has an operation that a target is `lacking`; `unsupported` are the
    transitions that need one."""

    explored: ExploredInstance
    canonical: Canonical
    numbers: dict[Hashable, int] = field(default_factory=dict)
    left: list[StepsLeft] = field(default_factory=list)
    ways: list[dict[int, TourStep]] = field(default_factory=list)
    places: dict[int, PlacedForm] = field(default_factory=dict)
    alone: list[tuple[int, TourStep]] = field(default_factory=list)
    total: int = 0
    behind_choice: int = 0
    lacking: Collection[str] = ()
    unsupported: int = 0

    @staticmethod
    def of(explored: ExploredInstance, lacking: Collection[str] = ()) -> Tours:
        """The tours of an instance, none of them made yet, for a target that is `lacking` some
        operations."""
        graph = explored.graph
        tours = Tours(explored, Canonical.of(graph.successors.machine), lacking=lacking)
        for number, state in enumerate(graph.states):
            tours.numbers[graph.successors.form(state)] = number
            tours.left.append(StepsLeft())
            tours.ways.append({})
        for transition in explored.list_asked():
            tours.total += 1
            if transition.step.operation in lacking:
                tours.unsupported += 1
                continue
            source, step = transition.source, tours._step(transition)
            tours.left[source].add(source, step)
            if step.target not in (FORK, source):
                tours.ways[source].setdefault(step.target, step)
        return tours

    def vectors(self) -> Iterator[Vector]:
        """The vectors of all transitions; where the start cannot be loaded as it is, each
        transition has its own."""
        start, _ = self.explored.engine.planner.start()
        same = all(start[name] == value for name, value in self.explored.graph.states[0].items())
        for number, left in enumerate(self.left):
            while same and left:
                yield from self._tour(number)
            self.alone += [(number, step) for step in left.take_all()]
            for source, step in self.alone:
                yield from self._ask_alone(source, step)
            self.alone.clear()

    def _step(self, transition: Transition) -> TourStep:
        """A transition as a step of tours."""
        source, taken = transition.source, transition.step
        act, state = (taken.operation, taken.args), self.explored.graph.states[source]
        try:
            outcomes = self.explored.engine.planner.answers.outcomes(state, *act)
        except REFUSALS:
            return TourStep(act, taken.branch, frozenset([taken.branch]), FORK)
        target = self._target(source, state, outcomes)
        return TourStep(act, taken.branch, _branches(outcomes), target)

    def _target(self, source: int, before: State, outcomes: Sequence[Outcome]) -> int:
        """The number of the state to which all outcomes lead, or `FORK`."""
        after = outcomes[0].state
        if any(outcome.state != after for outcome in outcomes[1:]):
            return FORK
        if after == before:
            return source
        return self.numbers.get(self.explored.graph.successors.form(after), FORK)

    def _tour(self, number: int) -> Iterator[Vector]:
        """A tour that begins with a shortest path to a state."""
        planner, is_around = self.explored.engine.planner, self._needs_lacking(number)
        if is_around:
            tour = self._begin_around(number)
            self.unsupported += 0 if tour else len(self.left[number].take_all())
        else:
            tour = self._begin(number)
            if tour is None:
                self.alone += [(number, step) for step in self.left[number].take_all()]
        if tour is None:
            return
        path = len(tour.expected)
        most = max(len(planner.prelude) + OPERATIONS_MAX, path + 1)
        while self._go_on(tour, most):
            pass
        made = planner.plan_asked(tour.asking, tour.expected)
        right = 0 if made is None else len(made.question.operations)
        for place, (source, step) in tour.firsts.items():
            if place > right:
                self._put_back(source, step, alone=place == max(right, path) + 1)
        if is_around and all(place > right for place in tour.firsts):
            self.unsupported += len(self.left[number].take_all())  # no counterpart at that end
        if made is not None and right > path:
            yield check_vector(made.question, made.answer, self._why(tour, made))

    def _why(self, tour: Tour, made: AskedPlan) -> Why:
        """The reasons of a tour, of which the first operations are right. What comes behind a
        choice counts if it has one node of the answer before it."""
        firsts = {k: step for k, (_, step) in tour.firsts.items() if k <= len(made.nodes)}
        names = tuple(dict.fromkeys(f"branch {step.branch}" for step in firsts.values()))
        asks, behind = [], []
        for place in firsts:
            node = made.nodes[place - 1]
            if node is None:
                self.behind_choice += 1
            elif len(made.answer.steps[place - 1]) == 1:
                asks.append(place)
            else:
                behind.append((place, node))
        return _give_why(names, tuple(asks), tuple(behind))

    def _ask_alone(self, number: int, step: TourStep) -> Iterator[Vector]:
        """A transition after a shortest path."""
        planner = self.explored.engine.planner
        if self._needs_lacking(number):
            self.unsupported += 1
            return
        trace = self.explored.trace(number)
        acts, last = [act for _, act in trace], len(planner.prelude) + len(trace) + 1
        names = (f"branch {step.branch}",)
        vector = planner.of_acts([*acts, step.act], Why(names, "exploration", "", OPEN, ()))
        if vector is None:
            return
        try:
            sure = self._is_sure(trace)
        except REFUSALS:
            sure = False
        self.behind_choice += not sure
        yield replace(vector, why=_give_why(vector.why.obligations, (last,) if sure else ()))

    def _is_sure(self, trace: Trace) -> bool:
        """Whether the prelude and a path after it lead to one state only."""
        planner = self.explored.engine.planner
        found = [planner.answers.outcomes(state, *act) for state, act in (*planner.prelude, *trace)]
        return all(other.state == outcomes[0].state for outcomes in found for other in outcomes)

    def _begin(self, number: int) -> Tour | None:
        """The path to a state; None if it is no question."""
        planner, graph = self.explored.engine.planner, self.explored.graph
        asking = Asking(planner.model, planner.shows)
        trace = self.explored.trace(number)
        try:
            for state, act in (*planner.prelude, *trace):
                asking.add(state, act)
        except REFUSALS:
            return None
        return Tour(Position(number, graph.states[number]), asking, [None] * len(asking.calls))

    def _needs_lacking(self, number: int) -> bool:
        """Whether the path to a state has an operation that the target lacks."""
        if not self.lacking:
            return False
        path = (*self.explored.engine.planner.prelude, *self.explored.trace(number))
        return any(act[0] in self.lacking for _, act in path)

    def _begin_around(self, number: int) -> Tour | None:
        """A path to a state by other operations; None if there is none."""
        tour = None if self._needs_lacking(0) else self._begin(0)
        way = _find_way(self.ways, number)
        if tour is None or not way or any(self._do(tour, step) is None for step in way):
            return None
        return tour

    def _go_on(self, tour: Tour, most: int) -> bool:
        """Ask what is left in a state as far as there is room, and move on; whether the tour can go
        on from there."""
        left = self.left[tour.at.number]
        if tour.at.likeness is None:
            waiting, left.again = left.again, []
            for step in waiting:
                left.add(tour.at.number, step)
        while left.stays and tour.room(most):
            self._ask(tour, left.stays.pop())
        if not tour.room(most):
            return False
        if left.moves and not (left.forks and tour.room(most) == 1):
            best = max(range(len(left.moves)), key=lambda i: len(self.left[left.moves[i].target]))
            self._ask(tour, left.moves.pop(best))
            return True
        way = self._way(tour.at.number, min(PATH_MAX, tour.room(most) - 1))
        if way:
            return all(self._do(tour, step) is not None for step in way)
        while left.forks and not self._ask(tour, left.forks.pop()):
            pass
        return False

    def _way(self, source: int, most: int) -> list[TourStep]:
        """A shortest way to a state where something is left; empty if none is near."""
        came: dict[int, tuple[int, TourStep]] = {}
        waiting = deque([(source, 0)])
        while waiting and len(came) < SEEN_MAX:
            number, far = waiting.popleft()
            for target, step in self.ways[number].items() if far < most else ():
                if target in came or target == source:
                    continue
                came[target] = number, step
                if self.left[target].stays or self.left[target].moves:
                    return _trace_back(came, source, target)
                waiting.append((target, far + 1))
        return []

    def _ask(self, tour: Tour, step: TourStep) -> bool:
        """Ask a transition for the first time; whether that was possible."""
        source, exact = tour.at.number, tour.at.likeness is None
        place = self._do(tour, step)
        if place is None:
            self._put_back(source, step, alone=exact)
            return False
        tour.firsts[place] = source, step
        return True

    def _put_back(self, source: int, step: TourStep, *, alone: bool) -> None:
        """A transition that the tour does not ask after all."""
        if alone:
            self.alone.append((source, step))
        else:
            self.left[source].again.append(step)

    def _do(self, tour: Tour, step: TourStep) -> int | None:
        """Perform a transition; the number of its operation, or None if it has no counterpart in
        the state of the tour, or is no question there."""
        at, act = tour.at, step.act
        successors = self.explored.graph.successors
        try:
            if at.likeness is not None:
                params = successors.machine.operations[act[0]].params
                act = act[0], at.likeness.rename(params, act[1])
            outcomes = self.explored.engine.planner.answers.outcomes(at.state, *act)
            found = _branches(outcomes), self._target(at.number, at.state, outcomes)
            after = self._position(step, outcomes[0].state, at)
            if found != (step.branches, step.target) or after is None:
                return None
            tour.asking.add(at.state, act)
        except (NoLikeness, *REFUSALS):
            return None
        tour.at = after
        tour.expected.append(step.branches)
        return len(tour.expected)

    def _position(self, step: TourStep, state: State, at: Position) -> Position | None:
        """Where a tour is after a transition; None if the state is not known to be like that of the
        graph."""
        if step.target in (FORK, at.number):
            return at
        first = self.explored.graph.states[step.target]
        if first == state:
            return Position(step.target, state)
        one = self.places.get(step.target)
        if one is None:
            one = self.places[step.target] = self.canonical.place(first)
        other = self.canonical.place(state)
        if one.form != other.form:
            return None
        return Position(step.target, state, Likeness.of(self.canonical, one, other))


def _give_why(
    names: tuple[str, ...], asks: tuple[int, ...], behind: tuple[tuple[int, int], ...] = ()
) -> Why:
    return Why(names, "exploration", "", OPEN, (), asks=asks, asks_behind=behind)


def _branches(outcomes: Sequence[Outcome]) -> frozenset[str]:
    return frozenset(outcome.branch for outcome in outcomes)


def _find_way(ways: Sequence[Mapping[int, TourStep]], target: int) -> list[TourStep]:
    """A shortest way from the first state to another one; empty if there is none."""
    came: dict[int, tuple[int, TourStep]] = {}
    waiting = deque([0])
    while waiting and target not in came:
        number = waiting.popleft()
        for after, step in ways[number].items():
            if after and after not in came:
                came[after] = number, step
                waiting.append(after)
    return _trace_back(came, 0, target) if target in came else []


def _trace_back(
    came: Mapping[int, tuple[int, TourStep]], source: int, target: int
) -> list[TourStep]:
    """The steps from a state to another one."""
    found: list[TourStep] = []
    while target != source:
        target, step = came[target]
        found.append(step)
    return found[::-1]
