"""Makes vectors of one instance, with the native engine if it supports it, else with the
definition."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.select import successors
from charter.explore.successors import Defined, Successors
from charter.formats.vector import Vector, Why
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import NotAssumed, Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.scenario import follow
from charter.suites.planning.led_instances import LedInstance
from charter.vectors.answer import NoAnswer
from charter.vectors.plan import OPEN, Planner

KEPT_MAX = 20_000
"""The most outcomes that are kept."""


@dataclass(frozen=True, slots=True)
class InstancePlanner:
    """The operations of an instance, and a planner that uses them."""

    asked: Successors
    planner: Planner
    led: LedInstance

    @staticmethod
    def of(model: n.Model, led: LedInstance) -> InstancePlanner:
        """A planner for an instance with its own offers."""
        return InstancePlanner.around(model, successors(model, led.instance), led)

    @staticmethod
    def open_planner(model: n.Model, instance: n.Instance) -> InstancePlanner:
        """The same, with every operation of the component and all arguments."""
        led = LedInstance.of(model, instance)
        return InstancePlanner.of(model, replace(led, instance=_offer_all(led.instance)))

    @staticmethod
    def define_planner(model: n.Model, instance: n.Instance) -> InstancePlanner:
        """The same on the definition: for few questions that is faster than compiling. `model` has
        been narrowed to the component, since to do so for each instance takes longer still."""
        led = LedInstance.of(model, instance)
        machine = Machine.of(model, _offer_all(led.instance))
        return InstancePlanner.around(model, Defined(machine), led)

    @staticmethod
    def around(model: n.Model, asked: Successors, led: LedInstance) -> InstancePlanner:
        """A planner with the given successors."""
        planner = Planner.of(model, asked.machine, Answered(asked))
        planner.prelude = led.prelude
        return InstancePlanner(asked, planner, led)

    def plan_scenario(self, scenario: n.Scenario) -> Vector | None:
        """The vector of a scenario along its first run. Raises ScenarioFails."""
        steps = follow(self.planner.model, scenario)[0].steps
        acts = [self.led.rename(self.machine, (s.operation, s.args)) for s in steps]
        branches = [s.outcome.branch for s in steps]
        title, taken = scenario.title, tuple(dict.fromkeys(branches))
        why = Why((f"scenario {title}",), "scenario", title, OPEN, taken)
        return self.planner.of_acts(acts, why, branches)

    @property
    def machine(self) -> Machine:
        """The machine of the definition."""
        return self.asked.machine

    def name(self, state: State) -> str:
        """A name for a state, equal for states that are equal up to renaming, in all instances with
        the same sizes of sorts."""
        sizes = [(name, len(members)) for name, members in self.machine.universe.sorts.items()]
        return repr((sizes, self.asked.form(state)))


def _offer_all(instance: n.Instance) -> n.Instance:
    return replace(instance, offers=(), only=())


def pair(state: str, branch: str) -> int:
    """A hash of a (state, branch) pair; `state` is the state's name."""
    told = f"{state}/{branch}".encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True)
class Answered:
    """A faster `machine.outcomes`, which keeps some. Raises NoAnswer if a rule has no value, or
    NotAssumed."""

    asked: Successors
    kept: dict[tuple[object, ...], tuple[Outcome, ...]] = field(default_factory=dict)

    def __call__(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        key = (operation, args, *state.values())
        found = self.kept.get(key)
        if found is None:
            if len(self.kept) > KEPT_MAX:
                self.kept.clear()
            found = self.kept[key] = self._compute(state, operation, args)
        return found

    def _compute(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        try:
            return self.asked.outcomes(state, operation, args)
        except NotAssumed:
            raise
        except EvaluationError as problem:
            raise NoAnswer(f"{operation}: {problem}") from None
