"""Manages the memory of one thread of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from charter.explore.native.memory.arrays import Array
from charter.explore.native.memory.machine_context import CAPACITY, PARTITIONS, MachineContext
from charter.explore.native.program.visited_set import PREFETCH_ENTRY

BUFFER = 1 << 15
"""Records in the buffer of one partition of one worker, at most."""
AHEAD = 2 * PREFETCH_ENTRY
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


def empty(crew: Sequence[Worker], plan: MachineContext) -> None:
    """Forget the records in all buffers."""
    outs = plan.outs
    for worker in crew:
        for at in range(outs + 1, outs + 2 * PARTITIONS, 2):
            worker.context.view[at] = 0


def fill_lists(crew: Sequence[Worker], plan: MachineContext) -> Array:
    """For each partition the buffer of each worker, and the number of its records."""
    outs = [worker.context.numbers(plan.outs, 2 * PARTITIONS) for worker in crew]
    lists = Array.of(2 * PARTITIONS * len(crew))
    lists.write(0, [n for p in range(0, 2 * PARTITIONS, 2) for out in outs for n in out[p : p + 2]])
    return lists
