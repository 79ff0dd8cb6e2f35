"""Makes a full suite in several processes, each for some of its parts, and merges the results."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from charter.core import nodes as n
from charter.explore.workers import as_finished
from charter.suites.parts import InstanceVectors, Task, make_part, read_kept
from charter.suites.proofs import list_searched
from charter.suites.vector_texts import VectorRecord, merge

Progress = Callable[[str, int, int], None]
"""Called with the last task's name, the number of finished tasks, and the number of all."""


@dataclass(frozen=True, slots=True)
class Built:
    """The parts of a suite, and counts."""

    parts: tuple[InstanceVectors, ...]
    counts: Mapping[str, int]
    refused: Mapping[str, int] = field(default_factory=dict)

    def records(self) -> Iterator[VectorRecord]:
        """All records in the order of their ids, one for each question."""
        streams = [part.records() for part in self.parts]
        return merge(heapq.merge(*streams, key=lambda record: record.id))


@dataclass(frozen=True, slots=True)
class WantedParts:
    """What a full suite is made of: the instances of a component; those in `left_out` are not
    explored, as they have too many states. `only` is one of them ("": all)."""

    model: n.Model
    component: str
    left_out: Collection[str] = ()
    only: str = ""


def tasks(wanted: WantedParts, folder: Path) -> list[Task]:
    """The tasks of a component: the instances that are searched, and walks in all."""
    model, component = wanted.model, wanted.component
    mine = [i for i in model.instances if i.machine == component and wanted.only in ("", i.name)]
    explored = [
        i for i in list_searched(model, component) if i in mine and i.name not in wanted.left_out
    ]
    return [
        *(Task.of(model, instance, "explored", folder) for instance in explored),
        *(Task.of(model, instance, "walks", folder) for instance in mine),
    ]


def build_full(wanted: WantedParts, folder: Path, progress: Progress) -> Built:
    """The exploration and the walks of a component, by two processes; files go to `folder`. Parts
    that the cache has are not made again."""
    todo = tasks(wanted, folder)
    parts: dict[Task, InstanceVectors] = {}

    def finish(task: Task, part: InstanceVectors) -> None:
        parts[task] = part
        progress(f"{task.kind} {task.instance}", len(parts), len(todo))

    for task in todo:
        part = read_kept(task)
        if part is not None:
            finish(task, part)
    for task, part in _make_parts([task for task in todo if task not in parts]):
        finish(task, part)
    return _build([parts[task] for task in todo])


def build_tours(task: Task, progress: Progress) -> Built:
    """The tours of one instance, by this process. Raises TooManyStates."""
    progress(f"{task.instance}", 0, 1)
    part = read_kept(task) or make_part(
        task, lambda how_far: progress(f"{task.instance}: {how_far}", 0, 1)
    )
    progress(f"{task.instance}", 1, 1)
    return _build([part])


def _make_parts(todo: list[Task]) -> Iterator[tuple[Task, InstanceVectors]]:
    """The parts of tasks, in the order in which two processes finish them."""
    if not todo:
        return
    for number, part in as_finished(make_part, todo, min(2, os.cpu_count() or 1), spawn=True):
        yield todo[number], part


def _build(parts: list[InstanceVectors]) -> Built:
    refused: dict[str, int] = {}
    for part in parts:
        for reason, count in part.refused.items():
            refused[reason] = refused.get(reason, 0) + count
    behind = sum(part.behind_choice for part in parts)
    unsupported = sum(part.unsupported for part in parts)
    refused_transitions = sum(part.transitions - part.in_tours for part in parts)
    counts = {
        "states": sum(part.states for part in parts),
        "state_branch_pairs": len(frozenset[int]().union(*(part.pairs for part in parts))),
        "refused": sum(refused.values()),
        "transitions": sum(part.transitions for part in parts),
        "transitions_refused": refused_transitions - behind - unsupported,
        "transitions_behind_choice": behind,
        **({"transitions_unsupported": unsupported} if unsupported else {}),
    }
    return Built(tuple(parts), counts, refused)
