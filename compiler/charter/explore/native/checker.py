"""Runs the native engine as a model checker, in threads of this process or as jobs of Spark."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import cast

from charter.cache.files import cache_folder
from charter.core import nodes as n
from charter.explore.model_checker import EngineUnsupported, ExploreOptions, Problem, Progress
from charter.explore.native.liveness.check_liveness import Explored, check_liveness, explore_live
from charter.explore.native.program.compile_instance import Program, Starts, begin_at, program
from charter.explore.native.search.explore import Choices, NativeOptions, explore
from charter.explore.native.search.explore import SearchCounts as Now
from charter.explore.native.search.traces import bare
from charter.explore.native.states.reached import Reached
from charter.explore.native.states.step_pairs import step_pairs as pairs_of
from charter.explore.native.states.walked_pairs import PairWalks, find_walked_pairs
from charter.explore.result import MatchedState, MatchedStates, SearchResult, StepPairs, Symmetry
from charter.semantics.fairness import LivenessResult


def check(problem: Problem, options: ExploreOptions, progress: Progress) -> SearchResult:
    """As `ModelChecker.check`; on Spark, if the options have a session."""
    explored = _explore(problem, options, progress)
    found, seen = _result(problem, options, explored), explored.seen
    del explored  # any further search uses the memory that is left
    if not problem.liveness or found.liveness_skipped_because:
        return found
    return _settle(problem, options, found, seen, progress)


@dataclass(frozen=True, slots=True)
class OpenedInstance:
    """An instance that is compiled once and searched from several states."""

    problem: Problem
    program: Program

    def explore(self, starts: Starts, options: ExploreOptions, progress: Progress) -> SearchResult:
        """As `MachineSearch.explore`."""
        program = begin_at(self.program, starts)
        chosen = replace(native_options(self.problem, options), program=program)
        tell, machine = _reporter(progress), self.problem.machine
        found = explore(machine.model, machine.instance, chosen, lambda now: tell(now, ""))
        return _result(self.problem, options, Explored(found))


def open_instance(problem: Problem, options: ExploreOptions) -> OpenedInstance:
    """Compile an instance for searches with these options. Raises EngineUnsupported."""
    machine, chosen = problem.machine, native_options(problem, options)
    compiled = program(
        machine.model, machine.instance, chosen.choices, chosen.cache, optimized=False
    )
    return OpenedInstance(problem, compiled)


def step_pairs(problem: Problem, options: ExploreOptions, progress: Progress) -> StepPairs:
    """As `ModelChecker.step_pairs`; of an instance that is not searched to its end those that
    random walks see."""
    chosen, tell = native_options(problem, options), _reporter(progress)
    found = pairs_of(problem.model, problem.instance, chosen, tell)
    if found.complete:
        return found
    return find_walked_pairs(
        problem.model, problem.instance, PairWalks(), chosen.cache,
        lambda done, of: progress(0, 0, 0, 0, f"walk {done:,} of {of:,}"),
    )  # fmt: skip


def _explore(problem: Problem, options: ExploreOptions, progress: Progress) -> Explored:
    model, instance, chosen = problem.model, problem.instance, native_options(problem, options)
    tell = _reporter(progress)
    if options.session is None:
        return explore_live(model, instance, chosen, tell)
    # Only here: what reads and writes Parquet takes longer to load than a small search takes.
    from charter.explore.native.search import spark

    session = cast(spark.SparkSession, options.session)
    return Explored(spark.explore(session, model, instance, chosen, lambda now: tell(now, "")))


def _settle(
    problem: Problem,
    options: ExploreOptions,
    found: SearchResult,
    seen: tuple[LivenessResult, ...],
    progress: Progress,
) -> SearchResult:
    """The result of a search with a result for each `eventually`."""
    begun = time.monotonic()
    kept = found.states.search.room.used if isinstance(found.states, Reached) else 0
    chosen = native_options(problem, options)
    if options.memory:
        chosen = replace(chosen, memory=max(1, options.memory - kept))
    try:
        verdicts = check_liveness(
            problem.model, problem.instance, chosen, _reporter(progress), seen
        )
    except EngineUnsupported as reason:
        return replace(found, liveness_skipped_because=str(reason))
    seconds = (found.seconds_liveness or 0.0) + time.monotonic() - begun
    return replace(found, liveness=verdicts, seconds_liveness=seconds)


def _reporter(progress: Progress) -> Callable[[Now, str], None]:
    def tell(now: Now, doing: str) -> None:
        progress(now.distinct, now.generated, now.depth, now.queue, doing)

    return tell


def native_options(problem: Problem, options: ExploreOptions) -> NativeOptions:
    """The options of the native engine."""
    choices = Choices(
        symmetry=options.symmetry,
        fingerprints=options.fingerprints is not None,
        seed=options.fingerprints or 0,
    )
    return NativeOptions(
        choices,
        most_states=options.most_states,
        workers=options.workers or cores(),
        cache=cache_folder("engine") if options.keep_code else None,
        journal=options.journal,
        store=options.store,
        memory=options.memory,
        first=options.first,
        until=options.until,
        on_violation=problem.teller(options.on_violation),
        silent=frozenset(one.witness.name for one in problem.companions),
    )


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _result(problem: Problem, options: ExploreOptions, explored: Explored) -> SearchResult:
    found, on_spark = explored.found, options.session is not None
    reached = None if on_spark else Reached.of(found, problem.predicate, options.mutant)
    quotient = found.search.program.plan.quotient
    return SearchResult(
        engine="spark" if on_spark else "native",
        machine=found.search.program.plan.machine,
        counts=found.counts,
        properties=problem.select_reported(found.properties),
        branches=problem.explain_branches(found.branches),
        failures=problem.select_reported(found.failures),
        conditions=problem.conditions(found.properties),
        symmetry=Symmetry(quotient.sorts, {**quotient.apart}),
        storage=found.storage,
        fingerprints=options.fingerprints,
        stopped=found.stopped,
        journal=found.message,
        liveness_skipped_because=explored.liveness_skipped_because,
        where=_matches(reached, problem.predicate, options.limit),
        states=reached if options.states else None,
        seconds_liveness=explored.seconds if problem.liveness else None,
    )


def _matches(
    reached: Reached | None, predicate: n.Property | None, limit: int
) -> MatchedStates | None:
    """The number of states that match `--where`, and the first ones in the order of the search."""
    if reached is None or predicate is None:
        return None
    first: list[MatchedState] = []
    for number in islice(reached.hits(), limit):
        trace, state = reached.reason(number, predicate)
        first.append(MatchedState(number, state, bare(trace)))
    return MatchedStates(reached.expression, reached.found, reached.undefined, tuple(first))
