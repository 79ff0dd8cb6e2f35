"""Compares what models allow in a step with what was observed, and an overlay entry with its
charter: how many outcomes it adds, and whether it denies any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from conform.judging.differ import Allowed
from conform.judging.model import ModelOutcome
from conform.judging.model_bugs import ModelCall
from conform.judging.never_issued import WishPlace
from conform.judging.relabel import key


class Relabelled(NamedTuple):
    """A reply and an observation, relabelled, with their texts and the labels after the step."""

    reply: Json
    observation: Json
    labels: Labels
    texts: tuple[bytes, bytes]


class StepLabels:
    """Relabels what is shown in one step of an operation, by the labels before it, once for equal
    texts: models that differ by one rule show the same in most states."""

    def __init__(self, before: Labels, operation: str) -> None:
        self.before = before
        self._operation = operation
        self._known: dict[tuple[bytes, bytes], Relabelled] = {}

    def relabel(self, reply: Json, observation: Json, raw: tuple[bytes, bytes]) -> Relabelled:
        """A reply and an observation, of which the texts are `raw`. Raises ValueError for an `@`
        value that is not a number."""
        found = self._known.get(raw)
        if found is None:
            reply, observation, labels = self.before.step(reply, observation, self._operation)
            texts = (key(reply), key(observation))
            found = self._known[raw] = Relabelled(reply, observation, labels, texts)
        return found


@dataclass(slots=True)
class SeenStep:
    """An observed step with the texts of its reply and observation. `has_new`: an opaque value in
    it was never seen before. `plain`: the target writes values as models do, and none is new, so
    two equal steps have equal texts."""

    step: StepLabels
    reply: Json
    observation: Json
    texts: tuple[bytes, bytes]
    has_new: bool
    plain: bool = False

    @classmethod
    def of(
        cls, step: StepLabels, shown: tuple[Json, Json], texts: tuple[bytes, bytes], is_old: bool
    ) -> SeenStep:
        """A reply and an observation; `is_old` if it is known that no value is new."""
        has_new = not is_old and step.relabel(*shown, texts).labels is not step.before
        return cls(step, *shown, texts, has_new)

    @property
    def shows(self) -> Relabelled:
        """The step, relabelled."""
        return self.step.relabel(self.reply, self.observation, self.texts)

    @property
    def labels(self) -> Labels:
        """The labels after the step."""
        return self.shows.labels if self.has_new else self.step.before


class Candidate(NamedTuple):
    """An outcome of a model from one of the possible states (the one at `origin`): the observation
    that a target would show, and the texts of reply and observation."""

    outcome: ModelOutcome
    observation: Json
    texts: tuple[bytes, bytes]
    step: StepLabels
    origin: int = 0

    @property
    def shows(self) -> Relabelled:
        """Reply and observation, relabelled like the target's."""
        return self.step.relabel(self.outcome.reply, self.observation, self.texts)

    @property
    def labels(self) -> Labels:
        return self.shows.labels

    @property
    def shown(self) -> tuple[bytes, bytes]:
        """What a target would show of it: reply and observation as keys."""
        return self.shows.texts

    def is_seen(self, seen: SeenStep) -> bool:
        if seen.plain or self.texts == seen.texts:
            return self.texts == seen.texts
        return self.shows.texts == seen.shows.texts

    def list_allowed(self) -> Allowed:
        return Allowed(self.outcome.branch, self.shows.reply, self.shows.observation)


def find_seen(candidates: Sequence[Candidate], seen: SeenStep) -> list[Candidate]:
    """The outcomes that equal what was seen."""
    same = [item for item in candidates if item.texts == seen.texts]
    if same and not seen.has_new:
        seen.plain = True  # the labels of other texts are others
    if seen.plain or len(same) == len(candidates):
        return same
    return [item for item in candidates if item.is_seen(seen)]


def branches(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The branches of some outcomes."""
    return tuple(sorted({item.outcome.branch for item in candidates}))


def list_distinct(states: Iterable[object]) -> tuple[object, ...]:
    """Each of some states once."""
    kept: list[object] = []
    for state in states:
        if state not in kept:
            kept.append(state)
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class EntryWidth:
    """How much an overlay entry allows in a step that it explains: how many outcomes it adds to the
    charter's, and whether it still allows all of those (`keeps`)."""

    entry: str
    added: int
    keeps: bool
    step: int = 0


def width_of(
    entry: str, seen: SeenStep, pairs: Iterable[tuple[Sequence[Candidate], Sequence[Candidate]]]
) -> EntryWidth:
    """The width of an entry in an observed step, from its `pairs`: for each state that the run may
    be in, the charter's outcomes and the entry's. Only states count in which the entry explains
    what was observed."""
    wide = [
        ({item.shown for item in own}, {item.shown for item in other})
        for own, other in pairs
        if any(item.is_seen(seen) for item in other)
    ]
    added = max((len(other - own) for own, other in wide), default=0)
    return EntryWidth(entry, added, bool(wide) and all(own and own <= other for own, other in wide))


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of following one step with the model. `allowed` is true if the charter has this
    transition; `branches` are those that it may have taken, `widths` how much the `entries` that
    explain it allow. `ways` are those in which it may have gone: from which of the possible states,
    by which branch, to which of the states after it."""

    allowed: bool
    branches: tuple[str, ...]
    expected: tuple[Allowed, ...] = ()
    entries: tuple[str, ...] = ()
    widths: tuple[EntryWidth, ...] = ()
    ways: tuple[tuple[int, str, int], ...] = ()


class AllowedCall(NamedTuple):
    """A call, and what the charter allows for it from each of the possible states. `wished` are the
    values in it that were never issued."""

    call: ModelCall
    wished: dict[WishPlace, str]
    labels: StepLabels
    allowed: list[list[Candidate]]


@dataclass(slots=True)
class AskedStep:
    """What models allow in one step, each asked once: `allowed` has the outcomes from each of the
    likely states, by overlay entry (None: the charter), `likely` those states as JSON."""

    labels: StepLabels = field(default_factory=lambda: StepLabels(Labels(), ""))
    likely: Sequence[Json] | None = None
    allowed: dict[str | None, list[list[Candidate]]] = field(default_factory=dict)
