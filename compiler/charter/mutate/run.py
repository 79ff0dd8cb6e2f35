"""Tries the mutants of a model, in one process or in several."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Generic, TypeVar

from charter.core import nodes as ir
from charter.core.encoding import digest
from charter.explore.model_checker import CannotExplore
from charter.explore.workers import in_processes
from charter.formats.canonical import Json
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

Found = TypeVar("Found")

BATCH, BATCHES = 12, 20
"""The most mutants that a process tries before it gives its results, and how often it gives some at
least: what is known of the rest is told by these."""


@dataclass(frozen=True, slots=True)
class WantedMutants:
    """Which mutants are tried: patterns with `*` of a machine and of a rule, and how many of these,
    drawn with `seed` (0: all)."""

    machine: str = "*"
    rule: str = "*"
    limit: int = 0
    seed: int = 0


def select_mutants(
    model: ir.Model, wanted: WantedMutants = WantedMutants()
) -> tuple[MadeMutant, ...]:
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


def try_mutants(
    model: ir.Model,
    places: Sequence[InstanceBaseline],
    made: Sequence[MadeMutant],
    limits: Limits,
    jobs: int,
) -> Iterator[MutantVerdict]:
    """The verdict on each mutant, in order, in the instances of the baselines."""
    yield from _each(_Trying(model, tuple(places), limits, tuple(made), _verdict), jobs)


def by_scenarios(
    model: ir.Model, made: Sequence[MadeMutant], jobs: int
) -> Iterator[MutantVerdict | None]:
    """What is known of each mutant, in order, before any instance is searched; None if nothing is,
    as where no machine takes long to compile."""
    if not dear_machines(model):
        yield from (None for _ in made)
        return
    yield from _each(_Trying(model, (), Limits(), tuple(made), _early), jobs)


def select_searched(model: ir.Model, made: Sequence[MadeMutant]) -> ir.Model:
    """The model with the instances alone that may show something of one of the mutants."""
    coverage = RuleCoverage(model)
    rules = dict.fromkeys(one.rule for one in made)
    read = {
        name for name in machines_of(model) if any(coverage.is_read_in(one, name) for one in rules)
    }
    return replace(model, instances=tuple(one for one in model.instances if one.machine in read))


def mutant_json(made: MadeMutant, verdict: MutantVerdict) -> dict[str, Json]:
    """A mutant and its verdict as JSON."""
    return {
        "id": made.id,
        "kind": made.kind,
        "says": made.says,
        "where": made.span.where(),
        "before": made.before,
        "after": made.after,
        "answer": verdict.answer,
        "by": verdict.by,
        "instance": verdict.instance,
        "steps": verdict.steps,
        "detail": verdict.detail,
        "replies": verdict.replies,
    }


def _verdict(trials: MutantTrials, one: MadeMutant) -> MutantVerdict:
    return trials.verdict(one)


def _early(trials: MutantTrials, one: MadeMutant) -> MutantVerdict | None:
    return trials.by_scenarios(one)


@dataclass(slots=True)
class _Trying(Generic[Found]):
    """What a process has that tries mutants: all of them, since they share most of their parts with
    the model, and the trials that it has begun, which compute once what mutants do alike."""

    model: ir.Model
    places: tuple[InstanceBaseline, ...]
    limits: Limits
    made: tuple[MadeMutant, ...]
    found: Callable[[MutantTrials, MadeMutant], Found]
    trials: MutantTrials | None = None

    def __call__(self, batch: range) -> tuple[Found, ...]:
        """What is found of some of the mutants."""
        if self.trials is None:
            self.trials = MutantTrials(self.model, self.places, self.limits)
        return tuple(self.found(self.trials, self.made[i]) for i in batch)


def _each(trying: _Trying[Found], jobs: int) -> Iterator[Found]:
    """What is found of each mutant, in order, by so many processes."""
    every = range(len(trying.made))
    if jobs == 1:
        for i in every:
            yield from trying(range(i, i + 1))
        return
    size = max(1, min(BATCH, len(every) // (jobs * BATCHES)))
    batches = [every[i : i + size] for i in every[::size]]
    for found in in_processes(trying, batches, jobs):
        yield from found


def baselines(
    model: ir.Model, pattern: str, limits: Limits, tell: Callable[[str, int, int], None]
) -> tuple[InstanceBaseline, ...]:
    """The baselines of the instances that match a pattern. `tell` is called with the name of each
    that is searched, how many are done, and how many there are."""
    wanted = [i for i in model.instances if fnmatchcase(i.name, pattern)]
    found: list[InstanceBaseline] = []
    for instance in wanted:
        found.append(
            _baseline(model, instance, limits, lambda name: tell(name, len(found), len(wanted)))
        )
    return tuple(found)


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
