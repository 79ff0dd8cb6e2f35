"""Finds which instances of a charter reach which classes of states, and in which of them one step
follows another. A class is a witness that stands in a file beside the charter: searches of the
charter itself do not look for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from charter.analysis.scenario_pairs import ScenarioPairs, scenario_pairs
from charter.api.charters import Charter, explore, select_instance
from charter.core import nodes as n
from charter.core.transition import steps_of
from charter.explore.model_checker import ExploreOptions, Progress
from charter.explore.result import StepPairs
from charter.project.sources import COVERAGE, PLAIN, Missing, Selection, read_sources

__all__ = [
    "COVERAGE",
    "ReachedClasses",
    "ScenarioPairs",
    "StateClass",
    "StepPairs",
    "find_reached",
    "scenario_pairs",
    "step_pairs",
    "steps_of",
    "with_classes",
    "with_walked",
]


@dataclass(frozen=True, slots=True)
class StateClass:
    """A class of states, or of steps, of a machine; `doc` is the comment above it."""

    name: str
    machine: str
    doc: str


@dataclass(frozen=True, slots=True)
class ReachedClasses:
    """What a search of an instance reached: for each class of its machine the number of steps to
    the first such state or step, None if there is none. `complete`: all states were searched,
    else at least `states`.
    `why_slow`: why it was searched by the definition, "" if it was not."""

    machine: str
    instance: str
    states: int
    depth: int
    complete: bool
    steps: Mapping[str, int | None]
    why_slow: str = ""


def with_classes(
    charter: Charter, path: Path, selection: Selection = PLAIN
) -> tuple[n.Model, tuple[StateClass, ...]]:
    """The core of a charter with the classes in `path`, a file or a folder of files that declare
    witnesses, and functions for them; the model has no other properties. Raises `Refused` with
    every error, `Unreadable`, or `Missing`."""
    files = read_sources(path)
    plain = charter.model(selection)
    known = {p.name for p in plain.properties} | {e.name for e in plain.liveness}
    model = Charter((*charter.sources, *files)).model(selection)
    kinds: dict[str, str] = {p.name: p.kind for p in model.properties}
    kinds |= dict.fromkeys((e.name for e in model.liveness), "eventually")
    for name, kind in kinds.items():
        if kind != "witness" and name not in known:
            raise Missing(
                f"{path.as_posix()} declares `{kind} {name}`: a file of classes has witnesses"
                " only; write it in the charter, or as a witness of what it forbids"
            )
    mine = tuple(p for p in model.properties if p.kind == "witness" and p.name not in known)
    if not mine:
        raise Missing(f"{path.as_posix()} declares no witness")
    alone = replace(model, properties=mine, liveness=(), instances=_bare(plain))
    return alone, tuple(StateClass(p.name, p.machine, p.doc) for p in mine)


def with_walked(charter: Charter, path: Path, selection: Selection = PLAIN) -> n.Model:
    """The core of a charter with the instances and scenarios that stand beside the classes in
    `path`: these instances allow so much that they are walked at random. Raises `Refused`,
    `Unreadable`, or `Missing`."""
    return Charter((*charter.sources, *read_sources(path))).model(selection)


def find_reached(model: n.Model, instance: str, most: int, progress: Progress) -> ReachedClasses:
    """Search an instance of a model with classes, up to `most` states (0: all). Raises `Missing`
    or `CannotExplore`."""
    machine = next((i.machine for i in model.instances if i.name == instance), "")
    mine = tuple(p for p in model.properties if p.machine == machine)
    alone = replace(model, properties=mine)
    options = ExploreOptions(most_states=most)
    found = explore(alone, instance, options, progress)
    steps = {p.name: None if p.trace is None else len(p.trace) for p in found.properties}
    counts, why = found.counts, found.why_reference
    depth = len(counts.levels) - 1
    # Where a search gives up depends on its threads: at least `most` states is what can be said.
    states = counts.distinct if counts.complete else most
    return ReachedClasses(machine, instance, states, depth, counts.complete, steps, why)


def step_pairs(model: n.Model, instance: str, most: int, progress: Progress) -> StepPairs:
    """The pairs of steps that follow each other in an instance; if it has more than `most` states
    (0: any number), those that random walks see. Raises `Missing` or `CannotExplore`."""
    from charter.explore import select

    options = ExploreOptions(most_states=most)
    return select.step_pairs(model, select_instance(model, instance), options, progress)


def _bare(model: n.Model) -> tuple[n.Instance, ...]:
    """Its instances, which list nothing of what they miss: that is about other properties."""
    return tuple(replace(i, misses=(), fails=()) for i in model.instances)
