"""Checks a model up to a bound from the initial state: one solver, extended by one step at a
time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from charter.analysis.coverage import Coverage
from charter.core import nodes as n
from charter.core.obligations import Obligation, bound
from charter.diagnostics import Span
from charter.prove.goals import Goals, find_watched_sites
from charter.prove.program import EncodingOptions, SymbolicProgram, encode_component
from charter.prove.replay import (
    ReplayError,
    SolverTransition,
    expect,
    read_transition,
)
from charter.prove.solve import BOUNDED, RLIMIT, Sat, Solver, Unknown
from charter.prove.terms import Term
from charter.prove.values import CannotEncode
from charter.semantics.machine import Machine


@dataclass(frozen=True, slots=True)
class Takes:
    """A step takes the branch `operation/branch`."""

    branch: str

    @property
    def name(self) -> str:
        """What results are called by."""
        return f"takes {self.branch}"


@dataclass(frozen=True, slots=True)
class Violates:
    """A property is violated: by a state if it is `always`, else by a step."""

    rule: str

    @property
    def name(self) -> str:
        """What results are called by."""
        return f"violates {self.rule}"


@dataclass(frozen=True, slots=True)
class Holds:
    """An expression over the state before, the state after and the branch taken is true."""

    name: str
    body: n.Expr


@dataclass(frozen=True, slots=True)
class Meets:
    """The step meets an obligation."""

    obligation: Obligation

    @property
    def name(self) -> str:
        """What results are called by."""
        return self.obligation.name


Goal = Takes | Violates | Holds | Meets


@dataclass(frozen=True, slots=True)
class Trace:
    """A shortest run from the initial state whose last step meets the goal; without steps the
    initial state meets it."""

    goal: str
    steps: tuple[SolverTransition, ...]


@dataclass(frozen=True, slots=True)
class NotWithinDepth:
    """No run of at most `depth` steps inside the instance meets the goal."""

    goal: str
    depth: int


@dataclass(frozen=True, slots=True)
class Open:
    """The solver gave up on runs of `depth` steps; no shorter one meets the goal."""

    goal: str
    depth: int
    reason: str


Reached = Trace | NotWithinDepth | Open


def find_property(model: n.Model, name: str) -> n.Property:
    """A property by its name. Raises KeyError."""
    for prop in model.properties:
        if prop.name == name:
            return prop
    raise KeyError(name)


def meets(program: SymbolicProgram, goal: Goal, sites: Mapping[Span, int]) -> Term:
    """The condition that the step meets the goal. An `always` property is evaluated in the state
    after."""
    match goal:
        case Takes(branch=branch):
            return program.takes(branch)
        case Violates(rule=name):
            prop = find_property(program.machine.model, name)
            if prop.kind == "always":
                return program.fails(prop.body, program.view_after())
            return program.fails(prop.body, program.view(after=True))
        case Holds(body=body):
            return program.holds(body, program.view(after=True))
        case Meets(obligation=obligation):
            return Goals(program, sites).term(obligation)
        case _:
            assert_never(goal)


def reach(
    machine: Machine,
    goals: Sequence[Goal],
    depth: int,
    options: EncodingOptions | None = None,
    rlimit: int = RLIMIT,
) -> tuple[Reached, ...]:
    """The shortest run to each goal, of at most `depth` steps; results in the order of `goals`."""
    goals = _own(machine, goals)
    sites = find_watched_sites(g.obligation for g in goals if isinstance(g, Meets))
    program = encode_component(machine, options or EncodingOptions(), sites)
    solver = Solver(program.terms, BOUNDED, rlimit)
    initial = machine.initial()
    solver.add(program.before_inside)
    solver.add(program.is_state(initial))
    found: dict[str, Reached] = {}
    for goal in goals:
        if _initially(machine, goal):
            found[goal.name] = Trace(goal.name, ())
    wanted = {goal.name: (goal, meets(program, goal, sites)) for goal in goals}
    for frame in range(depth):
        solver.add(program.step, frame)
        for name, (goal, term) in wanted.items():
            if name in found:
                continue
            answer = solver.check({name: (term, frame)})
            match answer:
                case Sat():
                    found[name] = _trace(program, goal, answer, frame)
                case Unknown(reason=reason):
                    found[name] = Open(name, frame + 1, reason)
                case _:
                    pass
    return tuple(found.get(goal.name, NotWithinDepth(goal.name, depth)) for goal in goals)


def _own(machine: Machine, goals: Sequence[Goal]) -> tuple[Goal, ...]:
    """The goals, with obligations replaced by the same ones of this model."""
    if machine.component is None:
        raise CannotEncode(f"{machine.instance.machine} is a system")
    asked = [goal.obligation for goal in goals if isinstance(goal, Meets)]
    own = {o.name: o for o in bound(machine.model, machine.component, asked)}
    return tuple(Meets(own[g.obligation.name]) if isinstance(g, Meets) else g for g in goals)


def _initially(machine: Machine, goal: Goal) -> bool:
    if not isinstance(goal, Violates):
        return False
    prop = find_property(machine.model, goal.rule)
    return prop.kind == "always" and not machine.holds(prop, machine.scope(machine.initial()))


def _trace(program: SymbolicProgram, goal: Goal, answer: Sat, last: int) -> Trace:
    steps = tuple(read_transition(program, answer.frame(i)) for i in range(last + 1))
    before = program.machine.initial()
    for step in steps:
        if dict(step.before) != dict(before):
            raise ReplayError(f"{goal.name}: the steps do not follow one another")
        before = step.after
    check_goal(program.machine, goal, steps[-1])
    return Trace(goal.name, steps)


def check_goal(machine: Machine, goal: Goal, step: SolverTransition) -> None:
    """Raises ReplayError unless the definition agrees that the step meets the goal."""
    both = machine.scope(step.before, step.after, step.branch, step.args)
    match goal:
        case Takes(branch=branch):
            if step.branch != branch:
                raise ReplayError(f"{goal.name}: the step takes {step.branch}")
        case Violates(rule=name):
            prop = find_property(machine.model, name)
            scope = machine.scope(step.after) if prop.kind == "always" else both
            expect(machine, prop.body, scope, wanted=False, what=goal.name)
        case Holds(body=body):
            expect(machine, body, both, wanted=True, what=goal.name)
        case Meets(obligation=obligation):
            coverage = Coverage.of(machine, (obligation,))
            if not coverage.list_met(step.before, step.operation, step.args, step.outcome):
                raise ReplayError(f"{goal.name} is not met by {step}")
        case _:
            assert_never(goal)
