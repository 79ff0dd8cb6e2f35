"""Holds the questions of a suite that go on for a target that hides state."""

from __future__ import annotations

from dataclasses import dataclass

from charter.formats.run_description import FOLLOWED_OF_BLOCK
from conform.judging.verdict import VectorItem
from conform.walks.hidden_state import BOUNDS, HiddenEffect


@dataclass(frozen=True, slots=True)
class FollowedSource:
    """A vector of a suite whose question goes on, without its answer, and how it does."""

    item: VectorItem
    effect: HiddenEffect


@dataclass(frozen=True, slots=True)
class FollowedQuestions:
    """The state variables that a target does not show, and the vectors of the suite whose questions
    go on. `asked` are the ids of the suite. It was searched after `searched` of `possible`
    vectors."""

    hidden: tuple[str, ...] = ()
    sources: tuple[FollowedSource, ...] = ()
    asked: frozenset[str] = frozenset()
    searched: int = 0
    possible: int = 0

    @property
    def blocks(self) -> int:
        """The number of buckets in which they go on."""
        return -(-len(self.sources) // FOLLOWED_OF_BLOCK)

    @property
    def bounds(self) -> str:
        """How far the search looked, in words."""
        return f"{BOUNDS}, after {self.searched:,} of {self.possible:,} vectors"


NOTHING_FOLLOWED = FollowedQuestions()
"""Those of a run in which no question goes on."""
