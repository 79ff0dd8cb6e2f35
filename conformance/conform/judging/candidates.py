"""Compares what models allow in a step with what was observed, and an overlay entry with its
charter: how many outcomes it adds, and whether it denies any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from conform.judging.differ import Allowed
from conform.judging.model import ModelOutcome
from conform.judging.relabel import key


@dataclass(frozen=True, slots=True)
class SeenStep:
    """An observed step: reply and observation as keys, relabelled, and the observation itself."""

    reply: bytes
    observation: bytes
    labels: Labels
    raw: Json


@dataclass(frozen=True, slots=True)
class Relabelled:
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

    def relabel(self, reply: Json, observation: Json) -> Relabelled:
        """Raises ValueError for an `@` value that is not a number."""
        raw = (key(reply), key(observation))
        found = self._known.get(raw)
        if found is None:
            reply, observation, labels = self.before.step(reply, observation, self._operation)
            texts = (key(reply), key(observation))
            found = self._known[raw] = Relabelled(reply, observation, labels, texts)
        return found


@dataclass(frozen=True, slots=True)
class Candidate:
    """An outcome of a model from one of the possible states, relabelled like the target's."""

    outcome: ModelOutcome
    shows: Relabelled

    @property
    def labels(self) -> Labels:
        return self.shows.labels

    @property
    def shown(self) -> tuple[bytes, bytes]:
        """What a target would show of it: reply and observation as keys."""
        return self.shows.texts

    def is_seen(self, seen: SeenStep) -> bool:
        return self.shows.texts == (seen.reply, seen.observation)

    def list_allowed(self) -> Allowed:
        return Allowed(self.outcome.branch, self.shows.reply, self.shows.observation)


def branches(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The branches of some outcomes."""
    return tuple(sorted({item.outcome.branch for item in candidates}))


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
    explain it allow."""

    allowed: bool
    branches: tuple[str, ...]
    expected: tuple[Allowed, ...] = ()
    entries: tuple[str, ...] = ()
    widths: tuple[EntryWidth, ...] = ()


@dataclass(slots=True)
class AskedStep:
    """What models allow in one step, each asked once: `allowed` has the outcomes from each of the
    likely states, by overlay entry (None: the charter), `likely` those states as JSON."""

    labels: StepLabels
    likely: Sequence[Json] | None = None
    allowed: dict[str | None, list[list[Candidate]]] = field(default_factory=dict)
