"""Makes the parts of a full suite: what one instance gives, explored or walked. They are kept in
the cache, so that a change of a charter makes again only the parts that it changes."""

from __future__ import annotations

import gzip
import io
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from charter.cache.files import cache_folder, from_cache, to_cache
from charter.core import nodes as n
from charter.core.encoding import decode, digest, encode
from charter.formats.vector import Vector
from charter.passes.narrow import narrow
from charter.project.compiler_digest import compiler
from charter.suites.explored import ExploredInstance, HowFar
from charter.suites.planning.instance_planner import InstancePlanner
from charter.suites.planning.random_walks import Walks
from charter.suites.touring.tours import Tours
from charter.suites.vector_texts import VectorRecord, merge, pack, unpack

WALKS = 2_000
"""Random walks in each instance."""

MOST_PARTS = 64
"""The most parts in the cache; one has some megabytes, a suite of Kafka's controller 13."""

Kind = Literal["explored", "walks", "tours"]
"""What a part has: all of an explored instance, walks, or the tours of an instance alone."""


@dataclass(frozen=True, slots=True)
class Task:
    """One part for one process, as plain data: the encoded model, which has one instance. The part
    goes to `place`. `key` is its name in the cache: the digest of all that its vectors depend on,
    which spans and comments are not. No tour has the operations `lacking`."""

    model: bytes
    kind: Kind
    instance: str
    key: str
    place: Path
    walks: int
    most_states: int = 0
    lacking: tuple[str, ...] = ()

    @staticmethod
    def of(
        model: n.Model, instance: n.Instance, kind: Kind, folder: Path,
        lacking: tuple[str, ...] = (),
    ) -> Task:  # fmt: skip
        """The task of an instance of a component of `model`."""
        alone = replace(model, instances=(instance,), scenarios=(), mutants=(), variants=())
        cut = narrow(replace(alone, sources=(), docs=(), links=()), instance.machine)
        said = (compiler(), platform.python_version(), kind, WALKS, digest(cut), lacking)
        key = sha256(repr(said).encode()).hexdigest()
        place = folder / f"{kind}-{instance.name}"
        return Task(encode(cut), kind, instance.name, key, place, WALKS, lacking=lacking)


@dataclass(frozen=True, slots=True)
class InstanceVectors:
    """A part that was written, with its counts; `refused` are vectors that could not be made, by
    reason. Of its `transitions` so many are `in_tours`, so many `behind_choice`, and so many
    `unsupported`; those that are one step of one question count once."""

    place: Path
    states: int
    pairs: frozenset[int]
    refused: Mapping[str, int]
    transitions: int = 0
    in_tours: int = 0
    behind_choice: int = 0
    unsupported: int = 0

    def records(self) -> Iterator[VectorRecord]:
        """Its records in the order of their ids."""
        with gzip.open(self.place, "rt", encoding="utf-8", newline="\n") as lines:
            next(lines)
            yield from map(unpack, lines)

    @staticmethod
    def at(place: Path) -> InstanceVectors:
        """A written part."""
        with gzip.open(place, "rt", encoding="utf-8", newline="\n") as lines:
            head = json.loads(next(lines))
        names = ("transitions", "in_tours", "behind_choice", "unsupported")
        counts = [head[name] for name in names]
        pairs = frozenset(head["pairs"])
        return InstanceVectors(place, head["states"], pairs, head["refused"], *counts)


def read_kept(task: Task) -> InstanceVectors | None:
    """The part of a task, if the cache has it intact."""
    data = from_cache(_cache_path(task))
    if data is None:
        return None
    task.place.write_bytes(data)
    return InstanceVectors.at(task.place)


def make_part(task: Task, tell: Callable[[str], None] = lambda _: None) -> InstanceVectors:
    """Make the part of a task, and keep it. Runs in a process of its own; `tell` is called now and
    then with how far the search of an instance is. Raises TooManyStates."""
    model = decode(task.model)
    (instance,) = model.instances
    states, tours = 0, None
    if task.kind == "walks":
        walks = Walks.of(model, instance)
        found: Iterator[Vector] = walks.vectors(task.walks)
        pairs, planners = walks.pairs, [walks.engine]
    else:
        explored = ExploredInstance.of(model, instance, (), HowFar(task.most_states, tell))
        tours = Tours.of(explored, task.lacking)
        found = tours.vectors() if task.kind == "tours" else _list_all(explored, tours)
        pairs, planners = explored.pairs, [explored.engine, explored.opened]
        states = len(explored.graph.states)
    before = 0
    records: list[VectorRecord] = []
    for vector in found:
        before += vector.why.asked
        records.append(VectorRecord.of(_say_unreached(vector, instance)))
    records = list(merge(sorted(records, key=lambda record: record.id)))
    in_tours = sum(record.reasons().asked for record in records) if before else 0
    counted = (tours.total, tours.behind_choice, tours.unsupported) if tours else (0, 0, 0)
    transitions, behind, unsupported = counted
    part = InstanceVectors(
        task.place, states, frozenset(pairs), _count_refused(planners),
        transitions - (before - in_tours), in_tours, behind, unsupported,
    )  # fmt: skip
    data = _write(part, records)
    part.place.write_bytes(data)
    if not _names_a_place(model, part.refused):
        to_cache(_cache_path(task), data, MOST_PARTS)
    return part


def _list_all(explored: ExploredInstance, tours: Tours) -> Iterator[Vector]:
    """All vectors of an explored instance."""
    yield from tours.vectors()
    yield from explored.witnesses()
    yield from explored.paths()
    yield from explored.arrivals()


def _say_unreached(vector: Vector, instance: n.Instance) -> Vector:
    """The vector; if it begins in a given state, with the reason."""
    if vector.question.given is None:
        return vector
    unreached = f"{instance.name} names no prelude that leads to its start"
    return replace(vector, why=replace(vector.why, unreached=unreached))


def _cache_path(task: Task) -> Path:
    return cache_folder("vectors") / f"{task.key}.vectors"


def _write(part: InstanceVectors, records: list[VectorRecord]) -> bytes:
    """The content of a part's file: its counts, and a line for each record, which are sorted."""
    counts = {
        "states": part.states, "pairs": sorted(part.pairs), "refused": dict(part.refused),
        "transitions": part.transitions, "in_tours": part.in_tours,
        "behind_choice": part.behind_choice, "unsupported": part.unsupported,
    }  # fmt: skip
    content = io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=1, mtime=0) as file:
        file.write(f"{json.dumps(counts)}\n".encode())
        file.writelines(pack(record).encode() for record in records)
    return content.getvalue()


def _count_refused(planners: Iterable[InstancePlanner]) -> dict[str, int]:
    found: dict[str, int] = {}
    for planner in {id(each.planner): each.planner for each in planners}.values():
        for reason, count in planner.refused.items():
            found[reason] = found.get(reason, 0) + count
    return found


def _names_a_place(model: n.Model, reasons: Iterable[str]) -> bool:
    """Whether a reason names a place of the charter, which a comment above it would move."""
    placed = (*model.functions, *model.components, *model.properties, *model.instances)
    files = {each.span.source.name for each in placed}
    return any(f"{name}:" in reason for name in files for reason in reasons)
