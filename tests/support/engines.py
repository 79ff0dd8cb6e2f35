"""Results of the native engine and of the reference engine on the same instance."""

from __future__ import annotations

from pathlib import Path

from tests.support import spec

from charter.cache.files import cache_folder
from charter.core import nodes as n
from charter.explore.native.search.explore import Choices, NativeOptions
from charter.explore.native.search.explore import Exploration as Native
from charter.explore.native.search.explore import explore as explore_natively
from charter.explore.reference.search import ReferenceExploration as Reference
from charter.explore.reference.search import ReferenceOptions
from charter.explore.reference.search import explore as explore_by_definition
from charter.explore.result import Counts
from charter.passes import for_search

Verdicts = dict[tuple[str, str], tuple[int, int | None]]


def natively(
    model: n.Model,
    instance: n.Instance,
    *,
    symmetry: bool = True,
    most_states: int = 0,
    optimized: bool = False,
) -> Native:
    """The result of the native engine; its code is kept in the user's cache."""
    options = NativeOptions(
        Choices(symmetry=symmetry),
        most_states=most_states,
        cache=cache_folder("engine"),
        optimized=optimized,
    )
    return explore_natively(model, instance, options)


def counts(found: Native | Reference) -> Counts:
    """Distinct states, transitions, those that leave the instance, and the levels."""
    return found.counts


def verdicts(found: Native | Reference) -> Verdicts:
    """For each property, branch and failure how often it occurred and, except for branches, the
    length of the shortest trace."""
    every = (*found.properties, *found.branches, *found.failures)
    return {
        (f.kind, f.name): (
            f.seen,
            None if f.kind == "branch" or f.trace is None else len(f.trace),
        )
        for f in every
    }


def both(
    model: n.Model, instance: n.Instance, *, symmetry: bool = True, cache: Path | None = None
) -> tuple[Native, Reference]:
    """The results of both engines, including the companions of properties."""
    model = for_search(model, instance.machine)
    options = NativeOptions(Choices(symmetry=symmetry), cache=cache or cache_folder("engine"))
    return (
        explore_natively(model, instance, options),
        explore_by_definition(model, instance, ReferenceOptions(symmetry=symmetry)),
    )


def both_of(charter: str, name: str, *, symmetry: bool = True) -> tuple[Native, Reference]:
    """The same for an instance of a charter in spec/."""
    return both(spec.model(charter), spec.instance(charter, name), symmetry=symmetry)
