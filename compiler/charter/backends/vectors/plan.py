"""Which vectors a suite holds: scenarios, witnesses, transitions, and what a search has found.

Transitions come from an exploration of a small instance as plain data, so that this backend knows
nothing of how they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from charter.backends.vectors.answer import NoAnswer, Outcomes, answer
from charter.backends.vectors.question import Act, NoQuestion, ask
from charter.formats.canonical import Json
from charter.formats.vector import Vector, Why
from charter.ir import nodes as n
from charter.ir.nodes import Model, Value
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import State
from charter.semantics.machine import Machine
from charter.semantics.story import Told, follow

OPEN = "open environment"


@dataclass(frozen=True, slots=True)
class Step:
    """One transition of an instance: from a state (and how to get there) by an operation."""

    state: State
    path: Callable[[], Sequence[Act]]
    operation: str
    args: tuple[Value, ...]
    branch: str
    reply: Value


@dataclass(slots=True)
class Planner:
    """Makes vectors of one component. `refused` counts what could not be asked or answered, and
    says why, once for each reason."""

    model: Model
    machine: Machine
    outcomes: Outcomes
    refused: dict[str, int] = field(default_factory=dict)

    def scenario(self, scenario: n.Scenario) -> Vector | None:
        """The vector of a scenario, along its first run. Raises ScenarioFails."""
        told = follow(self.model, scenario)[0].told
        acts = [(t.operation, t.args) for t in told]
        why = Why((f"scenario {scenario.title}",), "scenario", scenario.title, OPEN, _taken(told))
        return self.walk(acts, why, [t.outcome.branch for t in told])

    def walk(self, acts: Sequence[Act], why: Why, branches: Sequence[str] = ()) -> Vector | None:
        """A vector that starts where the instance does and goes through `acts`; `branches` says
        which way the trace went where several are allowed."""
        start = self.machine.initial()
        given = None
        if self.machine.instance.starts:
            given = self.machine.durable_json(start)
            start = self.machine.loaded(start)
        try:
            return self._vector(self._trace(start, acts, branches), given, why)
        except (NoQuestion, NoAnswer, EvaluationError) as problem:
            self._refuse(problem)
            return None

    def loaded(self, step: Step, why: Why) -> Vector | None:
        """The vector of one transition: its state is loaded, or where loading would forget
        something (volatile state), reached by the operations on its path."""
        again = self.machine.loaded(step.state)
        shown = [v.name for v in self.machine.variables if v.kind != "ghost"]
        try:
            if all(again[name] == step.state[name] for name in shown):
                given = self.machine.durable_json(step.state)
                return self._vector([(again, (step.operation, step.args))], given, why)
            acts = (*step.path(), (step.operation, step.args))
        except (NoQuestion, NoAnswer, EvaluationError) as problem:
            self._refuse(problem)
            return None
        return self.walk(acts, why)

    def _trace(
        self, start: State, acts: Sequence[Act], branches: Sequence[str]
    ) -> list[tuple[State, Act]]:
        """Each act with the state it is done in, along the outcomes that `branches` names (the
        first outcome, where it names none)."""
        trace: list[tuple[State, Act]] = []
        state = start
        for number, (operation, args) in enumerate(acts):
            trace.append((state, (operation, args)))
            wanted = branches[number] if number < len(branches) else ""
            found = self.outcomes(state, operation, args)
            state = next((o.state for o in found if o.branch == wanted), found[0].state)
        return trace

    def _vector(self, trace: Sequence[tuple[State, Act]], given: Json, why: Why) -> Vector:
        question = ask(self.model, self.machine, trace, given)
        return Vector(question, answer(self.machine, question, self.outcomes), why)

    def _refuse(self, problem: Exception) -> None:
        reason = f"{type(problem).__name__}: {problem}"
        self.refused[reason] = self.refused.get(reason, 0) + 1


def _taken(told: Sequence[Told]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(t.outcome.branch for t in told))


def loaded_vectors(planner: Planner, steps: Iterator[Step]) -> Iterator[Vector]:
    """The vectors of the transitions of an instance."""
    for step in steps:
        why = Why((f"branch {step.branch}",), "exploration", "", OPEN, ())
        vector = planner.loaded(step, why)
        if vector is not None:
            yield vector
