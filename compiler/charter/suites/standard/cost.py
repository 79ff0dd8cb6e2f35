"""Estimates what a suite costs before it is made: vectors, operations, and processor time."""

from __future__ import annotations

from dataclasses import dataclass

from charter.core import nodes as n
from charter.explore.model_checker import CannotExplore, ExploreOptions
from charter.explore.select import explore
from charter.suites.explored import ARRIVALS
from charter.suites.look_alikes import MOST_ACTS
from charter.suites.parts import WALKS as WALKS_OF_FULL
from charter.suites.planning.random_walks import LONGEST
from charter.suites.proofs import list_searched
from charter.suites.standard.hunt import STEPS, STEPS_AGAIN, TRIES, WALKS, WALKS_AGAIN
from charter.suites.standard.selected import list_offered
from charter.suites.standard.wanted import Wanted
from charter.suites.subject import Subject

TRIED_SECONDS = 50e-6
"""How long it takes to try an operation in a state of a walk, on a usual processor."""
ANSWERED_SECONDS = 1.5e-3
"""How long it takes to compute the answer for one operation of a vector."""


@dataclass(frozen=True, slots=True)
class Cost:
    """At most so many vectors with so many operations, and about so many seconds of processor time
    to make them."""

    vectors: int
    operations: int
    seconds: float


def estimate_cost(about: Subject, profile: str, instance: str = "") -> Cost:
    """What a suite of a profile costs. The transitions for a full one are counted by a search."""
    asked = [one for one in about.found.asked if instance in ("", one.instance)]
    vectors = len(asked) + len(about.model.scenarios)
    operations = sum(len(one.question.operations) for one in asked)
    tried = 0
    chosen = list_offered(about, instance)
    if profile == "standard":
        wanted = Wanted.of(about.model, about.component)
        vectors += len(wanted.triples) + len(wanted.variables)
        operations += STEPS * len(wanted.triples) + STEPS_AGAIN * len(wanted.variables)
        steps = WALKS * STEPS + WALKS_AGAIN * STEPS_AGAIN
        tried = len(chosen) * steps * TRIES * len(about.component.operations)
    if profile == "full":
        for one in list_searched(about.model, about.component.name):
            if one in chosen:
                several, longest = _count_explored(about, one)
                vectors += several
                operations += several * longest
        vectors += WALKS_OF_FULL * len(chosen)
        operations += LONGEST * WALKS_OF_FULL * len(chosen)
    return Cost(vectors, operations, tried * TRIED_SECONDS + operations * ANSWERED_SECONDS)


def _count_explored(about: Subject, instance: n.Instance) -> tuple[int, int]:
    """The most vectors of an explored instance, and the most operations of each: transitions,
    paths, ways into states, witnesses."""
    if instance.name in about.found.left_out:
        return 0, 0
    try:
        found = explore(about.model, instance, ExploreOptions(), _ignore)
    except CannotExplore:
        return 0, 0
    counts, branches = found.counts, len(found.branches)
    ways = min(ARRIVALS, branches * counts.generated)
    seen = 3 * branches + len(found.properties)
    return counts.generated + counts.distinct + ways + seen, len(counts.levels) + MOST_ACTS


def _ignore(distinct: int, generated: int, level: int, queue: int, doing: str = "", /) -> None:
    """Tells no progress."""
