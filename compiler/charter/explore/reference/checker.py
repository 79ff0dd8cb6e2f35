"""The reference engine as a model checker."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from charter.explore.model_checker import ExploreOptions, Problem, Progress
from charter.explore.reference.liveness import check_liveness
from charter.explore.reference.search import OUTSIDE, ReferenceOptions, explore
from charter.explore.result import SearchResult, StepPairs
from charter.semantics.fairness import LivenessResult

BY_REFERENCE = "eventually, on the reference engine"
"""The progress text of a search for liveness only."""


@dataclass(frozen=True, slots=True)
class ReferenceChecker:
    """Breadth-first search over the definition."""

    def check(self, problem: Problem, options: ExploreOptions, progress: Progress) -> SearchResult:
        """As `ModelChecker.check`."""
        chosen = ReferenceOptions(symmetry=options.symmetry, most_states=options.most_states)
        found = explore(
            problem.model,
            problem.instance,
            chosen,
            lambda distinct, generated, level: progress(distinct, generated, level, 0),
        )
        begun = time.monotonic()
        verdicts = check_liveness(problem.model, problem.instance, found, chosen)
        return SearchResult(
            engine="reference",
            machine=problem.machine,
            counts=found.counts,
            properties=problem.reported(found.properties),
            branches=found.branches,
            failures=problem.reported(found.failures),
            conditions=problem.conditions(found.properties),
            liveness=verdicts,
            seconds_liveness=time.monotonic() - begun if problem.liveness else None,
        )


def liveness_of(
    problem: Problem, options: ExploreOptions, progress: Progress
) -> tuple[LivenessResult, ...]:
    """The result for each `eventually` only."""
    progress(0, 0, 0, 0, BY_REFERENCE)
    chosen = ReferenceOptions(symmetry=options.symmetry, most_states=options.most_states)
    found = explore(
        replace(problem.model, properties=()),
        problem.instance,
        chosen,
        lambda distinct, generated, level: progress(distinct, generated, level, 0, BY_REFERENCE),
    )
    return check_liveness(problem.model, problem.instance, found, chosen)


def step_pairs(problem: Problem, options: ExploreOptions, progress: Progress) -> StepPairs:
    """The pairs of steps that follow each other. Raises as `ReferenceChecker.check`."""
    chosen = ReferenceOptions(symmetry=options.symmetry, most_states=options.most_states)
    found = explore(
        replace(problem.model, properties=()),
        problem.instance,
        chosen,
        lambda distinct, generated, level: progress(distinct, generated, level, 0),
    )
    names = tuple(found.graph.machine.operations)
    if not found.counts.complete:
        return StepPairs(names, frozenset(), complete=False)
    edges = found.graph.edges
    after = [{edge.step.operation for edge in each} for each in edges]
    followed = {
        (edge.step.operation, second)
        for each in edges
        for edge in each
        if edge.target != OUTSIDE
        for second in after[edge.target]
    }
    return StepPairs(names, frozenset(followed), complete=True)
