"""Finds transitions that meet obligations, from any state that satisfies the types and the
lemmas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from charter.analysis.coverage import Coverage
from charter.core import nodes as n
from charter.core.obligations import Obligation, bound
from charter.prove.goals import Goals, find_watched_sites
from charter.prove.program import EncodingOptions, SymbolicProgram, encode_component
from charter.prove.replay import ReplayError, SolverTransition, expect, read_transition
from charter.prove.solve import BOUNDED, RLIMIT, Sat, Solver, Unsat
from charter.prove.terms import Term
from charter.prove.transition import encode_operation
from charter.prove.values import CannotEncode
from charter.semantics.machine import Machine


@dataclass(frozen=True, slots=True)
class SingleStep:
    """A transition that meets the obligation."""

    obligation: str
    transition: SolverTransition


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No transition of the instance meets it. `core`: the lemmas that the proof uses (and "start"
    if it uses the restriction to loadable states)."""

    obligation: str
    core: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undecided:
    """The solver gave up."""

    obligation: str
    reason: str


Answered = SingleStep | Infeasible | Undecided


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """The obligations to meet. The state before satisfies the `always` properties `lemmas`; with
    `loadable` it is also unchanged by a failover, and ghost variables have their initial values."""

    wanted: tuple[Obligation, ...]
    lemmas: tuple[n.Property, ...] = ()
    loadable: bool = False


def single_step(
    machine: Machine,
    question: StepQuestion,
    options: EncodingOptions | None = None,
    rlimit: int = RLIMIT,
) -> tuple[Answered, ...]:
    """An answer to each obligation, in order. Every transition is replayed on the definition; one
    that meets several obligations answers them all."""
    if machine.component is None:
        raise CannotEncode(f"{machine.instance.machine} is a system")
    wanted = bound(machine.model, machine.component, question.wanted)
    sites = find_watched_sites(wanted)
    program = encode_component(machine, options or EncodingOptions(), sites)
    solver = Solver(program.terms, BOUNDED, rlimit)
    solver.add(program.before_inside)
    solver.add(program.step)
    given: dict[str, tuple[Term, int]] = {
        lemma.name: (program.holds(lemma.body, program.view()), 0) for lemma in question.lemmas
    }
    if question.loadable:
        given["start"] = (loadable(program), 0)
    coverage = Coverage.of(machine, wanted)
    goals = Goals(program, sites)
    known: dict[str, SolverTransition] = {}
    found: list[Answered] = []
    for obligation in wanted:
        if obligation.name in known:
            found.append(SingleStep(obligation.name, known[obligation.name]))
            continue
        goal = goals.term(obligation)
        answer = solver.check({**given, obligation.name: (goal, 0)})
        match answer:
            case Sat():
                transition = read_transition(program, answer.frame(0))
                for name in _check(machine, question, coverage, obligation.name, transition):
                    known.setdefault(name, transition)
                found.append(SingleStep(obligation.name, transition))
            case Unsat(core=core):
                rests = tuple(name for name in core if name != obligation.name)
                found.append(Infeasible(obligation.name, rests))
            case _:
                found.append(Undecided(obligation.name, answer.reason))
    return tuple(found)


def find_shadowed(machine: Machine, wanted: Sequence[Obligation]) -> tuple[Answered, ...]:
    """The branches that no state and arguments reach, without assuming invariants: earlier guards
    cover them. Of the obligations `wanted` only those for branches are used."""
    branches = tuple(o for o in wanted if o.kind == "branch")
    answers = single_step(machine, StepQuestion(branches))
    return tuple(a for a in answers if not isinstance(a, SingleStep))


def _check(
    machine: Machine, question: StepQuestion, coverage: Coverage, name: str, found: SolverTransition
) -> frozenset[str]:
    """The obligations that a transition meets. Raises ReplayError if `name` is not among them."""
    for lemma in question.lemmas:
        what = f"lemma {lemma.name}"
        expect(machine, lemma.body, machine.scope(found.before), wanted=True, what=what)
    met = coverage.list_met(found.before, found.operation, found.args, found.outcome)
    if name not in met:
        raise ReplayError(f"{name} is not met by {found}")
    return met


def loadable(program: SymbolicProgram) -> Term:
    """The condition that a failover changes nothing and ghost variables have their initial
    values."""
    terms, types, machine = program.terms, program.types, program.machine
    parts: list[Term] = []
    initial = machine.initial()
    for variable in program.component.state:
        if variable.kind == "ghost":
            start = types.constant(variable.type, initial[variable.name])
            parts.append(types.equal(program.before[variable.name], start))
    for operation in program.component.operations:
        if operation.name == "failover":
            code = encode_operation(program.encoder, program.component, operation, program.view())
            branch = code.branches[0]
            parts.append(terms.and_(branch.enabled, branch.defined))
            for name, value in branch.after.items():
                parts.append(types.equal(program.before[name], value))
    return terms.and_(*parts)
