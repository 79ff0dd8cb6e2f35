"""Finds which steps follow each other in the scenarios of a charter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from charter.core import nodes as n
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.scenario import ScenarioFails, ScenarioTrace, follow


@dataclass(frozen=True, slots=True)
class ScenarioPairs:
    """The pairs of steps of which the second is taken right after the first in some scenario, with
    the titles of these scenarios, in the order of the charter. Steps that change nothing do not
    count. `failed`: the scenarios that fail; they count for no pair."""

    titles: Mapping[tuple[str, str], Sequence[str]]
    failed: Sequence[ScenarioFails]


def scenario_pairs(model: n.Model, machine: str) -> ScenarioPairs:
    """The pairs of the scenarios of a component or a system."""
    titles: dict[tuple[str, str], dict[str, None]] = {}
    failed: list[ScenarioFails] = []
    for scenario in model.scenarios:
        if scenario.instance.machine != machine:
            continue
        try:
            runs = follow(model, scenario)
        except ScenarioFails as problem:
            failed.append(problem)
            continue
        start = Machine.of(model, scenario.instance).initial()
        for pair in [pair for run in runs for pair in pairwise(_changing(start, run))]:
            titles.setdefault(pair, {})[scenario.title] = None
    return ScenarioPairs({pair: tuple(names) for pair, names in titles.items()}, tuple(failed))


def _changing(start: State, run: ScenarioTrace) -> list[str]:
    """The steps of a trace that change the state, in their order."""
    states = [start, *(step.outcome.state for step in run.steps)]
    return [
        step.operation
        for step, (before, after) in zip(run.steps, pairwise(states), strict=True)
        if before != after
    ]
