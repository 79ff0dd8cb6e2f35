"""Chooses the engine: the native one if it supports the instance and llvmlite is installed, else
the reference engine, with the reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal

from charter.cache.files import cache_folder
from charter.core import nodes as n
from charter.explore.model_checker import (
    CannotExplore,
    EngineUnsupported,
    ExploreOptions,
    MachineSearch,
    ModelChecker,
    Problem,
    Progress,
)
from charter.explore.outcome_difference import ReachedStates
from charter.explore.result import SearchResult, StepPairs
from charter.explore.successors import Defined, StateGraph, Successors

MOST_BY_REFERENCE = 300_000
"""The default number of states up to which the reference engine checks liveness in place of the
native one."""

Option = Literal["--fingerprints", "--where", "--keep"]


def explore(
    model: n.Model, instance: n.Instance, options: ExploreOptions, progress: Progress
) -> SearchResult:
    """Search an instance with the chosen engine. Raises CannotExplore."""
    begun = time.monotonic()
    problem = Problem.of(model, instance)
    only_native = _only_native(problem, options)
    if options.engine in ("reference", "spark") and only_native:
        raise CannotExplore(
            f"the {options.engine} engine cannot do it: {only_native} needs the native one"
        )
    if options.engine == "reference" and options.journal is not None:
        raise CannotExplore("the reference engine cannot do it: --journal needs the native one")
    found = _search(problem, options, only_native, progress)
    if found.liveness_skipped_because:
        found = _with_liveness(found, problem, options, progress)
    return replace(found, seconds=time.monotonic() - begun)


@dataclass(frozen=True, slots=True)
class OpenedSearch:
    """An instance to be searched from several states: by the native engine, which compiles it once
    (None: it does not support it), or else by the reference engine."""

    model: n.Model
    instance: n.Instance
    compiled: MachineSearch | None

    def explore(
        self, starts: Sequence[tuple[str, n.Expr]], options: ExploreOptions, progress: Progress
    ) -> SearchResult:
        """As `MachineSearch.explore`. Raises CannotExplore."""
        if self.compiled is not None:
            with suppress(EngineUnsupported):
                return self.compiled.explore(starts, options, progress)
        begun = replace(self.instance, starts=tuple(starts))
        return explore(self.model, begun, options, progress)


def open_search(model: n.Model, instance: n.Instance, options: ExploreOptions) -> OpenedSearch:
    """An instance to be searched from several states, without liveness; `options` are those that
    all searches have in common."""
    bare = replace(model, liveness=())
    try:
        with _loading_native():
            from charter.explore.native.checker import open_instance
        compiled = open_instance(Problem.of(bare, instance), options)
    except EngineUnsupported:
        return OpenedSearch(bare, instance, None)
    return OpenedSearch(bare, instance, compiled)


def _search(
    problem: Problem, options: ExploreOptions, only_native: Option | None, progress: Progress
) -> SearchResult:
    if options.engine == "reference":
        return _reference().check(problem, options, progress)
    try:
        return _native().check(problem, options, progress)
    except EngineUnsupported as reason:
        if options.engine in ("native", "spark") or only_native:
            other = f"{only_native} needs it" if only_native else "--engine reference can, slowly"
            raise CannotExplore(
                f"the native engine cannot explore {problem.instance.name}: {reason}; {other}"
            ) from None
        found = _reference().check(problem, options, _with_reason(progress, str(reason)))
        kept = options.journal
        journal = "" if kept is None else f"nothing is kept in {kept}: only the native engine can"
        return replace(found, why_reference=str(reason), journal=journal)


def _with_reason(progress: Progress, reason: str) -> Progress:
    """Progress that says from the beginning why the reference engine searches."""
    told = f"on the reference engine, since {reason}"

    def tell(distinct: int, generated: int, level: int, queue: int, doing: str = "", /) -> None:
        progress(distinct, generated, level, queue, doing or told)

    tell(0, 0, 0, 0)
    return tell


def step_pairs(
    model: n.Model, instance: n.Instance, options: ExploreOptions, progress: Progress
) -> StepPairs:
    """The pairs of steps that follow each other in an instance, whatever `options.engine` says.
    Raises CannotExplore."""
    problem = Problem.of(replace(model, properties=(), liveness=()), instance)
    try:
        return _native().step_pairs(problem, options, progress)
    except EngineUnsupported as reason:
        return _reference().step_pairs(problem, options, _with_reason(progress, str(reason)))


def _only_native(problem: Problem, options: ExploreOptions) -> Option | None:
    """The option that only the native engine supports, if there is one."""
    if options.fingerprints is not None:
        return "--fingerprints"
    if problem.predicate is not None:
        return "--where"
    return "--keep" if options.states else None


def _with_liveness(
    found: SearchResult, problem: Problem, options: ExploreOptions, progress: Progress
) -> SearchResult:
    """The result of a search whose engine could not check liveness, completed by the reference
    engine."""
    if options.engine == "native":
        raise CannotExplore(
            f"the native engine cannot check `eventually` in {problem.instance.name}: "
            f"{found.liveness_skipped_because}; --engine reference can, slowly"
        )
    from charter.explore.reference.checker import liveness_of

    begun = time.monotonic()
    limited = replace(options, most_states=options.most_states or MOST_BY_REFERENCE)
    return replace(
        found,
        liveness=liveness_of(problem, limited, progress),
        why_reference=f"for `eventually`, {found.liveness_skipped_because}",
        seconds_liveness=time.monotonic() - begun,
    )


@contextmanager
def _loading_native() -> Iterator[None]:
    """A context for imports of the native engine. Raises EngineUnsupported if llvmlite is not
    installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "llvmlite":
            raise
        raise EngineUnsupported("llvmlite is not installed") from None


def _reference() -> ModelChecker:
    """The reference engine, imported lazily: most searches do not need it."""
    from charter.explore.reference import checker

    return checker


def _native() -> ModelChecker:
    with _loading_native():
        from charter.explore.native import checker
    return checker


# --- single states -------------------------------------------------------------------------------


def successors(model: n.Model, instance: n.Instance) -> Successors:
    """The successor function of an instance."""
    try:
        with _loading_native():
            from charter.explore.native.program.compiled import CompiledMachine
        return CompiledMachine.of(model, instance, cache_folder("engine"))
    except EngineUnsupported:
        return Defined.of(model, instance)


def list_reached_states(
    model: n.Model, instance: n.Instance, most_states: int, watch: Callable[..., None]
) -> ReachedStates | None:
    """All states of an instance, to compare changed machines with; None if there are more than
    `most_states`. `watch` is called now and then, and may raise. Only the native engine can: raises
    EngineUnsupported or CannotExplore."""
    with _loading_native():
        from charter.explore.native.difference import CompiledStates
    return CompiledStates.of(model, instance, most_states, watch)


class TooManyStates(Exception):
    """An instance has more states than were to be searched; `searched` is how many were."""

    def __init__(self, searched: int) -> None:
        super().__init__(f"more than {searched:,} states")
        self.searched = searched


def state_graph(
    model: n.Model,
    instance: n.Instance,
    most_states: int = 0,
    tell: Callable[[int], None] = lambda _: None,
) -> StateGraph:
    """All states of an instance of a component; `tell` is called now and then with their number so
    far. Raises TooManyStates if there are more than `most_states` (0: any number)."""
    graph: StateGraph
    try:
        with _loading_native():
            from charter.explore.native.states.graph import CompiledGraph
        graph = CompiledGraph.of(model, instance, most_states, tell)
    except EngineUnsupported:
        from charter.explore.reference.graph import DefinedGraph

        graph = DefinedGraph.of(model, instance, most_states, tell)
    if most_states and not graph.found.counts.complete:  # at the bound, or out of memory
        raise TooManyStates(min(graph.found.counts.distinct, most_states))
    return graph
