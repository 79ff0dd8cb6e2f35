"""Finds operations that distinguish a state from others that look the same: what an operation did
to a variable that nobody observes shows only in what a later operation does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from charter.analysis.retell import Act
from charter.core.nodes import Value
from charter.formats.canonical import text
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

MOST_CASES = 120_000
"""The most operations in states that are compared; of a larger instance nothing is said."""
MOST_FOLLOWED = 10_000
"""The most vectors of one instance; each branch gets its share of them."""
MOST_ACTS = 6
"""The most operations that follow a transition in one vector."""


@dataclass(slots=True)
class LookAlikes:
    """States of an instance by what is observed of them. `shown` says for an operation which states
    of a group react in each way, as bits of a number; a state in which the operation is not
    offered, or may do several things, is in none. `told` has results of `telling`."""

    machine: Machine
    offered: Callable[[State], Iterator[tuple[Act, Outcome]]]
    groups: dict[str, list[State]] = field(default_factory=lambda: defaultdict(list))
    shown: dict[str, dict[Act, dict[str, int]]] = field(default_factory=dict)
    told: dict[tuple[Value, ...], tuple[Act, ...]] = field(default_factory=dict)

    @staticmethod
    def of(
        machine: Machine,
        states: Sequence[State],
        offered: Callable[[State], Iterator[tuple[Act, Outcome]]],
    ) -> LookAlikes:
        """The groups of the states."""
        found = LookAlikes(machine, offered)
        for state in states:
            found.groups[found._look(state)].append(state)
        return found

    def has_others(self, state: State) -> bool:
        """Whether other states look like this one."""
        return len(self.groups.get(self._look(state), ())) > 1

    def telling(self, state: State) -> tuple[Act, ...]:
        """A few operations that tell a state from as many as possible of those that look like it;
        first those that do not change it. Empty if none can be told."""
        key = tuple(state.values())
        if key not in self.told:
            self.told[key] = self._telling(state)
        return self.told[key]

    def _telling(self, state: State) -> tuple[Act, ...]:
        look = self._look(state)
        mine = {act: (self._reaction(act, out), out) for act, out in self.offered(state)}
        reactions = self._reactions(look)
        left = (1 << len(self.groups[look])) - 1
        chosen: list[Act] = []
        while left and len(chosen) < MOST_ACTS:
            after = {
                act: left & ~(sum(reactions.get(act, {}).values()) & ~reactions[act].get(seen, 0))
                for act, (seen, _) in mine.items()
                if act in reactions and act not in chosen
            }
            best = min(after, key=lambda act: after[act].bit_count(), default=None)
            if best is None or after[best] == left:
                break
            chosen.append(best)
            left = after[best]
        return tuple(sorted(chosen, key=lambda act: mine[act][1].state != state))

    def _reactions(self, look: str) -> dict[Act, dict[str, int]]:
        """How the states of a group react to each operation."""
        if look not in self.shown:
            found: dict[Act, dict[str, int]] = {}
            for number, state in enumerate(self.groups[look]):
                for act, out in self.offered(state):
                    seen = found.setdefault(act, {})
                    reaction = self._reaction(act, out)
                    seen[reaction] = seen.get(reaction, 0) | 1 << number
            self.shown[look] = found
        return self.shown[look]

    def _reaction(self, act: Act, outcome: Outcome) -> str:
        return f"{outcome.reply!r} {self._look(outcome.state)}"

    def _look(self, state: State) -> str:
        return text(self.machine.observe(state))


ItemT = TypeVar("ItemT")


def spread(items: Sequence[ItemT], most: int) -> Iterator[ItemT]:
    """At most so many of the items, as far apart as they are many."""
    count = min(len(items), most)
    return (items[number * len(items) // count] for number in range(count))
