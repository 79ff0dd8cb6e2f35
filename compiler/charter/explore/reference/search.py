"""Searches breadth-first over the definition: short enough to be read, and slow.

The first state that is reached represents all states with its canonical form, and the search
continues from this state itself, so every trace is a run of the charter and not only of its
quotient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from charter.analysis.canonical import Canonical, Form
from charter.analysis.environment import is_cut, list_offered, unrestrict
from charter.analysis.known_faults import refuse_faults
from charter.analysis.narrowed_machine import open_machine
from charter.core import nodes as n
from charter.core.transition import is_of_transition
from charter.explore.result import (
    CheckResult,
    Counts,
    FirstViolation,
    Kind,
    SearchFindings,
    Trace,
    TraceStep,
    is_wrong,
)
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import Scope, State
from charter.semantics.machine import Machine

Progress = Callable[[int, int, int], None]
"""Called now and then with distinct states, generated transitions, and the level."""

REPORT_EVERY = 256
OUTSIDE = -1


@dataclass(frozen=True, slots=True)
class ReferenceOptions:
    """`symmetry`: states up to permutations of the sorts; `renaming`: up to renaming of counters
    that keeps their order; `most_states`: where to stop (0: never); `on_violation`: called
    when a property turns out to be violated."""

    symmetry: bool = True
    renaming: bool = True
    most_states: int = 0
    on_violation: Callable[[FirstViolation], None] | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A step that changes the state; `target` is OUTSIDE if it leaves the instance."""

    target: int
    step: TraceStep


@dataclass(slots=True)
class ReferenceGraph:
    """The states in the order of discovery, how each was reached, and the edges of expanded
    states."""

    machine: Machine
    canonical: Canonical
    states: list[State] = field(default_factory=list)
    numbers: dict[Form, int] = field(default_factory=dict)
    parents: list[tuple[int, TraceStep | None]] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)

    def path(self, number: int) -> Trace:
        """A shortest trace to a state."""
        steps: list[TraceStep] = []
        while True:
            number, step = self.parents[number]
            if step is None:
                return tuple(reversed(steps))
            steps.append(step)

    def add(self, state: State, source: int, step: TraceStep | None) -> int:
        """The number of `state`, which is new if it is the last."""
        form = self.canonical.form(state)
        known = self.numbers.get(form)
        if known is None:
            known = self.numbers[form] = len(self.states)
            self.states.append(state)
            self.parents.append((source, step))
        return known


@dataclass(frozen=True, slots=True)
class ReferenceExploration(SearchFindings):
    """The result of a reference search, and its graph."""

    graph: ReferenceGraph


@dataclass(slots=True)
class _RunningSearch:
    """The state of a search; `whole` is the machine where no step is left out."""

    graph: ReferenceGraph
    of_states: tuple[n.Property, ...]
    of_transitions: tuple[n.Property, ...]
    whole: Machine | None
    generated: int = 0
    outside: int = 0
    cut: int = 0
    levels: list[int] = field(default_factory=list)
    findings: dict[tuple[Kind, str], CheckResult] = field(default_factory=dict)
    on_violation: Callable[[FirstViolation], None] | None = None

    def see(
        self, kind: Kind, name: str, at: tuple[int, TraceStep | None], detail: str = ""
    ) -> None:
        """Count a finding. The first one has a shortest trace."""
        old = self.findings.get((kind, name))
        if old is not None:
            self.findings[kind, name] = CheckResult(kind, name, old.seen + 1, old.trace, old.detail)
            return
        source, step = at
        path = self.graph.path(source)
        trace = path if step is None else (*path, step)
        found = self.findings[kind, name] = CheckResult(kind, name, 1, trace, detail)
        if self.on_violation is not None and is_wrong(found):
            self.on_violation(FirstViolation(kind, name, len(trace), len(self.graph.states)))

    def check(self, scope: Scope, at: tuple[int, TraceStep | None]) -> None:
        """Check the properties of a state or, with a step, of a transition."""
        for prop in self.of_states if at[1] is None else self.of_transitions:
            try:
                holds = self.graph.machine.holds(prop, scope)
            except EvaluationError as problem:
                self.see("undefined", prop.name, at, str(problem))
                continue
            if holds is (prop.kind == "witness"):
                self.see(prop.kind, prop.name, at)

    def reach(self, after: State, source: int, step: TraceStep | None) -> int:
        """The number of a state, which is checked if it is new; OUTSIDE if it left its ranges."""
        if self.graph.machine.outside(after):
            return OUTSIDE
        size = len(self.graph.states)
        target = self.graph.add(after, source, step)
        if target == size:
            self.check(self.graph.machine.scope(after, after), (target, None))
        return target

    def expand(self, number: int) -> None:
        """The transitions out of a state."""
        graph, enabled = self.graph, False
        machine, state = graph.machine, graph.states[number]
        graph.edges.append([])

        def note(operation: str, args: tuple[n.Value, ...], problem: EvaluationError) -> None:
            step = TraceStep(operation, args, "")
            self.see("undefined", operation, (number, step), str(problem))

        for operation, args in list_offered(machine, state, note):
            try:
                outcomes = machine.outcomes(state, operation, args)
            except EvaluationError as problem:
                note(operation, args, problem)
                continue
            self.generated += len(outcomes)
            enabled = enabled or bool(outcomes)
            for outcome in outcomes:
                self.take(number, TraceStep(operation, args, outcome.branch), outcome.state)
        if not enabled and machine.component is None:
            if is_cut(machine, self.whole, state):
                self.cut += 1
            else:
                self.see("deadlock", "deadlock", (number, None))

    def take(self, number: int, step: TraceStep, after: State) -> None:
        """One transition."""
        state = self.graph.states[number]
        target = number if after == state else self.reach(after, number, step)
        if after != state:
            self.graph.edges[number].append(Edge(target, step))
        if target == OUTSIDE:
            self.outside += 1
            return
        self.see("branch", step.branch, (number, step))
        scope = self.graph.machine.scope(state, after, step.branch, step.args)
        self.check(scope, (number, step))

    def run(self, most: int, on_progress: Progress | None) -> bool:
        """The breadth-first loop. Returns whether it came to its end."""
        states, first = self.graph.states, self.graph.machine.initial()
        self.graph.add(first, 0, None)
        self.check(self.graph.machine.scope(first, first), (0, None))
        number = last = 0
        while number < len(states):
            if number == last:
                self.levels.append(len(states) - last)
                last = len(states)
            if most and len(states) >= most:
                self.levels.append(len(states) - last)
                return False
            self.expand(number)
            number += 1
            if on_progress is not None and number % REPORT_EVERY == 0:
                on_progress(len(states), self.generated, len(self.levels))
        return True


def explore(
    model: n.Model,
    instance: n.Instance,
    options: ReferenceOptions = ReferenceOptions(),
    on_progress: Progress | None = None,
) -> ReferenceExploration:
    """Search `instance` exhaustively.

    Raises KeyError if the instance is of no machine of the model, ValueError for a model with
    faults. A charter that asks for a value that does not exist is a finding (`failures`), as is a
    deadlock of a system."""
    refuse_faults(model)
    machine = open_machine(model, instance)
    canonical = Canonical.of(machine, symmetry=options.symmetry, renaming=options.renaming)
    properties = machine.model.properties
    search = _RunningSearch(
        ReferenceGraph(machine, canonical),
        tuple(prop for prop in properties if not is_of_transition(prop)),
        tuple(prop for prop in properties if is_of_transition(prop)),
        unrestrict(machine),
        on_violation=options.on_violation,
    )
    complete = search.run(options.most_states, on_progress)

    def count_found(kind: Kind, name: str) -> CheckResult:
        return search.findings.get((kind, name)) or CheckResult(kind, name, 0)

    failures = [f for (kind, _), f in search.findings.items() if kind in ("undefined", "deadlock")]
    levels = tuple(count for count in search.levels if count)
    counts = Counts(
        len(search.graph.states), search.generated, search.outside, levels, complete, search.cut
    )
    return ReferenceExploration(
        counts,
        tuple(count_found(prop.kind, prop.name) for prop in properties),
        tuple(count_found("branch", label) for label in machine.labels),
        tuple(failures),
        search.graph,
    )
