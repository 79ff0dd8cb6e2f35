"""Searches an instance with the native engine; returns counts, results and traces."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Protocol

from charter.analysis.known_faults import refuse_faults
from charter.core import nodes as n
from charter.core.transition import is_of_transition
from charter.explore.model_checker import CannotExplore
from charter.explore.native.memory.arrays import NoRoom, Room, default_budget
from charter.explore.native.program.compile_instance import Choices, Program, program
from charter.explore.native.search.journal import Journal
from charter.explore.native.search.levels import Note, Search, SearchCounts
from charter.explore.native.search.traces import Teller, Traces, TraceSource, bare
from charter.explore.native.search.violations import watch
from charter.explore.result import CheckResult, Counts, FirstViolation, SearchFindings, Storage

DEFAULT = Choices()


@dataclass(frozen=True, slots=True)
class NativeOptions:
    """`most_states`: where to stop (0: never); `cache`: the folder of compiled code (None: no
    cache); `journal`: the folder of the journal; `store`: its URI, on Spark; `memory`: bytes to
    use before files (0: most of the free memory); `silent`: the names of witnesses whose traces
    are not needed; `optimized`: the code is optimized from the start, not only once the search
    turns out to be long; `first`: stop at the end of the level in which something is
    wrong, `until`: in which this property is violated; `on_violation`: called when a property turns
    out to be violated. `program`: the compiled code, if there is some: that of the instance, or of
    one that begins in another state."""

    choices: Choices = DEFAULT
    _: KW_ONLY
    most_states: int = 0
    workers: int = 1
    cache: Path | None = None
    journal: Path | None = None
    store: str = ""
    memory: int = 0
    silent: frozenset[str] = frozenset()
    optimized: bool = False
    first: bool = False
    until: str = ""
    on_violation: Callable[[FirstViolation], None] | None = None
    program: Program | None = None


class Ended(TraceSource, Protocol):
    """The interface of a finished search, in threads or on Spark."""

    @property
    def distinct(self) -> int: ...
    @property
    def generated(self) -> int: ...
    @property
    def outside(self) -> int: ...
    @property
    def levels(self) -> Sequence[int]: ...
    @property
    def complete(self) -> bool: ...
    @property
    def stopped(self) -> str: ...
    @property
    def spilled(self) -> int: ...
    @property
    def bytes_each(self) -> int: ...
    def count_taken(self) -> tuple[int, ...]: ...
    def note(self, number: int) -> Note: ...


@dataclass(frozen=True, slots=True)
class Exploration(SearchFindings):
    """The result of a native search, and the search itself. `stopped`: why it ran out of memory;
    `message`: what of the journal could not be used ("" if not applicable)."""

    search: Ended
    storage: Storage
    stopped: str
    message: str


def explore(
    model: n.Model,
    instance: n.Instance,
    options: NativeOptions = NativeOptions(),
    on_progress: Callable[[SearchCounts], None] | None = None,
) -> Exploration:
    """Search `instance` exhaustively.

    Raises EngineUnsupported if the engine does not support the charter, CannotExplore if the folder
    has another search or there is no memory for the first state, KeyError if the instance is of no
    machine of the model, ValueError for a model with faults."""
    with run_search(model, instance, options, on_progress) as (search, message):
        return result_of(search, message, options.silent)


@contextmanager
def run_search(
    model: n.Model,
    instance: n.Instance,
    options: NativeOptions,
    on_progress: Callable[[SearchCounts], None] | None = None,
) -> Iterator[tuple[Search, str]]:
    """A context with a finished search, and what of its journal could not be used; its temporary
    files are deleted at the end. Raises as `explore` does."""
    refuse_faults(model)
    compiled = options.program or program(
        model, instance, options.choices, options.cache, optimized=options.optimized
    )
    journal, message = None, ""
    width = 8 * compiled.plan.context.width
    if options.journal is not None:
        journal = Journal(options.journal, compiled.digest, width)
        message = journal.open()
    with tempfile.TemporaryDirectory(prefix="charter-") as folder:
        try:
            room = Room(options.memory or default_budget(), options.journal or Path(folder))
            search = Search(compiled, room, options.workers, options.most_states, journal)
            search.first, search.until = options.first, options.until
            search.run(watch(search, on_progress, options.on_violation))
            yield search, message
        except NoRoom as reason:
            raise CannotExplore(f"{instance.name} has no room for a search: {reason}") from None


def result_of(search: Ended, message: str, silent: frozenset[str] = frozenset()) -> Exploration:
    """The result of a search, with traces except for the witnesses in `silent`."""
    plan = search.program.plan
    traces = Traces(search, Teller(search.program))
    named = {p.name: p for p in plan.machine.model.properties}
    properties: list[CheckResult] = []
    failures: list[CheckResult] = []
    cut = 0
    for number, (kind, name) in enumerate(plan.noted):
        note = search.note(number)
        if kind in ("deadlock", "undefined"):
            if note.count:
                failures.append(_failure((kind, name), note, traces, named.get(name)))
            continue
        if kind == "cut":
            cut = note.count
        if kind in ("cut", "predicate"):
            continue
        prop = named[name]
        wanted = note.count and name not in silent
        found = traces.trace_violation(prop, note, is_of_transition(prop)) if wanted else None
        properties.append(
            CheckResult(prop.kind, name, note.count, None if found is None else bare(found))
        )
    branches = [
        CheckResult("branch", label, count)
        for label, count in zip(plan.labels, search.count_taken(), strict=True)
    ]
    levels = list(search.levels)
    if (begun := search.distinct - sum(levels)) > 0:
        levels.append(begun)
    hashed = plan.context.memory == "fingerprints"
    return Exploration(
        search=search,
        counts=Counts(
            search.distinct, search.generated, search.outside, tuple(levels), search.complete, cut
        ),
        storage=Storage(
            bits=plan.packing.used,
            lossy=_collision(search.distinct) if hashed else 0.0,
            spilled=search.spilled,
            bytes_each=search.bytes_each,
        ),
        stopped=search.stopped,
        message=message,
        properties=tuple(properties),
        branches=tuple(branches),
        failures=tuple(failures),
    )


def _failure(
    what: tuple[str, str], note: Note, traces: Traces, prop: n.Property | None
) -> CheckResult:
    """A deadlock, or an undefined value in a property or an operation."""
    kind, name = what
    if kind == "deadlock":
        return CheckResult("deadlock", name, note.count, bare(traces.to_state(note.source)))
    found = (
        traces.trace_undefined(name, note) if prop is None else traces.trace_unevaluated(prop, note)
    )
    return CheckResult("undefined", name, note.count, bare(found[0]), found[1])


def _collision(distinct: int) -> float:
    """An upper bound of the probability that two of so many states have equal hashes of 64 bits:
    the number of pairs times the probability for one pair. States lost by collisions are not
    counted; if the bound is small they hardly matter."""
    return min(1.0, distinct * (distinct - 1) / 2 / 2.0**64)


__all__ = [
    "Choices",
    "Exploration",
    "NativeOptions",
    "SearchCounts",
    "explore",
]  # fmt: skip
