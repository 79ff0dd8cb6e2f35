"""Builds the graph of a reference search; suites are planned from it if the native engine does not
support the charter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from charter.analysis.conditions import atoms_read
from charter.analysis.environment import list_offered
from charter.core import nodes as n
from charter.explore.reference.search import ReferenceExploration, ReferenceOptions, explore
from charter.explore.result import TraceStep
from charter.explore.successors import Defined, Transition
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import State


@dataclass(frozen=True, slots=True)
class DefinedGraph:
    """The graph of a reference search of a component."""

    found: ReferenceExploration
    successors: Defined

    @staticmethod
    def of(
        model: n.Model,
        instance: n.Instance,
        most_states: int = 0,
        tell: Callable[[int], None] = lambda _: None,
    ) -> DefinedGraph:
        """Search an instance to its end, or to `most_states` (0: to its end); `tell` is called now
        and then with the number of states."""
        options = ReferenceOptions(most_states=most_states)
        found = explore(model, instance, options, lambda distinct, _, __: tell(distinct))
        return DefinedGraph(found, Defined(found.graph.machine))

    @property
    def states(self) -> Sequence[State]:
        """In the order of the search."""
        return self.found.graph.states

    def cases(self) -> Iterator[Transition]:
        """As `StateGraph.cases`."""
        machine, form = self.successors.machine, self.successors.form
        for number, state in enumerate(self.states):
            seen: set[object] = set()
            for operation, args in list_offered(machine, state):
                chosen = machine.operations[operation]
                assert isinstance(chosen, n.Operation)
                try:
                    outcomes = machine.outcomes(state, operation, args)
                    atoms = atoms_read(machine.evaluator, chosen, state, args)
                except EvaluationError:
                    continue
                for outcome in outcomes:
                    case = (operation, outcome.branch, form(outcome.state), atoms)
                    if case not in seen and not machine.outside(outcome.state):
                        seen.add(case)
                        step = TraceStep(operation, args, outcome.branch)
                        yield Transition(number, step, outcome.reply)

    def arrival(self, number: int) -> tuple[int, TraceStep]:
        """As `StateGraph.arrival`."""
        source, step = self.found.graph.parents[number]
        assert step is not None
        return source, step
