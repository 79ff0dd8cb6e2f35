"""Compares what models allow in a step with what was observed, and an overlay entry with its
charter: how many outcomes it adds, and whether it denies any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
class Candidate:
    """An outcome of a model from one of the possible states, relabelled like the target's."""

    outcome: ModelOutcome
    reply: Json
    observation: Json
    labels: Labels

    @property
    def shown(self) -> tuple[bytes, bytes]:
        """What a target would show of it: reply and observation as keys."""
        return key(self.reply), key(self.observation)

    def is_seen(self, seen: SeenStep) -> bool:
        return key(self.reply) == seen.reply and key(self.observation) == seen.observation

    def list_allowed(self) -> Allowed:
        return Allowed(self.outcome.branch, self.reply, self.observation)


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
