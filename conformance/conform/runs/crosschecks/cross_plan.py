"""Holds what a run tries of the cross-checks of its target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from charter.formats.findings.crosschecks import CrossCheck
from charter.formats.run_description import TRIED_OF_BLOCK
from conform.judging.verdict import VectorItem


@dataclass(frozen=True, slots=True)
class CrossTry:
    """A question to make for a cross-check: the number of its source, and the place. Operations
    are inserted after the first `start`, or appended there; of two deltas the first ends after
    `start`, and the second after `end`."""

    check: str
    source: int
    start: int
    end: int = 0


@dataclass(frozen=True, slots=True)
class CrossPlan:
    """The cross-checks of a run, the vectors from which their questions are made (without
    answers), what is tried, and how much each check could try of them."""

    checks: Mapping[str, CrossCheck] = field(default_factory=dict)
    sources: tuple[VectorItem, ...] = ()
    tries: tuple[CrossTry, ...] = ()
    possible: Mapping[str, int] = field(default_factory=dict)

    @property
    def blocks(self) -> int:
        """The number of buckets in which they are tried."""
        return -(-len(self.tries) // TRIED_OF_BLOCK)

    def of_block(self, block: int) -> Sequence[CrossTry]:
        """What is tried in a bucket."""
        return self.tries[block * TRIED_OF_BLOCK : (block + 1) * TRIED_OF_BLOCK]


NO_CROSSCHECKS = CrossPlan()
"""That of a run without cross-checks."""
