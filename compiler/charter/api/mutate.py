"""Systematic mutation: which mutants a model has, and what sees each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from charter.core import nodes as n
from charter.formats.canonical import Json

if TYPE_CHECKING:
    from charter.mutate.mutants import MadeMutant
    from charter.mutate.results import MutantVerdict
    from charter.mutate.run import WantedMutants
    from charter.mutate.trial import Limits

__all__ = [
    "MadeMutant", "MutantVerdict", "limits", "mutant_json", "mutants_of", "try_mutants", "wanted",
]  # fmt: skip


def wanted(machine: str, rule: str, limit: int, seed: int) -> WantedMutants:
    """Which mutants are tried: patterns of machine and rule, and how many (0: all)."""
    from charter.mutate.run import WantedMutants

    return WantedMutants(machine, rule, limit, seed)


def limits(states: int, seconds: float) -> Limits:
    """How much is searched for one mutant in one instance."""
    from charter.mutate.trial import Limits

    return Limits(states, seconds)


def mutants_of(model: n.Model, of: WantedMutants) -> tuple[MadeMutant, ...]:
    """The mutants of a model that are wanted, in the order of the charter."""
    from charter.mutate import run

    return run.chosen(model, of)


def try_mutants(
    model: n.Model, made: Sequence[MadeMutant], most: Limits, jobs: int, tell: Callable[[str], None]
) -> Iterator[MutantVerdict]:
    """The verdict on each mutant, in order, by so many processes. `tell` is called with the name of
    each instance that is searched without a mutant first."""
    from charter.mutate import run

    return run.tried(model, made, most, jobs, tell)


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
    }
