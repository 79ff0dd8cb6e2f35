"""Tries the mutants of a model, in one process or in several."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from charter.core import nodes as ir
from charter.core.encoding import digest
from charter.explore.model_checker import CannotExplore
from charter.explore.workers import in_processes
from charter.mutate.baseline import InstanceBaseline, RuleCoverage
from charter.mutate.mutants import MadeMutant, mutants
from charter.mutate.results import MutantVerdict, load, store
from charter.mutate.trial import (
    Limits,
    MutantTrials,
    OutOfTime,
    alone,
    dear_machines,
    machines_of,
    search,
)
from charter.semantics.scenario import ScenarioFails, failing

BATCH, BATCHES = 12, 8
"""The fewest mutants that a process tries at once, and how often it gets some: each time it is sent
the model, and it computes once what these mutants do alike."""


@dataclass(frozen=True, slots=True)
class WantedMutants:
    """Which mutants are tried: patterns with `*` of a machine and of a rule, and how many of these,
    drawn with `seed` (0: all)."""

    machine: str = "*"
    rule: str = "*"
    limit: int = 0
    seed: int = 0


def chosen(model: ir.Model, wanted: WantedMutants) -> tuple[MadeMutant, ...]:
    """The mutants that are wanted, in the order of the charter."""
    coverage = RuleCoverage(model)
    matching = [name for name in machines_of(model) if fnmatchcase(name, wanted.machine)]
    found = [
        made
        for made in mutants(model)
        if fnmatchcase(made.place, wanted.rule)
        and any(coverage.is_rule_of(made.rule, name) for name in matching)
    ]
    if not 0 < wanted.limit < len(found):
        return tuple(found)
    drawn = random.Random(wanted.seed).sample(range(len(found)), wanted.limit)
    return tuple(found[i] for i in sorted(drawn))


def without_failing_scenarios(model: ir.Model) -> tuple[ir.Model, tuple[ScenarioFails, ...]]:
    """The model without the scenarios that fail in it, which would fail with any mutant, and how
    they fail."""
    failed = failing(model)
    titles = {one.title for one in failed}
    kept = tuple(scenario for scenario in model.scenarios if scenario.title not in titles)
    return replace(model, scenarios=kept), failed


def tried(
    model: ir.Model,
    places: Sequence[InstanceBaseline],
    made: Sequence[MadeMutant],
    limits: Limits,
    jobs: int,
) -> Iterator[MutantVerdict]:
    """The verdict on each mutant, in order, in the instances of the baselines."""
    if jobs == 1:
        trials = MutantTrials(model, places, limits)
        yield from (trials.verdict(one) for one in made)
        return
    batches = _batches(made, jobs)
    tasks = [_Batch(model, tuple(places), limits, batch) for batch in batches]
    for verdicts in in_processes(_try_all, tasks, jobs):
        yield from verdicts


def by_scenarios(
    model: ir.Model, made: Sequence[MadeMutant], jobs: int
) -> Iterator[MutantVerdict | None]:
    """What is known of each mutant, in order, before any instance is searched; None if nothing is,
    as where no machine takes long to compile."""
    if not dear_machines(model):
        yield from (None for _ in made)
        return
    if jobs == 1:
        trials = MutantTrials(model, (), Limits())
        yield from (trials.by_scenarios(one) for one in made)
        return
    tasks = [_Batch(model, (), Limits(), batch) for batch in _batches(made, jobs)]
    for verdicts in in_processes(_try_scenarios, tasks, jobs):
        yield from verdicts


def searched_for(model: ir.Model, made: Sequence[MadeMutant]) -> ir.Model:
    """The model with the instances alone that may show something of one of the mutants."""
    coverage = RuleCoverage(model)
    rules = dict.fromkeys(one.rule for one in made)
    read = {
        name for name in machines_of(model) if any(coverage.is_read_in(one, name) for one in rules)
    }
    return replace(model, instances=tuple(one for one in model.instances if one.machine in read))


def _batches(made: Sequence[MadeMutant], jobs: int) -> list[tuple[MadeMutant, ...]]:
    size = max(BATCH, -(-len(made) // (jobs * BATCHES)))
    return [tuple(made[i : i + size]) for i in range(0, len(made), size)]


@dataclass(frozen=True, slots=True)
class _Batch:
    model: ir.Model
    places: tuple[InstanceBaseline, ...]
    limits: Limits
    made: tuple[MadeMutant, ...]


def _try_all(batch: _Batch) -> tuple[MutantVerdict, ...]:
    trials = MutantTrials(batch.model, batch.places, batch.limits)
    return tuple(trials.verdict(one) for one in batch.made)


def _try_scenarios(batch: _Batch) -> tuple[MutantVerdict | None, ...]:
    trials = MutantTrials(batch.model, (), batch.limits)
    return tuple(trials.by_scenarios(one) for one in batch.made)


def baselines(
    model: ir.Model, pattern: str, limits: Limits, tell: Callable[[str], None]
) -> tuple[InstanceBaseline, ...]:
    """The baselines of the instances that match a pattern. `tell` is told the name of each that is
    searched."""
    wanted = (i for i in model.instances if fnmatchcase(i.name, pattern))
    return tuple(_baseline(model, instance, limits, tell) for instance in wanted)


def _baseline(
    model: ir.Model, instance: ir.Instance, limits: Limits, tell: Callable[[str], None]
) -> InstanceBaseline:
    key = repr(("baseline", digest(alone(model, instance)), limits))
    known = load(key)
    if known is not None:
        return InstanceBaseline.from_json(known)
    tell(instance.name)
    try:
        one = InstanceBaseline.of(search(model, instance, limits, first=False))
    except OutOfTime:  # not stored: the machine may have been busy
        return InstanceBaseline.without(instance, limits.out_of_time)
    except CannotExplore as reason:
        one = InstanceBaseline.without(instance, str(reason))
    store(key, one.json())
    return one
