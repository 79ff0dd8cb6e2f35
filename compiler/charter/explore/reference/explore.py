"""Breadth-first search of everything an instance can do, and what was found on the way.

The first state that was reached stands for all states with its key, and the search goes on from
it as it is: every trace is a run of the charter, not of its quotient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.core.transition import is_of_transition
from charter.explore.reference.arguments import Arguments
from charter.explore.reference.load import FlatMachine, FlatOutcome, FlatState, Key, load
from charter.explore.reference.support import Undefined
from charter.formats.canonical import Json
from charter.semantics.faults import refuse_faults

Progress = Callable[[int, int, int], None]
"""Called now and then with distinct states, generated transitions, and the level."""

REPORT_EVERY = 4096


@dataclass(frozen=True, slots=True)
class Options:
    """`symmetry`: states up to permutations of the sorts; `renaming`: up to renaming of counters
    that keeps their order; `most_states`: where to give up (0: never)."""

    symmetry: bool = True
    renaming: bool = True
    most_states: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """One step of a trace."""

    operation: str
    args: tuple[Value, ...]
    branch: str


@dataclass(frozen=True, slots=True)
class Transition:
    """`source` and `target` number the states of the exploration; `successor` is the state that
    the action leads to, which has the key of `target`."""

    source: int
    operation: str
    args: tuple[Value, ...]
    branch: str
    reply: Value
    target: int
    successor: FlatState


Trace = tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the search says of a property, a witness, a branch or a failure: whether it was seen
    (violated, found, taken), how often, and the shortest trace there."""

    name: str
    kind: str
    seen: int
    trace: Trace | None
    detail: str = ""


@dataclass(slots=True)
class Graph:
    """The states that were kept, in the order of their discovery, and how each was reached."""

    flat: FlatMachine
    states: list[FlatState] = field(default_factory=list)
    numbers: dict[Key, int] = field(default_factory=dict)
    parents: list[tuple[int, Action | None]] = field(default_factory=list)

    def path(self, number: int) -> Trace:
        """A shortest trace to a state."""
        steps: list[Action] = []
        while True:
            number, action = self.parents[number]
            if action is None:
                return tuple(reversed(steps))
            steps.append(action)

    def add(self, state: FlatState, source: int, action: Action | None) -> int:
        """The number of `state`, which is new if it is the last."""
        key = self.flat.key(state)
        known = self.numbers.get(key)
        if known is None:
            known = self.numbers[key] = len(self.states)
            self.states.append(state)
            self.parents.append((source, action))
        return known


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result. `generated` counts transitions (of a component: one for each outcome of each
    argument list), `classes` those that are told apart by state, branch, truth of the guards'
    atoms and successor; `outside` counts transitions that leave the instance; `levels` are the
    numbers of new states at each distance from the initial one."""

    instance: str
    machine: str
    distinct: int
    generated: int
    classes: int
    outside: int
    levels: tuple[int, ...]
    complete: bool
    properties: tuple[Finding, ...]
    branches: tuple[Finding, ...]
    failures: tuple[Finding, ...]
    graph: Graph

    @property
    def fine(self) -> bool:
        """Whether the search is complete and found no violated property and no failure."""
        broken = any(f.seen for f in self.properties if f.kind != "witness")
        return self.complete and not broken and not any(f.seen for f in self.failures)

    @property
    def vacuous(self) -> tuple[str, ...]:
        """Branches that were never taken and witnesses that were never found."""
        witnesses = [f for f in self.properties if f.kind == "witness"]
        return tuple(f.name for f in (*self.branches, *witnesses) if not f.seen)

    def to_json(self) -> Json:
        """Everything but the graph."""
        return {
            "instance": self.instance,
            "machine": self.machine,
            "distinct": self.distinct,
            "generated": self.generated,
            "classes": self.classes,
            "outside": self.outside,
            "levels": list(self.levels),
            "complete": self.complete,
            "properties": [self._finding(f) for f in self.properties],
            "branches": [self._finding(f) for f in self.branches],
            "failures": [self._finding(f) for f in self.failures],
        }

    def _finding(self, finding: Finding) -> Json:
        trace: Json = None if finding.trace is None else self.trace_json(finding.trace)
        return {
            "name": finding.name,
            "kind": finding.kind,
            "seen": finding.seen,
            "detail": finding.detail,
            "trace": trace,
        }

    def trace_json(self, trace: Trace) -> list[Json]:
        """A trace with its arguments by name."""
        return self.graph.flat.machine.trace_json(trace)


@dataclass(slots=True)
class _Search:
    """The mutable half of a search."""

    graph: Graph
    generated: int = 0
    classes: int = 0
    outside: int = 0
    levels: list[int] = field(default_factory=list)
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    per_state: list[n.Property] = field(default_factory=list)
    per_transition: list[n.Property] = field(default_factory=list)

    def see(
        self, kind: str, name: str, source: int, action: Action | None, detail: str = ""
    ) -> None:
        """Count a finding; the first is the one with the shortest trace."""
        old = self.findings.get((kind, name))
        if old is not None:
            trace, seen, detail = old.trace, old.seen + 1, old.detail
        else:
            path = self.graph.path(source)
            trace, seen = (path if action is None else (*path, action)), 1
        self.findings[kind, name] = Finding(name, kind, seen, trace, detail)

    def check_state(self, number: int) -> None:
        """The properties of one state."""
        state = self.graph.states[number]
        for prop in self.per_state:
            self._check(prop, (state, state, ""), number, None)

    def check_transition(
        self, state: FlatState, source: int, action: Action, after: FlatState
    ) -> None:
        """The properties of one transition."""
        for prop in self.per_transition:
            self._check(prop, (state, after, action.branch), source, action)

    def _check(
        self,
        prop: n.Property,
        scope: tuple[FlatState, FlatState, str],
        source: int,
        action: Action | None,
    ) -> None:
        try:
            holds = self.graph.flat.properties[prop.name](*scope)
        except Undefined as problem:
            self.see("undefined", prop.name, source, action, str(problem))
            return
        if holds is (prop.kind == "witness"):
            self.see(prop.kind, prop.name, source, action)

    def found(self, kind: str, name: str) -> Finding:
        """What was found, or that nothing was."""
        return self.findings.get((kind, name)) or Finding(name, kind, 0, None)


def explore(
    model: n.Model,
    instance: n.Instance,
    options: Options = Options(),
    on_progress: Progress | None = None,
) -> Exploration:
    """Search `instance` exhaustively.

    Raises KeyError if the instance is of no machine of the model. A charter that asks for a value
    that does not exist is a finding (`failures`), as is a deadlock of a system. Raises
    ValueError for a model with faults."""
    refuse_faults(model)
    flat = load(model, instance, symmetry=options.symmetry, renaming=options.renaming)
    search = _Search(Graph(flat))
    for prop in model.properties:
        if prop.machine == instance.machine:
            chosen = search.per_transition if is_of_transition(prop) else search.per_state
            chosen.append(prop)
    complete = _run(search, options.most_states, on_progress)
    return _result(search, instance, complete)


def _run(search: _Search, most_states: int, on_progress: Progress | None) -> bool:
    """The breadth-first loop. Returns whether it came to its end."""
    graph = search.graph
    graph.add(graph.flat.initial(), 0, None)
    search.check_state(0)
    search.levels.append(1)
    expander = Expander(graph.flat)
    number, last = 0, 1
    while number < len(graph.states):
        if number == last:
            search.levels.append(len(graph.states) - last)
            last = len(graph.states)
        if most_states and len(graph.states) >= most_states:
            return False
        _expand(search, number, expander)
        number += 1
        if on_progress is not None and number % REPORT_EVERY == 0:
            on_progress(len(graph.states), search.generated, len(search.levels))
    return True


OUTSIDE = -1


def _expand(search: _Search, number: int, expander: Expander) -> None:
    graph = search.graph
    state, enabled = graph.states[number], False
    targets: dict[FlatState, int] = {}
    for operation, args, outcomes in expander.offered(state):
        if isinstance(outcomes, str):
            search.see("undefined", operation, number, Action(operation, args, ""), outcomes)
            continue
        search.generated += len(outcomes)
        enabled = enabled or bool(outcomes)
        for branch, _, after in outcomes:
            target = number if after is state else targets.get(after)
            if target is None:
                target = _reach(search, number, after, Action(operation, args, branch))
                targets[after] = target
            if target == OUTSIDE:
                search.outside += 1
            elif expander.is_new_class(operation, branch, target):
                action = Action(operation, args, branch)
                search.classes += 1
                search.see("branch", branch, number, action)
                search.check_transition(state, number, action, after)
    if not enabled and expander.flat.machine.component is None:
        search.see("deadlock", "deadlock", number, None)


def _reach(search: _Search, source: int, after: FlatState, action: Action) -> int:
    """The number of a successor, which is checked if it is new; OUTSIDE if it left its ranges."""
    graph = search.graph
    if graph.flat.outside(graph.states[source], after):
        return OUTSIDE
    size = len(graph.states)
    target = graph.add(after, source, action)
    if target == size:
        search.check_state(target)
    return target


@dataclass(slots=True)
class Expander:
    """All that can be done in a state, with equal cases told apart from new ones."""

    flat: FlatMachine
    seen: set[tuple[str, str, int, tuple[bool, ...]]] = field(default_factory=set)
    trail: tuple[bool, ...] = ()
    lists: dict[str, tuple[tuple[Value, ...], ...]] = field(default_factory=dict)

    def offered(
        self, state: FlatState
    ) -> Iterator[tuple[str, tuple[Value, ...], list[FlatOutcome] | str]]:
        """Every operation with every argument list, and its outcomes (or why there are none)."""
        self.seen.clear()
        component = self.flat.machine.component is not None
        arguments: Arguments | None = None
        for name, operate in self.flat.operations.items():
            known = self.lists.get(name)
            if known is None:
                arguments = arguments or self.flat.arguments(state)
                params = self.flat.machine.operations[name].params
                known = arguments.of(params)
                if not any(t.holds(p.type, t.Counter) for p in params):
                    self.lists[name] = known
            only = self.flat.only.get(name)
            for args in known:
                if only is not None and not only(state, args, None)[0][1]:
                    continue
                trail: list[bool] | None = [] if component else None
                try:
                    outcomes = operate(state, args, trail)
                except Undefined as problem:
                    yield name, args, str(problem)
                    continue
                if len(outcomes) > 1:
                    outcomes = distinct(outcomes)
                self.trail = tuple(trail or ())
                yield name, args, outcomes

    def is_new_class(self, operation: str, branch: str, target: int) -> bool:
        """Whether this case differs from all that were offered in this state so far. Every
        transition of a system does: its parameters are not arguments of an environment."""
        if self.flat.machine.component is None:
            return True
        case = (operation, branch, target, self.trail)
        if case in self.seen:
            return False
        self.seen.add(case)
        return True


def distinct(outcomes: list[FlatOutcome]) -> list[FlatOutcome]:
    """The outcomes without repeats, in order."""
    return list(dict.fromkeys(outcomes))


def transitions(exploration: Exploration) -> Iterator[Transition]:
    """One transition for each class, state by state; computed again, not kept."""
    graph = exploration.graph
    expander = Expander(graph.flat)
    for number, state in enumerate(graph.states):
        for operation, args, outcomes in expander.offered(state):
            if isinstance(outcomes, str):
                continue
            for branch, reply, after in outcomes:
                if graph.flat.outside(state, after):
                    continue
                target = graph.numbers.get(graph.flat.key(after))
                if target is not None and expander.is_new_class(operation, branch, target):
                    yield Transition(number, operation, args, branch, reply, target, after)


def path_to(exploration: Exploration, number: int) -> Trace:
    """A shortest trace to a state."""
    return exploration.graph.path(number)


def _result(search: _Search, instance: n.Instance, complete: bool) -> Exploration:
    graph = search.graph
    machine = graph.flat.machine
    branches = [
        f"{operation.name}/{branch.name}"
        for operation in machine.operations.values()
        if isinstance(operation, n.Operation)
        for branch in operation.branches
    ] or list(machine.operations)
    failures = [f for (kind, _), f in search.findings.items() if kind in ("undefined", "deadlock")]
    ranked = sorted(search.per_state + search.per_transition, key=machine.model.properties.index)
    return Exploration(
        instance=instance.name,
        machine=instance.machine,
        distinct=len(graph.states),
        generated=search.generated,
        classes=search.classes,
        outside=search.outside,
        levels=tuple(search.levels),
        complete=complete,
        properties=tuple(search.found(p.kind, p.name) for p in ranked),
        branches=tuple(search.found("branch", branch) for branch in branches),
        failures=tuple(failures),
        graph=graph,
    )


__all__ = [
    "Action", "Exploration", "Finding", "Graph", "Options", "Trace", "Transition", "explore",
    "path_to", "transitions",
]  # fmt: skip
