"""Holds the questions of a suite that go on for a target that hides state."""

from __future__ import annotations

from dataclasses import dataclass

from charter.formats.run_description import FOLLOWED_OF_BLOCK
from conform.judging.verdict import VectorItem


@dataclass(frozen=True, slots=True)
class FollowedQuestions:
    """The state variables that a target does not show, and the vectors of the suite whose questions
    go on, without their answers. `asked` are the ids of the suite."""

    hidden: tuple[str, ...] = ()
    sources: tuple[VectorItem, ...] = ()
    asked: frozenset[str] = frozenset()

    @property
    def blocks(self) -> int:
        """The number of buckets in which they go on."""
        return -(-len(self.sources) // FOLLOWED_OF_BLOCK)


NOTHING_FOLLOWED = FollowedQuestions()
"""Those of a run in which no question goes on."""
