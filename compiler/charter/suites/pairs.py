"""Plans vectors that take one branch right after another.

An implementation may remember what the charter does not, such as a token of a reservation that was
cancelled: it shows in the operation after that."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from charter.analysis.retell import Act
from charter.core.nodes import Instance
from charter.formats.vector import Answer, Vector, Why
from charter.semantics.expressions import State
from charter.suites.explored import ExploredInstance
from charter.vectors.plan import OPEN

MOST_PAIRS = 250
"""The most pairs of branches that a small suite takes: where there are more, those that change the
state first."""

MOST_TRIED = 25_000
"""The most acts in all states of an instance in which pairs are planned, which takes seconds."""

Arrival = tuple[list[tuple[State, Act]], State, str]
"""A trace, the state after it, and the branch of its last act."""

Pair = tuple[str, str]
"""Two branches; the second is taken right after the first."""


def pairs_in(answer: Answer) -> set[Pair]:
    """The pairs that some allowed trace of a question takes."""
    return {
        (before[origin].branch, node.branch)
        for before, after in zip(answer.steps[1:], answer.steps[2:], strict=False)
        for node in after
        for origin in node.origins
    }


def is_small(explored: ExploredInstance) -> bool:
    """Whether the states of an instance are few enough to try every act in each of them."""
    return explored.acts_in_all() <= MOST_TRIED


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """A vector for a pair of branches of an instance. `changes` is how many of the two change the
    state."""

    pair: Pair
    vector: Vector
    instance: Instance
    changes: int


def plan_pairs(
    explored: ExploredInstance, instance: Instance, arrived: Iterable[Arrival], done: set[Pair]
) -> Iterator[PlannedPair]:
    """A vector for each pair of an instance that is not `done`, by a shortest trace, which begins
    with one of those in `arrived`; what is planned is added to `done`."""
    planner, every = explored.opened.planner, len(explored.opened.machine.labels)
    for trace, state, first in arrived:
        if sum(before == first for before, _ in done) == every:
            continue
        moves = trace[-1][0] != state
        for second, act, changes in _nearest(explored, state, trace[-1][1]):
            pair = (first, second)
            if pair in done:
                continue
            why = Why((), "exploration", f"{first}, then {second}", OPEN, pair)
            vector = planner.plan_trace([*trace, (state, act)], planner.start()[1], why)
            # A value that nothing shows may be asked for as one that was never issued, and then
            # another branch is taken: another trace may do.
            if vector is not None and pair in pairs_in(vector.answer):
                done.add(pair)
                yield PlannedPair(pair, vector, instance, moves + changes)


def arrivals(explored: ExploredInstance) -> Iterator[Arrival]:
    """For each state and each branch that leads there a shortest trace through that branch, the
    state, and the branch."""
    graph, form = explored.graph, explored.opened.asked.form
    seen: set[tuple[Hashable, str]] = set()
    for transition in graph.cases():
        source = graph.states[transition.source]
        act = (transition.step.operation, transition.step.args)
        for outcome in explored.outcomes(source, act):
            way = form(outcome.state), outcome.branch
            if way not in seen:
                seen.add(way)
                trace = [*explored.trace(transition.source), (source, act)]
                yield trace, outcome.state, outcome.branch


def _nearest(
    explored: ExploredInstance, state: State, last: Act
) -> Iterator[tuple[str, Act, bool]]:
    """For each branch that is possible in a state the act that shares most arguments with the last
    one, the first of several, and whether it changes the state."""
    operations = explored.opened.machine.operations
    kinds = [param.type for param in operations[last[0]].params]
    given = {*zip(kinds, last[1], strict=True)}
    best: dict[str, tuple[int, Act, bool]] = {}
    for act in explored.acts(state):
        kinds = [param.type for param in operations[act[0]].params]
        shared = sum(pair in given for pair in zip(kinds, act[1], strict=True))
        for outcome in explored.outcomes(state, act):
            if outcome.branch not in best or best[outcome.branch][0] < shared:
                best[outcome.branch] = shared, act, outcome.state != state
    for branch, (_, act, changes) in best.items():
        yield branch, act, changes
