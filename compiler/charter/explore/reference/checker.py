"""Runs the reference engine as a model checker."""

from __future__ import annotations

import time
from dataclasses import replace

from charter.core import nodes as n
from charter.explore.model_checker import ExploreOptions, Problem, Progress
from charter.explore.reference.liveness import check_liveness
from charter.explore.reference.search import (
    OUTSIDE,
    ReferenceExploration,
    ReferenceOptions,
    explore,
)
from charter.explore.result import SearchResult, StepPairs
from charter.semantics.fairness import LivenessResult

BY_REFERENCE = "eventually, on the reference engine"
"""The progress text of a search for liveness only."""


def check(problem: Problem, options: ExploreOptions, progress: Progress) -> SearchResult:
    """As `ModelChecker.check`."""
    told = replace(options, on_violation=problem.teller(options.on_violation))
    found = _explore(problem.model, problem.instance, told, progress)
    begun = time.monotonic()
    verdicts = check_liveness(problem.model, problem.instance, found, _choose_options(options))
    return SearchResult(
        engine="reference",
        machine=problem.machine,
        counts=found.counts,
        properties=problem.select_reported(found.properties),
        branches=problem.explain_branches(found.branches),
        failures=problem.select_reported(found.failures),
        conditions=problem.conditions(found.properties),
        liveness=verdicts,
        seconds_liveness=time.monotonic() - begun if problem.liveness else None,
    )


def liveness_of(
    problem: Problem, options: ExploreOptions, progress: Progress
) -> tuple[LivenessResult, ...]:
    """The result for each `eventually` only."""
    progress(0, 0, 0, 0, BY_REFERENCE)
    bare = replace(problem.model, properties=())
    quiet = replace(options, on_violation=None)
    found = _explore(bare, problem.instance, quiet, progress, BY_REFERENCE)
    return check_liveness(problem.model, problem.instance, found, _choose_options(options))


def step_pairs(problem: Problem, options: ExploreOptions, progress: Progress) -> StepPairs:
    """As `ModelChecker.step_pairs`."""
    found = _explore(problem.model, problem.instance, options, progress)
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


def _explore(
    model: n.Model,
    instance: n.Instance,
    options: ExploreOptions,
    progress: Progress,
    doing: str = "",
) -> ReferenceExploration:
    def tell(distinct: int, generated: int, level: int) -> None:
        progress(distinct, generated, level, 0, doing)

    chosen = replace(_choose_options(options), on_violation=options.on_violation)
    return explore(model, instance, chosen, tell)


def _choose_options(options: ExploreOptions) -> ReferenceOptions:
    return ReferenceOptions(symmetry=options.symmetry, most_states=options.most_states)
