"""Defines the interface for successors of single states; used by walks, suites and the reference
search."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from charter.analysis.canonical import Canonical
from charter.analysis.narrowed_machine import open_machine
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.result import SearchFindings, Trace, TraceStep
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import Scope, State
from charter.semantics.machine import Machine


class Successors(Protocol):
    """The operations of a machine in an instance."""

    @property
    def machine(self) -> Machine: ...

    def outcomes(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        """As `Machine.outcomes`. Raises EvaluationError."""

    def form(self, state: State) -> Hashable:
        """Equal for states that are equal up to renaming."""

    def holds(self, prop: n.Property, scope: Scope) -> bool:
        """As `Machine.holds`. Raises EvaluationError."""


@dataclass(frozen=True, slots=True)
class Defined:
    """Successors computed by the definition, for a machine whose model has been narrowed to it."""

    machine: Machine
    _canonical: list[Canonical] = field(default_factory=list, repr=False, compare=False)
    """Made when it is first needed: that takes longer than to answer a few questions without it."""

    @staticmethod
    def of(model: n.Model, instance: n.Instance) -> Defined:
        """The successors of an instance of a model."""
        return Defined(open_machine(model, instance))

    def outcomes(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        """As `Machine.outcomes`. Raises EvaluationError."""
        return self.machine.outcomes(state, operation, args)

    def form(self, state: State) -> Hashable:
        """Equal for states that are equal up to renaming."""
        if not self._canonical:
            self._canonical.append(Canonical.of(self.machine))
        return self._canonical[0].form(state)

    def holds(self, prop: n.Property, scope: Scope) -> bool:
        """As `Machine.holds`. Raises EvaluationError."""
        return self.machine.holds(prop, scope)


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition out of the state with number `source`."""

    source: int
    step: TraceStep
    reply: Value


class StateGraph(Protocol):
    """All states of an instance in the order of a breadth-first search, as they were first
    reached."""

    @property
    def found(self) -> SearchFindings: ...
    @property
    def states(self) -> Sequence[State]: ...
    @property
    def successors(self) -> Successors: ...

    def cases(self) -> Iterator[Transition]:
        """The transitions of each state, one for each class: in a class, branch, target up to
        renaming, and the values of all guard conditions are equal."""

    def arrival(self, number: int) -> tuple[int, TraceStep]:
        """The state and the step from which a state (not the initial one) was first reached."""


def path(graph: StateGraph, number: int) -> Trace:
    """A shortest trace to a state."""
    steps: list[TraceStep] = []
    while number:
        number, step = graph.arrival(number)
        steps.append(step)
    return tuple(reversed(steps))


def witnesses(graph: StateGraph) -> Sequence[tuple[str, Trace]]:
    """A shortest trace to each witness that was found."""
    found = graph.found.properties
    return [(p.name, p.trace) for p in found if p.kind == "witness" and p.trace is not None]
