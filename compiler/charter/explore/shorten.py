"""Shortens a trace that ends in a failure: drops the steps that the failure does not need.

A shortened trace is a run of the instance: each of its steps is offered in the state before it. No
single step can be dropped from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from charter.analysis.environment import Arguments, offers
from charter.core import nodes as n
from charter.core import types as t
from charter.core.transition import is_of_transition
from charter.explore.result import Trace, TraceStep
from charter.explore.successors import Successors
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import Scope, State

_RUNS = 64
"""The most runs that are followed if a trace has several: its steps name only their branches."""


def shorten(asked: Successors, prop: n.Property, trace: Trace) -> Trace:
    """The trace, after which `prop` fails, without the steps that this does not need. The last
    steps are dropped first; a step may become needless when an earlier one is dropped, so all are
    tried again until none can be dropped."""
    replay = _Replay(asked, prop)
    before = None
    while before != trace:
        before = trace
        for position in reversed(range(len(trace))):
            shorter = (*trace[:position], *trace[position + 1 :])
            if replay.fails(shorter):
                trace = shorter
    return trace


@dataclass(frozen=True, slots=True)
class _Replay:
    """Follows traces of an instance, and checks one property."""

    asked: Successors
    prop: n.Property

    def fails(self, trace: Trace) -> bool:
        """Whether the trace is a run of the instance after which the property fails."""
        of_transition = is_of_transition(self.prop)
        if of_transition and not trace:
            return False
        first = self.asked.machine.initial()
        states, runs = [first], [self.asked.machine.scope(first, first)]
        try:
            for step in trace:
                runs = [run for state in states for run in self._take(state, step)][:_RUNS]
                states = [run.after for run in runs if run.after is not None]
            if not of_transition:
                runs = [self.asked.machine.scope(state, state) for state in states]
            return any(not self.asked.holds(self.prop, run) for run in runs)
        except EvaluationError:
            return False

    def _take(self, state: State, step: TraceStep) -> list[Scope]:
        """The transitions of a step out of a state; none if the instance does not offer it."""
        machine = self.asked.machine
        if not self._is_offered(state, step):
            return []
        return [
            machine.scope(state, outcome.state, outcome.branch, step.args)
            for outcome in self.asked.outcomes(state, step.operation, step.args)
            if outcome.branch == step.branch and not machine.outside(outcome.state)
        ]

    def _is_offered(self, state: State, step: TraceStep) -> bool:
        """Whether the instance offers the step. Only which counter values are arguments depends on
        the state."""
        machine = self.asked.machine
        params = machine.operations[step.operation].params
        counts = any(t.holds(param.type, t.Counter) for param in params)
        if counts and step.args not in Arguments.at(machine, state).of(params):
            return False
        return offers(machine, state, step.operation, step.args)
