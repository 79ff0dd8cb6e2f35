"""Counts what the walks of a block took: branches, and which of them follow each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class WalkCoverage:
    """The branches that were taken, the pairs and triples of branches in a row, and the replies of
    each branch with the observations after them. `ends` are the branches at which the target
    failed, so that a walk ended, `moving` the operations that changed a state. What was counted
    `before` counts, too."""

    rows: Counter[tuple[str, ...]] = field(default_factory=Counter)
    replies: Counter[tuple[str, str]] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    moving: set[str] = field(default_factory=set)
    before: WalkCoverage | None = None

    def measure(self, before: tuple[str, ...], branch: str) -> float:
        """How rare a branch is after others: 3.0 if it, the pair and the triple are new."""
        rarity, earlier = 0.0, self.before.rows if self.before else {}
        for row in _rows(before, branch):
            rarity += 1 / (1 + self.rows.get(row, 0) + earlier.get(row, 0))
        return rarity

    def count_row(self, row: tuple[str, ...]) -> int:
        """How often these branches were taken in a row."""
        return self.rows.get(row, 0) + (self.before.rows.get(row, 0) if self.before else 0)

    def is_new(self, before: tuple[str, ...], branch: str) -> bool:
        """Whether a branch was never taken right after another one."""
        return not self.count_row((*before[-1:], branch))

    def measure_shown(self, branch: str, reply: str, shown: str) -> float:
        """How rare a reply of a branch and the observation after it are: 3.0 if both are new."""
        replied, seen = self.replies.get((branch, reply), 0), self.shown.get(shown, 0)
        if self.before:
            replied += self.before.replies.get((branch, reply), 0)
            seen += self.before.shown.get(shown, 0)
        return 1 / (1 + replied) + 2 / (1 + seen)

    def measure_ends(self, branch: str) -> int:
        """How often the target failed at a branch."""
        return self.ends.get(branch, 0) + (self.before.ends.get(branch, 0) if self.before else 0)

    def can_move(self, operation: str) -> bool:
        """Whether an operation changed a state."""
        return operation in self.moving or bool(self.before and operation in self.before.moving)

    def add(self, before: tuple[str, ...], branch: str) -> None:
        """Count a branch that was taken after others."""
        for row in _rows(before, branch):
            self.rows[row] += 1

    def add_shown(self, branch: str, reply: str, shown: str) -> None:
        """Count a reply of a branch, and the observation after it."""
        self.replies[branch, reply] += 1
        self.shown[shown] += 1

    def add_end(self, branch: str) -> None:
        """Count a branch at which the target failed."""
        self.ends[branch] += 1

    def add_all(self, other: WalkCoverage) -> None:
        """Count what another one counted, without what that had before."""
        self.rows.update(other.rows)
        self.replies.update(other.replies)
        self.shown.update(other.shown)
        self.ends.update(other.ends)
        self.moving |= other.moving

    def count(self, length: int) -> int:
        """How many different rows of this length were met."""
        return sum(len(row) == length for row in self.rows)


def _rows(before: tuple[str, ...], branch: str) -> tuple[tuple[str, ...], ...]:
    """The branch, the pair, and the triple that end with it; `before` are two branches at most."""
    if len(before) < 2:
        return ((branch,), (*before, branch)) if before else ((branch,),)
    return (branch,), (before[1], branch), (*before, branch)
