"""The memory of one thread of a search."""

from __future__ import annotations

from dataclasses import dataclass

from charter.explore.native.context import CAPACITY, PARTITIONS, MachineContext
from charter.explore.native.memory import Array
from charter.explore.native.visited_set import SOON

BUFFER = 1 << 15
"""Records in the buffer of one partition of one worker, at most."""
AHEAD = 2 * SOON
"""Records behind a buffer that may be read though they mean nothing."""


@dataclass(slots=True)
class Worker:
    """The memory of one thread."""

    context: Array
    buffers: Array

    @staticmethod
    def of(plan: MachineContext, capacity: int = BUFFER) -> Worker:
        """A worker with empty buffers of `capacity` records."""
        size = (capacity + AHEAD) * plan.record
        worker = Worker(Array.of(plan.size), Array.of(PARTITIONS * size))
        worker.context.view[CAPACITY] = capacity
        for p in range(PARTITIONS):
            worker.context.view[plan.outs + 2 * p] = worker.buffers.at(p * size)
        return worker
