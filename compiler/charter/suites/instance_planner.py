"""Makes vectors of one instance, with the native engine if it supports it, else with the
definition."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.select import successors
from charter.explore.successors import Defined, Successors
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import NotAssumed, Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.vectors.answer import NoAnswer
from charter.vectors.plan import Planner


@dataclass(frozen=True, slots=True)
class InstancePlanner:
    """The operations of an instance, and a planner that uses them."""

    asked: Successors
    planner: Planner

    @staticmethod
    def of(model: n.Model, instance: n.Instance) -> InstancePlanner:
        """A planner for `instance` with its own offers."""
        return InstancePlanner.around(model, successors(model, instance))

    @staticmethod
    def open_planner(model: n.Model, instance: n.Instance) -> InstancePlanner:
        """The same, with every operation of the component and all arguments."""
        return InstancePlanner.of(model, replace(instance, offers=(), only=()))

    @staticmethod
    def define_planner(model: n.Model, instance: n.Instance) -> InstancePlanner:
        """The same on the definition: for few questions that is faster than compiling. `model` has
        been narrowed to the component, since to do so for each instance takes longer still."""
        machine = Machine.of(model, replace(instance, offers=(), only=()))
        return InstancePlanner.around(model, Defined(machine))

    @staticmethod
    def around(model: n.Model, asked: Successors) -> InstancePlanner:
        """A planner with the given successors."""
        return InstancePlanner(asked, Planner.of(model, asked.machine, Answered(asked)))

    @property
    def machine(self) -> Machine:
        """The machine of the definition."""
        return self.asked.machine

    def name(self, state: State) -> str:
        """A name for a state, equal for states that are equal up to renaming, in all instances with
        the same sizes of sorts."""
        sizes = [(name, len(members)) for name, members in self.machine.universe.sorts.items()]
        return repr((sizes, self.asked.form(state)))


def pair(state: str, branch: str) -> int:
    """A hash of a (state, branch) pair; `state` is the state's name."""
    told = f"{state}/{branch}".encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True)
class Answered:
    """A faster `machine.outcomes`. Raises NoAnswer if a rule has no value, or NotAssumed."""

    asked: Successors

    def __call__(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        try:
            return self.asked.outcomes(state, operation, args)
        except NotAssumed:
            raise
        except EvaluationError as problem:
            raise NoAnswer(f"{operation}: {problem}") from None
