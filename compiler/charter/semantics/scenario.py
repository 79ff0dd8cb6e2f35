"""Executes scenarios on the definition; each expectation drops the runs that do not meet it."""

from __future__ import annotations

from dataclasses import dataclass

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.diagnostics import Span
from charter.semantics.evaluate import Outcome, Scope, State
from charter.semantics.machine import Machine


class ScenarioFails(Exception):
    """No run that the charter allows does what the scenario expects; `span` says where."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(f"{span.where()}: {message}")
        self.span = span


@dataclass(frozen=True, slots=True)
class Followed:
    """One operation of a scenario as it went: `outcome` is the one that the rest bears out.
    `moment` is the headline that stands over it, "" for the same as before."""

    moment: str
    operation: str
    args: tuple[Value, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is still possible: the state it has reached, and how."""

    state: State
    steps: tuple[Followed, ...]


def follow(model: n.Model, scenario: n.Scenario) -> tuple[Run, ...]:
    """Every run that bears out the whole scenario. Raises ScenarioFails where none is left."""
    machine = Machine.of(model, scenario.instance)
    runs: tuple[Run, ...] = (Run(machine.initial(), ()),)
    moment = ""
    for step in scenario.steps:
        match step:
            case n.Moment(title=title):
                moment = title
            case n.Expect(condition=condition):
                left = tuple(r for r in runs if _true(machine, condition, r.state))
                if not left:
                    raise ScenarioFails("no possible run has this", step.span)
                runs = left
            case n.Do():
                runs = tuple(after for run in runs for after in _do(machine, step, run, moment))
                if not runs:
                    raise ScenarioFails(f"{step.operation} never takes {step.branch}", step.span)
                moment = ""
    return runs


def _true(machine: Machine, condition: n.Expr, state: State) -> bool:
    return machine.evaluator.truth(condition, Scope(state), {})


def _do(machine: Machine, step: n.Do, run: Run, moment: str) -> list[Run]:
    scope = Scope(run.state)
    args = tuple(machine.evaluator.value(arg, scope, {}) for arg in step.args)
    wanted = f"{step.operation}/{step.branch}" if step.branch else ""
    return [
        Run(outcome.state, (*run.steps, Followed(moment, step.operation, args, outcome)))
        for outcome in machine.outcomes(run.state, step.operation, args)
        if not wanted or outcome.branch == wanted
    ]
