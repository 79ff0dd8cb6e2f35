"""An instance as fast successor functions with the interface of the evaluator."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.reference.explore import distinct
from charter.explore.reference.load import FlatMachine, FlatState, load
from charter.explore.reference.support import Undefined
from charter.semantics.evaluate import Outcome, State
from charter.semantics.machine import Machine
from charter.vectors.answer import NoAnswer
from charter.vectors.plan import Planner


@dataclass(frozen=True, slots=True)
class Engine:
    """The flat functions of an instance, and a planner that uses them."""

    flat: FlatMachine
    planner: Planner

    @staticmethod
    def of(model: n.Model, instance: n.Instance) -> Engine:
        """An engine for `instance` as it stands."""
        return Engine.around(model, load(model, instance))

    @staticmethod
    def opened(model: n.Model, instance: n.Instance) -> Engine:
        """The same, with every operation of the component and all arguments."""
        return Engine.of(model, replace(instance, offers=(), only=()))

    @staticmethod
    def around(model: n.Model, flat: FlatMachine) -> Engine:
        """An engine of functions that are there already."""
        return Engine(flat, Planner.of(model, flat.machine, FlatOutcomes(flat)))

    @property
    def machine(self) -> Machine:
        """The machine of the evaluator."""
        return self.flat.machine

    def name(self, state: FlatState) -> str:
        """A name for a state, equal for those that are equal up to renaming, in all instances with
        sorts of these sizes."""
        sizes = [(name, len(members)) for name, members in self.machine.universe.sorts.items()]
        return repr((sizes, self.flat.key(state)))


def pair(state: str, branch: str) -> int:
    """A number for a (state, branch) pair; the state by its name."""
    told = f"{state}/{branch}".encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True)
class FlatOutcomes:
    """`machine.outcomes`, faster. Raises NoAnswer where a rule has no value."""

    flat: FlatMachine

    def __call__(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        flat = self.flat
        try:
            found = flat.operations[operation](flat.flatten(state), args, None)
        except Undefined as problem:
            raise NoAnswer(f"{operation}: {problem}") from None
        outcomes: Sequence[tuple[str, Value, FlatState]] = found
        if len(found) > 1:
            outcomes = distinct(found)
        return tuple(Outcome(b, reply, flat.unflatten(after)) for b, reply, after in outcomes)
