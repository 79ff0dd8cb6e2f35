"""Lists the mutants of a model, and finds what sees each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from charter.core import nodes as n
from charter.formats.canonical import Json

if TYPE_CHECKING:
    from charter.mutate.baseline import InstanceBaseline
    from charter.mutate.mutants import MadeMutant
    from charter.mutate.results import MutantVerdict
    from charter.mutate.trial import Limits
    from charter.semantics.scenario import ScenarioFails

__all__ = [
    "InstanceBaseline", "MadeMutant", "MutantVerdict", "baselines", "by_scenarios", "limits",
    "mutant_json", "mutants_of", "select_searched", "try_mutants", "without_failing_scenarios",
]  # fmt: skip


def limits(states: int, seconds: float) -> Limits:
    """How much is searched for one mutant in one instance."""
    from charter.mutate.trial import Limits

    return Limits(states, seconds)


def mutants_of(
    model: n.Model, machine: str = "*", rule: str = "*", limit: int = 0, seed: int = 0
) -> tuple[MadeMutant, ...]:
    """The mutants of the rules that match, in the order of the charter; or so many of them, drawn
    with `seed`."""
    from charter.mutate import run

    return run.select_mutants(model, run.WantedMutants(machine, rule, limit, seed))


def baselines(
    model: n.Model, instances: str, most: Limits, tell: Callable[[str, int, int], None]
) -> tuple[InstanceBaseline, ...]:
    """What the charter does in the instances that match. `tell` is called with the name of each
    that is searched, how many are done, and how many there are."""
    from charter.mutate import run

    return run.baselines(model, instances, most, tell)


def without_failing_scenarios(model: n.Model) -> tuple[n.Model, tuple[ScenarioFails, ...]]:
    """The model without the scenarios that fail in it, which show nothing of a mutant, and how they
    fail."""
    from charter.mutate import run

    return run.without_failing_scenarios(model)


def by_scenarios(
    model: n.Model, made: Sequence[MadeMutant], jobs: int
) -> Iterator[MutantVerdict | None]:
    """The verdict on each mutant, in order, that needs no search: by the scenarios of machines that
    take long to compile. None where there is none."""
    from charter.mutate import run

    return run.by_scenarios(model, made, jobs)


def select_searched(model: n.Model, made: Sequence[MadeMutant]) -> n.Model:
    """The model with the instances alone that may show something of one of the mutants."""
    from charter.mutate import run

    return run.select_searched(model, made)


def try_mutants(
    model: n.Model,
    places: Sequence[InstanceBaseline],
    made: Sequence[MadeMutant],
    most: Limits,
    jobs: int,
) -> Iterator[MutantVerdict]:
    """The verdict on each mutant, in order, in the instances of the baselines `places`, by so many
    processes. Its scenarios must not fail without a mutant."""
    from charter.mutate import run

    return run.try_mutants(model, places, made, most, jobs)


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
