"""Defines the models that runs are followed with, how sets of them are named, the steps that are
followed, and a cache of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes
from conform.judging.candidates import Judged
from conform.judging.model import JudgeModel, may_differ
from conform.judging.never_issued import WishPlace

_MEMORY = 2_000
"""Steps in a full cache, of some 30 kB each."""

SEVERAL_ENTRIES = "several_entries"
"""The name of all entries together, where nobody has looked which of them are needed."""

SET_ENTRIES_MAX = 4
"""The most entries of a set that is named as a cause."""

_SEPARATOR = "+"

_StepKey = tuple[str, bytes, bytes, bytes]
"""An operation, its arguments, the reply and the observation."""


class ObservedStep(NamedTuple):
    """One observed step, raw; `args` are those of the question, with references. `texts` are those
    of reply and observation, if they are known, as is whether all opaque values are old ones."""

    operation: str
    args: Json
    reply: Json
    observation: Json
    texts: tuple[bytes, bytes] | None = None
    is_old: bool = False


@dataclass(slots=True, eq=False)
class FollowedStep:
    """The state of a follower after a step, the judgement of the step, and a cache of next steps.
    `own` are the target's values for those that were never issued."""

    judged: Judged
    states: tuple[object, ...]
    likely: tuple[object, ...]
    labels: Labels
    lost: str
    own: Mapping[WishPlace, str]
    after: dict[_StepKey, FollowedStep] = field(default_factory=dict)


NextSteps = dict[_StepKey, FollowedStep]


@dataclass(slots=True, eq=False)
class FollowedSteps:
    """A cache of followed steps, by how a run began and by the steps before. It is cleared when it
    is full."""

    starts: dict[bytes, NextSteps] = field(default_factory=dict)
    count: int = 0

    def begin(self, start: bytes) -> NextSteps:
        """The first steps of runs that begin so."""
        if self.count > _MEMORY:
            self.starts.clear()
            self.count = 0
        return self.starts.setdefault(start, {})

    def add(self, held: NextSteps, step: _StepKey, moved: FollowedStep) -> None:
        """Cache the result of a step."""
        held[step] = moved
        self.count += 1


@dataclass(frozen=True, slots=True)
class Siblings:
    """The charter's model, and the models with one overlay entry each ("" has them all).

    `same_state` and `same_operations` are False if given states, or arguments, of the suite may not
    fit `charter`, because the suite was made from another model. Labels count by the types in
    `opaque`. Followers share a cache: most vectors begin like others, and deviate in the same way.
    """

    charter: JudgeModel
    entries: Mapping[str, JudgeModel] = field(default_factory=dict)
    same_state: bool = True
    same_operations: bool = True
    opaque: OpaqueTypes = field(default_factory=OpaqueTypes)
    memory: FollowedSteps = field(default_factory=FollowedSteps, compare=False)
    _changed: Mapping[str, bool] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        alone = [model for entry, model in self.entries.items() if entry]
        operations = getattr(self.charter, "OPERATIONS", ()) if alone else ()
        changed = {name: any(may_differ(one, name) for one in alone) for name in operations}
        object.__setattr__(self, "_changed", changed)

    def may_differ(self, operation: str) -> bool:
        """Whether an operation may have other outcomes with the whole overlay."""
        return self._changed.get(operation, True)


def join_entries(entries: Sequence[str]) -> str:
    """The name of a set of entries."""
    return _SEPARATOR.join(entries)


def split_entries(name: str) -> tuple[str, ...]:
    """The entries of a set, or the one entry that a name is of."""
    return tuple(name.split(_SEPARATOR))


def show_entries(name: str) -> str:
    """The name of an entry, or of a set of entries, as a person reads it."""
    return f" {_SEPARATOR} ".join(split_entries(name))


def list_members(names: Iterable[str]) -> frozenset[str]:
    """The entries that are named, alone or in a set."""
    return frozenset(entry for name in names for entry in split_entries(name))
