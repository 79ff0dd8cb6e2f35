"""Entry point of the native engine: explores an instance; counts, verdicts, traces."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from charter.core import nodes as n
from charter.core.transition import is_of_transition
from charter.explore.native.index import OtherSearch
from charter.explore.native.journal import Journal
from charter.explore.native.layout import Unsupported
from charter.explore.native.memory import NoRoom, Room, default_budget
from charter.explore.native.program import Choices, program
from charter.explore.native.search import GaveUp, Note, Progress, Search
from charter.explore.native.traces import Graph, Step, Teller, Traces
from charter.semantics.faults import refuse_faults

DEFAULT = Choices()


@dataclass(frozen=True, slots=True)
class Options:
    """`most_states`: where to give up (0: never); `cache`: the folder of compiled code (None:
    compile anew); `journal`: where to write the search down; `memory`: bytes to use before files
    (0: most of what is free); `untold`: the names of witnesses whose traces nobody asks for."""

    choices: Choices = DEFAULT
    most_states: int = 0
    workers: int = 1
    cache: Path | None = None
    journal: Path | None = None
    memory: int = 0
    untold: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Finding:
    """What the search says of a property, a witness, a branch or a failure: how often it was seen
    (violated, found, taken), and the shortest trace there (None for branches)."""

    name: str
    kind: str
    seen: int
    trace: tuple[Step, ...] | None
    detail: str = ""


class Ended(Graph, Protocol):
    """A search that has ended, on whatever engine."""

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
    def taken(self) -> tuple[int, ...]: ...
    def note(self, number: int) -> Note: ...


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result. `generated` counts transitions (of a component: one for each outcome of each
    argument list), `outside` those that leave the instance; `levels` are the numbers of new states
    at each distance from the initial one; `bits` is the width of a packed state. `stopped` says why
    there was no more room, `spilled` how many bytes went to files when memory was used up,
    `bytes_each` what a state takes of both, `message` what of the journal could not be used ("" for
    neither).
    `lossy` is a bound on the chance that two states were taken for one (0 where keys are
    compared)."""

    search: Ended
    distinct: int
    generated: int
    outside: int
    levels: tuple[int, ...]
    complete: bool
    stopped: str
    spilled: int
    bytes_each: int
    message: str
    bits: int
    lossy: float
    properties: tuple[Finding, ...]
    branches: tuple[Finding, ...]
    failures: tuple[Finding, ...]

    @property
    def fine(self) -> bool:
        """Whether the search is complete and found no violated property and no failure."""
        broken = any(f.seen for f in self.properties if f.kind != "witness")
        return self.complete and not broken and not self.failures


def explore(
    model: n.Model,
    instance: n.Instance,
    options: Options = Options(),
    on_progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Search `instance` exhaustively.

    Raises Unsupported or GaveUp where the charter is beyond the engine, OtherSearch, NoRoom where
    not even a first state has any, KeyError if the instance is of no machine of the model,
    ValueError for a model with faults."""
    refuse_faults(model)
    compiled = program(model, instance, options.choices, options.cache)
    journal, message = None, ""
    width = 8 * compiled.plan.context.width
    if options.journal is not None:
        journal = Journal(options.journal, compiled.digest, width)
        message = journal.open()
    with tempfile.TemporaryDirectory(prefix="charter-") as folder:
        room = Room(options.memory or default_budget(), options.journal or Path(folder))
        search = Search(compiled, room, options.workers, options.most_states, journal)
        search.run(on_progress)
        return result_of(search, message, options.untold)


def result_of(search: Ended, message: str, untold: frozenset[str] = frozenset()) -> Exploration:
    """What a search has found, with traces but to witnesses that are `untold`."""
    plan = search.program.plan
    traces = Traces(search, Teller(search.program))
    named = {p.name: p for p in plan.machine.model.properties}
    properties: list[Finding] = []
    failures: list[Finding] = []
    for number, (kind, name) in enumerate(plan.noted):
        note = search.note(number)
        if kind == "deadlock":
            if note.count:
                trace = traces.to_state(note.source)
                failures.append(Finding(name, kind, note.count, trace))
        elif kind == "undefined":
            if note.count and name in named:
                trace, detail = traces.unevaluated(named[name], note)
                failures.append(Finding(name, kind, note.count, trace, detail))
            elif note.count:
                trace, detail = traces.undefined(name, note)
                failures.append(Finding(name, kind, note.count, trace, detail))
        else:
            prop = named[name]
            moving = is_of_transition(prop)
            wanted = note.count and name not in untold
            found = traces.violated(prop, note, moving) if wanted else None
            properties.append(Finding(name, kind, note.count, found))
    branches = [
        Finding(label, "branch", count, None)
        for label, count in zip(plan.labels, search.taken(), strict=True)
    ]
    levels = list(search.levels)
    if (begun := search.distinct - sum(levels)) > 0:
        levels.append(begun)
    return Exploration(
        search=search,
        distinct=search.distinct,
        generated=search.generated,
        outside=search.outside,
        levels=tuple(levels),
        complete=search.complete,
        stopped=search.stopped,
        spilled=search.spilled,
        bytes_each=search.bytes_each,
        message=message,
        bits=plan.packing.used,
        lossy=_collision(search.distinct) if plan.context.memory == "fingerprints" else 0.0,
        properties=tuple(properties),
        branches=tuple(branches),
        failures=tuple(failures),
    )


def _collision(distinct: int) -> float:
    """A bound on the chance that two of so many states have one hash of 64 bits: their pairs, times
    the chance of one pair. States that were lost are not counted; while the bound is small they
    hardly change it."""
    return min(1.0, distinct * (distinct - 1) / 2 / 2.0**64)


__all__ = [
    "Choices", "Exploration", "Finding", "GaveUp", "NoRoom", "Options", "OtherSearch", "Progress",
    "Unsupported", "explore",
]  # fmt: skip
