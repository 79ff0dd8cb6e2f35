"""Translates offsets of one text to another one that differs from it in one place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Shift:
    """The texts are equal before `start`, and behind `before` in the one, `after` in the other."""

    start: int
    before: int
    after: int

    @staticmethod
    @lru_cache(maxsize=16)
    def between(before: str, after: str) -> Shift:
        """The smallest difference of two texts. Cached: an outline moves all places of a file."""
        if before == after:
            return Shift(len(before), len(before), len(after))
        most = min(len(before), len(after))
        start = next((i for i in range(most) if before[i] != after[i]), most)
        same = 0
        while same < most - start and before[-1 - same] == after[-1 - same]:
            same += 1
        return Shift(start, len(before) - same, len(after) - same)

    def forward(self, offset: int) -> int:
        """The offset in the text after for one in the text before."""
        if offset <= self.start:
            return offset
        moved = offset - self.before + self.after
        return moved if offset >= self.before else min(offset, self.after)

    def back(self, offset: int) -> int:
        """The offset in the text before for one in the text after."""
        return Shift(self.start, self.after, self.before).forward(offset)
