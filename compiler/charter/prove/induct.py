"""Proves by one-step induction, with unbounded counters, that steps preserve properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from charter.core import nodes as n
from charter.prove.program import EncodingOptions, SymbolicProgram, encode_component
from charter.prove.replay import ReplayError, SolverTransition, expect, read_transition
from charter.prove.solve import RLIMIT, UNBOUNDED, Sat, Solver, Unsat
from charter.prove.terms import Term
from charter.semantics.builtins import EvaluationError
from charter.semantics.machine import Machine


@dataclass(frozen=True, slots=True)
class Proved:
    """The property holds after every step from a state where it and the lemmas hold, for all values
    of counters, for these sizes of sorts; `core` names the assumptions of the proof. An `always`
    property holds initially too, so together with lemmas that are proved it holds in every
    reachable state."""

    rule: str
    core: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotInductive:
    """A step that breaks the property from a state where it and the lemmas hold; the state need
    not be reachable."""

    rule: str
    transition: SolverTransition


@dataclass(frozen=True, slots=True)
class FalseInitially:
    """The initial state violates the property."""

    rule: str


@dataclass(frozen=True, slots=True)
class NotProved:
    """The solver gave up."""

    rule: str
    reason: str


Inducted = Proved | NotInductive | FalseInitially | NotProved


def induction(
    machine: Machine,
    prop: n.Property,
    lemmas: Sequence[n.Property] = (),
    rlimit: int = RLIMIT,
) -> Inducted:
    """Whether every step preserves `prop` (`always`) or satisfies it (`stepwise`), if the `always`
    lemmas hold in the state before. Raises ValueError for a witness."""
    if prop.kind == "witness":
        raise ValueError(f"{prop.name} is a witness")
    if prop.kind == "always" and not machine.holds(prop, machine.scope(machine.initial())):
        return FalseInitially(prop.name)
    program = encode_component(machine, EncodingOptions(integers=True))
    solver = Solver(program.terms, UNBOUNDED, rlimit)
    solver.add(program.before_inside)
    solver.add(program.step)
    assumed = [*lemmas, prop] if prop.kind == "always" else list(lemmas)
    given = {
        lemma.name: (program.holds(lemma.body, program.view()), 0)
        for lemma in {a.name: a for a in assumed}.values()
    }
    goal = f"not {prop.name}"
    answer = solver.check({**given, goal: (_encode_broken(program, prop), 0)})
    match answer:
        case Sat():
            transition = read_transition(program, answer.frame(0))
            _check(machine, prop, assumed, transition)
            return NotInductive(prop.name, transition)
        case Unsat(core=core):
            return Proved(prop.name, tuple(name for name in core if name != goal))
        case _:
            return NotProved(prop.name, answer.reason)


def _encode_broken(program: SymbolicProgram, prop: n.Property) -> Term:
    """That the property is false of the step, or has no value."""
    view = program.view_after() if prop.kind == "always" else program.view(after=True)
    return program.terms.not_(program.holds(prop.body, view))


def _check(
    machine: Machine, prop: n.Property, assumed: Sequence[n.Property], found: SolverTransition
) -> None:
    for lemma in assumed:
        what = f"lemma {lemma.name}"
        expect(machine, lemma.body, machine.scope(found.before), wanted=True, what=what)
    scope = machine.scope(found.before, found.after, found.branch, found.args)
    if prop.kind == "always":
        scope = machine.scope(found.after)
    try:
        kept = machine.holds(prop, scope)
    except EvaluationError:
        return
    if kept:
        raise ReplayError(f"{prop.name} holds after {found}")


@dataclass(frozen=True, slots=True)
class Invariants:
    """`proved`: properties that hold together in every reachable state. `open`: the others, each
    with the reason: a step that violates it although the properties that were not dropped before it
    hold."""

    proved: tuple[str, ...]
    open: tuple[Inducted, ...]


def invariants(machine: Machine, props: Sequence[n.Property], rlimit: int = RLIMIT) -> Invariants:
    """The largest set of `always` properties that is inductive together: properties that a step
    violates are dropped until there are none. An obligation that is infeasible under lemmas is
    proved infeasible if all of these are proved."""
    kept = list(props)
    dropped: list[Inducted] = []
    while True:
        found = [induction(machine, prop, kept, rlimit) for prop in kept]
        broken = [answer for answer in found if not isinstance(answer, Proved)]
        if not broken:
            return Invariants(tuple(p.name for p in kept), tuple(dropped))
        dropped += broken
        names = {answer.rule for answer in broken}
        kept = [prop for prop in kept if prop.name not in names]
