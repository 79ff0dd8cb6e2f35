"""Counts what the walks of a block took: branches, and which of them follow each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class WalkCoverage:
    """The branches that were taken, and the pairs and triples of branches in a row."""

    rows: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def measure(self, before: tuple[str, ...], branch: str) -> float:
        """How rare a branch is after others: 3.0 if it, the pair and the triple are new."""
        return sum(1 / (1 + self.rows[row]) for row in _rows(before, branch))

    def add(self, before: tuple[str, ...], branch: str) -> None:
        """Count a branch that was taken after others."""
        self.rows.update(_rows(before, branch))

    def count(self, length: int) -> int:
        """How many different rows of this length were met."""
        return sum(len(row) == length for row in self.rows)


def _rows(before: tuple[str, ...], branch: str) -> tuple[tuple[str, ...], ...]:
    row = (*before, branch)
    return tuple(row[-length:] for length in (1, 2, 3) if len(row) >= length)
