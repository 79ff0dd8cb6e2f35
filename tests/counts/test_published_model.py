"""The states of the controller in small clusters are those that TLC finds for the published model
of KIP-966 in the same setting (docs/design/tests.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson
import pytest
from tests.support import spec

from charter.analysis.bounds import with_bounds
from charter.cache.files import cache_folder
from charter.explore.native.search.explore import Choices, Exploration, NativeOptions, explore
from charter.explore.native.states.reached import Reached

PUBLISHED = {
    "pair_stopped": "1,1,,2 1,1,2, 1,12,, 2,12,, 2,2,,1 2,2,1,",
    "pair_unseen": "1,1,2, 1,12,, 2,12,, 2,2,1,",
    "pair_both_lost": ",,,12 ,,1,2 ,,12, ,,2,1 1,1,,2 1,1,2, 1,12,, 2,12,, 2,2,,1 2,2,1,",
    "last_standing": ",,1,2 ,,12, ,,2,1 1,1,,2 1,1,2, 1,12,, 2,12,, 2,2,,1 2,2,1,",
}
"""Leader, ISR, ELR and LastKnownELR without the members of the ISR."""
REASSIGNED = "1,1,,,1,, 1,1,,,12,2, 1,1,,,12,2,1 1,12,,,12,, 2,2,,,2,,"
"""The same with replicas, those that are added, and those that are removed."""


@dataclass(frozen=True, slots=True)
class PartitionState:
    """What both models say of the partition, with the numbers of brokers."""

    leader: str
    sets: tuple[str, ...]

    @staticmethod
    def of(cell: str, names: Sequence[str]) -> PartitionState:
        p = orjson.loads(cell)["t"]
        p["last_known_elr"] = [b for b in p["last_known_elr"] if b not in p["isr"]]
        leader = (p["leader"] or "")[1:]
        return PartitionState(leader, tuple("".join(sorted(b[1:] for b in p[n])) for n in names))

    def __str__(self) -> str:
        return ",".join((self.leader, *self.sets))


def partitions(found: Exploration) -> Iterator[str]:
    """The partition in each reached state, as JSON."""
    reached = Reached.of(found, None)
    (place,) = (
        i for i, column in enumerate(reached.head.columns) if column.name == "controller.partition"
    )
    for chunk in reached.chunks(10_000):
        yield from (str(cell) for cell in chunk[place])


def see(found: Exploration, names: Sequence[str]) -> set[str]:
    assert found.counts.complete
    return {str(PartitionState.of(cell, names)) for cell in partitions(found)}


def _parameters() -> Iterator[object]:
    for name in PUBLISHED:
        slow = [] if name == "pair_stopped" else [pytest.mark.slow]
        yield pytest.param(name, marks=[spec.together("kafka", name), *slow])


@pytest.mark.parametrize("name", list(_parameters()))
def test_the_controller_is_in_the_states_of_the_published_model(name: str) -> None:
    names = ("isr", "elr", "last_known_elr")
    assert see(spec.explore_instance("kafka", name), names) == set(PUBLISHED[name].split())


@pytest.mark.slow
def test_a_reassignment_passes_the_states_of_the_published_model() -> None:
    once = ("reassignments=1", "cancellations=0")
    model, instance = spec.model("kafka"), spec.instance("kafka", "pair_reassigned")
    options = NativeOptions(Choices(), cache=cache_folder("engine"), optimized=False)
    found = explore(model, with_bounds(model, instance, once), options)
    names = ("isr", "elr", "last_known_elr", "replicas", "adding", "removing")
    assert see(found, names) == set(REASSIGNED.split())
