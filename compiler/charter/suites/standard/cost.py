"""Estimates what a suite costs before it is made: vectors, operations, and processor time."""

from __future__ import annotations

from dataclasses import dataclass

from charter.analysis.environment import Arguments
from charter.core import nodes as n
from charter.explore.model_checker import CannotExplore, ExploreOptions
from charter.explore.select import explore
from charter.semantics.machine import Machine
from charter.suites.explored import ARRIVALS
from charter.suites.look_alikes import MOST_ACTS, MOST_CASES
from charter.suites.parts import WALKS as WALKS_OF_FULL
from charter.suites.planning.random_walks import LONGEST
from charter.suites.proofs import list_searched
from charter.suites.standard.hunt import STEPS, STEPS_AGAIN, TRIES, WALKS, WALKS_AGAIN
from charter.suites.standard.selected import list_offered
from charter.suites.standard.wanted import Wanted
from charter.suites.subject import Subject
from charter.suites.touring.answering import list_answering
from charter.suites.touring.state_cover import STATES_MAX
from charter.suites.touring.tours import OPERATIONS_MAX

TRIED_SECONDS = 50e-6
"""How long it takes to try an operation in a state of a walk, on a usual processor."""
ANSWERED_SECONDS = 1.5e-3
"""How long it takes to compute the answer for one operation of a vector."""
OF_TRANSITION = 3
"""How many operations of tours there are for a transition: those of Kafka's controller have 1.8 to
2.8. The others lead there."""


@dataclass(frozen=True, slots=True)
class Cost:
    """At most so many vectors with so many operations, and about so many seconds of processor time
    to make them."""

    vectors: int
    operations: int
    seconds: float


def estimate_cost(about: Subject, profile: str, instance: str = "") -> Cost:
    """What a suite of a profile costs. The transitions for a full one are counted by a search. How
    many operations its tours have nobody knows before: `OF_TRANSITION` for each."""
    asked = [one for one in about.found.asked if instance in ("", one.instance)]
    vectors = len(asked) + len(about.model.scenarios)
    operations = sum(len(one.question.operations) for one in asked)
    tried, name = 0, about.component.name
    chosen = list_offered(about, instance)
    if profile == "cover" and list_answering(about.component):
        searched = [one for one in list_searched(about.model, name) if one in chosen]
        explored = [_count_covered(about, one) for one in searched]
        several, calls = min((one for one in explored if one[0]), default=(0, 0))
        vectors += several
        operations += calls
    if profile == "standard":
        wanted = Wanted.of(about.model, about.component)
        vectors += len(wanted.triples) + len(wanted.variables)
        operations += STEPS * len(wanted.triples) + STEPS_AGAIN * len(wanted.variables)
        steps = WALKS * STEPS + WALKS_AGAIN * STEPS_AGAIN
        tried = len(chosen) * steps * TRIES * len(about.component.operations)
    if profile == "full":
        for one in list_searched(about.model, name):
            if one in chosen:
                several, calls = _count_explored(about, one)
                vectors += several
                operations += calls
        vectors += WALKS_OF_FULL * len(chosen)
        operations += LONGEST * WALKS_OF_FULL * len(chosen)
    return Cost(vectors, operations, tried * TRIED_SECONDS + operations * ANSWERED_SECONDS)


def _count_explored(about: Subject, instance: n.Instance) -> tuple[int, int]:
    """The vectors of an explored instance, and their operations: tours, paths, ways into states,
    witnesses."""
    if instance.name in about.found.left_out:
        return 0, 0
    try:
        found = explore(about.model, instance, ExploreOptions(), _ignore)
    except CannotExplore:
        return 0, 0
    counts, branches = found.counts, len(found.branches)
    followed = counts.generated <= MOST_CASES
    ways = min(ARRIVALS, branches * counts.generated) if followed else 0
    seen = 3 * branches + len(found.properties)
    asked = OF_TRANSITION * counts.generated
    calls = asked + (counts.distinct + ways + seen) * (len(counts.levels) + MOST_ACTS)
    tours = min(counts.generated, asked // OPERATIONS_MAX + counts.distinct)
    return tours + counts.distinct + ways + seen, calls


def _count_covered(about: Subject, instance: n.Instance) -> tuple[int, int]:
    """The most vectors and operations of the state cover of an instance; (0, 0) if it has none."""
    try:
        found = explore(about.model, instance, ExploreOptions(most_states=STATES_MAX), _ignore)
    except CannotExplore:
        return 0, 0
    if not found.complete:
        return 0, 0
    machine = Machine.of(about.model, instance)
    arguments = Arguments.at(machine, machine.initial())
    names = list_answering(about.component)
    calls = sum(len(arguments.of(machine.operations[name].params)) for name in names)
    counts = found.counts
    return counts.distinct, counts.distinct * (len(counts.levels) + calls)


def _ignore(distinct: int, generated: int, level: int, queue: int, doing: str = "", /) -> None:
    """Tells no progress."""
