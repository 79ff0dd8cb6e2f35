"""Makes a full suite in several processes, each for some of the instances, and merges the
results."""

from __future__ import annotations

import heapq
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from charter.core import nodes as n
from charter.diagnostics import Source
from charter.formats.vector import Vector
from charter.passes.narrow import narrowed
from charter.project import pipeline
from charter.project.sources import Selection
from charter.suites.explored import ExploredInstance
from charter.suites.instance_planner import InstancePlanner
from charter.suites.record import VectorRecord, merged, packed, unpacked
from charter.suites.walks import Walks
from charter.vectors.plan import OPEN

TINY = "tiny"
"""The start of the names of instances that are small enough for a search."""

WALKS = 2_000
"""Random walks in each instance."""

Progress = Callable[[str, int, int], None]
"""Called with the last task's name, the number of finished tasks, and the number of all."""

__all__ = ["OPEN", "Built", "Progress", "Task", "build_full"]


@dataclass(frozen=True, slots=True)
class Task:
    """One instance for one process, as plain data: the charter's text and names. `kind` is
    `explored` or `walks`; the records go to `place`, in the order of their ids."""

    sources: tuple[Source, ...]
    variant: str
    component: str
    instance: str
    kind: str
    place: str


@dataclass(frozen=True, slots=True)
class Done:
    """The result that a task wrote to its file."""

    task: Task
    vectors: int
    states: int
    pairs: frozenset[int]
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Built:
    """The records of a suite, in sorted files, and counts."""

    files: tuple[Path, ...]
    counts: Mapping[str, int]
    refused: Mapping[str, int] = field(default_factory=dict)

    def records(self) -> Iterator[VectorRecord]:
        """All records in the order of their ids, one for each question."""
        with ExitStack() as stack:
            streams = [_read(stack, path) for path in self.files]
            yield from merged(heapq.merge(*streams, key=lambda record: record.id))


def _read(stack: ExitStack, path: Path) -> Iterator[VectorRecord]:
    file = stack.enter_context(path.open(encoding="utf-8", newline="\n"))
    return (unpacked(line) for line in file)


def run_task(task: Task) -> Done:
    """Make the vectors of one task. Runs in a process of its own."""
    whole = pipeline.compile_sources(task.sources, Selection(variant=task.variant))
    model = narrowed(whole, task.component)
    instance = next(i for i in model.instances if i.name == task.instance)
    if task.kind == "explored":
        explored = ExploredInstance.of(model, instance)
        streams: tuple[Iterable[Vector], ...] = (
            explored.loaded(),
            explored.witnesses(),
            explored.paths(),
        )
        records = [VectorRecord.of(vector) for stream in streams for vector in stream]
        pairs, engines = explored.pairs, [explored.engine, explored.opened]
        states = len(explored.graph.states)
    else:
        walks = Walks.of(model, instance)
        records = [VectorRecord.of(vector) for vector in walks.vectors(WALKS)]
        pairs, engines, states = walks.pairs, [walks.engine], 0
    return Done(task, write(records, Path(task.place)), states, frozenset(pairs), _refused(engines))


def write(records: list[VectorRecord], place: Path) -> int:
    """Write records in the order of their ids; returns their number."""
    records.sort(key=lambda record: record.id)
    with place.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(packed(record) for record in records)
    return len(records)


def _refused(engines: Iterable[InstancePlanner]) -> dict[str, int]:
    found: dict[str, int] = {}
    for engine in engines:
        for reason, count in engine.planner.refused.items():
            found[reason] = found.get(reason, 0) + count
    return found


def tasks(model: n.Model, component: str, sources: tuple[Source, ...], folder: Path) -> list[Task]:
    """The tasks of a component: the instances that are searched, and walks in all."""
    found: list[Task] = []
    mine = [i for i in model.instances if i.machine == component]
    for kind in ("explored", "walks"):
        for instance in mine:
            if kind == "walks" or instance.name.startswith(TINY):
                place = str(folder / f"{kind}-{instance.name}")
                found.append(Task(sources, model.variant, component, instance.name, kind, place))
    return found


def build_full(
    model: n.Model,
    component: str,
    sources: tuple[Source, ...],
    folder: Path,
    progress: Progress,
) -> Built:
    """The exploration and the walks of a component, by two processes; files go to `folder`."""
    todo = tasks(model, component, sources, folder)
    done: list[Done] = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(2, multiprocessing.cpu_count())) as pool:
        for result in pool.imap_unordered(run_task, todo):
            done.append(result)
            progress(f"{result.task.kind} {result.task.instance}", len(done), len(todo))
    pairs: set[int] = set().union(*(d.pairs for d in done))
    refused: dict[str, int] = {}
    for result in done:
        for reason, count in result.refused.items():
            refused[reason] = refused.get(reason, 0) + count
    counts = {
        "states": sum(d.states for d in done),
        "state_branch_pairs": len(pairs),
        "refused": sum(refused.values()),
    }
    return Built(tuple(Path(task.place) for task in todo), counts, refused)
