"""Whether a state that the solver chose is one that an instance reaches, and if not, whether some
step from a reached state meets the obligation: an implementation cannot be blamed for what it does
in a state that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from charter.analysis.coverage import Coverage
from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.core.obligations import Obligation
from charter.explore.successors import path
from charter.semantics.expressions import State
from charter.suites.explored import ExploredInstance, acts_of
from charter.suites.planning.instance_planner import InstancePlanner
from charter.vectors.plan import PlannedStep

MOST_STATES = 5_000
MOST_STEPS = 50_000
"""Of larger instances nothing is said; so many steps are tried for one obligation."""


@dataclass(slots=True)
class ReachableStates:
    """The states of an instance that was searched to its end, with everything offered. `planner`
    is the one for its questions."""

    explored: ExploredInstance
    planner: InstancePlanner
    forms: set[Hashable] = field(default_factory=set)

    @staticmethod
    def of(
        explored: ExploredInstance, planner: InstancePlanner, instance: n.Instance
    ) -> ReachableStates | None:
        """None if the search says nothing about the states that can be loaded: it was of some
        operations only, or a state has parts that cannot be loaded."""
        component = planner.machine.component
        if component is None or len(explored.graph.states) > MOST_STATES:
            return None
        restricted = instance.offers or instance.only or instance.starts
        loaded = all(v.kind == "durable" and not v.is_history for v in component.state)
        return ReachableStates(explored, planner) if loaded and not restricted else None

    def has(self, state: State) -> bool:
        """Whether a state is reached, up to renaming."""
        form = self.planner.asked.form
        if not self.forms:
            self.forms |= {form(one) for one in self.explored.graph.states}
        return form(state) in self.forms

    def step(self, obligation: Obligation, coverage: Coverage) -> PlannedStep | None:
        """A step from a reached state that meets an obligation."""
        wanted = obligation.operation or obligation.branch.partition("/")[0]
        tried = 0
        for number, state in enumerate(self.explored.graph.states):
            for act in self.explored.acts(state):
                if act[0] != wanted:
                    continue
                tried += 1
                if tried > MOST_STEPS:
                    return None
                for outcome in self.explored.outcomes(state, act):
                    if obligation.name in coverage.list_met(state, *act, outcome):
                        way = self._way(number)
                        return PlannedStep(state, way, *act, outcome.branch, outcome.reply)
        return None

    def _way(self, number: int) -> Callable[[], Sequence[Act]]:
        return lambda: acts_of(path(self.explored.graph, number))
