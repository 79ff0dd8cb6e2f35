"""Checks `eventually` and `leads to` on the graph of a reference search.

Renaming counters preserves infinite runs, since states with equal canonical forms have the same
behaviour. Permuting a sort does so too if neither the property nor its fairness distinguishes
elements. Otherwise, and to show a counterexample, the graph is built again without permutations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from charter.analysis import lasso as runs
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.reference.search import ReferenceExploration, ReferenceOptions, explore
from charter.explore.result import TraceStep
from charter.semantics.builtins import EvaluationError
from charter.semantics.fairness import LivenessResult, bound, gave_up, names_elements, places_of


def check_liveness(
    model: n.Model, instance: n.Instance, found: ReferenceExploration, options: ReferenceOptions
) -> tuple[LivenessResult, ...]:
    """The result for each `eventually` of the instance's machine, in the order of the charter;
    `found` is a search of the instance with these options."""
    wanted = [live for live in model.liveness if live.machine == instance.machine]
    graphs = _Graphs(model, instance, found, options)
    return tuple(graphs.verdict(live) for live in wanted)


@dataclass(slots=True)
class _Graphs:
    """The graph of the search, and the graph without permutations, which is built on demand."""

    model: n.Model
    instance: n.Instance
    found: ReferenceExploration
    options: ReferenceOptions
    kept: dict[bool, _SearchEdges] = field(default_factory=dict)

    def verdict(self, live: n.Eventually) -> LivenessResult:
        """The result for one property; a counterexample is taken from the graph without
        permutations."""
        permuted = self.options.symmetry and any(len(m) > 1 for _, m in self.instance.sorts)
        if permuted and not names_elements(self.model, live):
            verdict = self._runs(True).verdict(live)
            if verdict.answer == "fails":
                return verdict.settle(self._runs(False).verdict(live))
            return verdict
        return self._runs(False).verdict(live)

    def _runs(self, symmetry: bool) -> _SearchEdges:
        if symmetry not in self.kept:
            found = self.found
            if self.options.symmetry and not symmetry:
                bare = replace(self.model, properties=())
                found = explore(bare, self.instance, replace(self.options, symmetry=False))
            self.kept[symmetry] = _SearchEdges.of(self.model, found)
        return self.kept[symmetry]


@dataclass(frozen=True, slots=True)
class _SearchEdges:
    """The edges of a search, for checking properties on them."""

    model: n.Model
    found: ReferenceExploration
    steps: tuple[TraceStep, ...]

    @staticmethod
    def of(model: n.Model, found: ReferenceExploration) -> _SearchEdges:
        """The edges in the order of the search."""
        return _SearchEdges(model, found, tuple(e.step for here in found.graph.edges for e in here))

    def verdict(self, live: n.Eventually) -> LivenessResult:
        """The result for one property."""
        counts = self.found.counts
        if not counts.complete:
            return LivenessResult(live.name, "unknown", detail=gave_up(counts.distinct))
        edges = self._edges(live.fairness)
        universe = self.found.graph.machine.universe
        try:
            for values in product(*(universe.domain(param.type) for param in live.params)):
                seen = runs.lasso(edges, self._leads_to(live, values))
                if seen is not None:
                    return self._fails(live, values, seen)
        except EvaluationError as problem:
            return LivenessResult(live.name, "unknown", detail=str(problem))
        leaves = counts.outside
        outside = "runs that leave the instance are not checked" if leaves else ""
        return LivenessResult(live.name, "holds", detail=outside)

    def _fails(
        self, live: n.Eventually, values: Sequence[Value], seen: runs.Lasso
    ) -> LivenessResult:
        return LivenessResult(
            live.name,
            "fails",
            tuple(zip(live.params, values, strict=True)),
            tuple(self.steps[number] for number in seen.stem),
            tuple(self.steps[number] for number in seen.cycle),
        )

    def _edges(self, fairness: tuple[n.Fair, ...]) -> list[list[runs.FairEdge]]:
        """The graph with the fairness conditions that each edge satisfies, by number."""
        numbers: dict[tuple[n.Fair, tuple[Value, ...]], int] = {}
        places = places_of(self.model, fairness)
        found: list[list[runs.FairEdge]] = []
        count = 0
        for here in self.found.graph.edges:
            found.append([])
            for edge in here:
                satisfied = frozenset(
                    numbers.setdefault(
                        (fair, tuple(edge.step.args[place] for place in places[fair])), len(numbers)
                    )
                    for fair in fairness
                    if fair.step == edge.step.operation
                )
                found[-1].append(runs.FairEdge(edge.target, satisfied, count))
                count += 1
        return found

    def _leads_to(self, live: n.Eventually, values: Sequence[Value]) -> runs.LeadsToValues:
        begins = self._truth(bound(live, live.trigger, values))
        return runs.LeadsToValues(
            begins, self._truth(bound(live, live.goal, values)), live.trigger is None
        )

    def _truth(self, wanted: n.Expr | None) -> list[bool]:
        """For each state, whether an expression is true. Raises EvaluationError."""
        graph = self.found.graph
        if wanted is None:
            return [True] * len(graph.states)
        machine = graph.machine
        truth, scope = machine.evaluator.truth, machine.scope
        return [truth(wanted, scope(state, state), {}) for state in graph.states]
