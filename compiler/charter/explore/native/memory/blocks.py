"""Hands out the states of a chunk to the workers of a search, in blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from threading import Lock

from charter.explore.native.memory.state_store import BLOCK_ROWS


@dataclass(slots=True)
class Blocks:
    """Hands out blocks of at most `size` states in order, until one is given back unfinished or it
    is later than `until`. `is_torn`: a later block had been taken by then."""

    next: int
    end: int
    size: int
    until: float = inf
    is_torn: bool = False
    lock: Lock = field(default_factory=Lock)
    _closed: bool = False

    def take(self, ready: Callable[[], bool]) -> Iterator[tuple[int, int]]:
        """The blocks (first number, count) for one worker, while `ready()` is true."""
        while True:
            with self.lock:
                if self._closed or self.next >= self.end:
                    return
                if not ready():
                    self._closed = True
                    return
                block = self._block()
            yield block
            self._closed = self._closed or time.monotonic() > self.until

    def _block(self) -> tuple[int, int]:
        number = self.next
        count = min(self.size, self.end - number, BLOCK_ROWS - number % BLOCK_ROWS)
        self.next += count
        return number, count

    def give_back(self, number: int, count: int) -> None:
        """Give back the unfinished rest of a block; the next chunk begins with it."""
        with self.lock:
            self.is_torn = self.is_torn or self.next != number + count
            self.next, self._closed = number, True
