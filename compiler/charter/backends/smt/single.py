"""One step from any state that satisfies the types and the invariants: obligations with data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from charter.backends.smt.program import Options, Program, encode_component
from charter.backends.smt.reach import RLIMIT
from charter.backends.smt.replay import ReplayError, Transition, expect, read_transition
from charter.backends.smt.solve import BOUNDED, Sat, Solver, Unsat
from charter.backends.smt.terms import FALSE, Term
from charter.backends.smt.transition import BranchCode, encode_operation
from charter.backends.smt.values import Number, Scalar, Sym, Tagged
from charter.ir import nodes as n
from charter.ir import types as t
from charter.ir.obligations import Obligation
from charter.semantics.coverage import Coverage
from charter.semantics.evaluate import Scope
from charter.semantics.machine import Machine


@dataclass(frozen=True, slots=True)
class Step:
    """A transition that meets the obligation."""

    obligation: str
    transition: Transition


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No transition of the instance meets it; `core`: the lemmas that this rests on (and "start",
    if on the restriction to states that can be loaded)."""

    obligation: str
    core: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undecided:
    """The solver gave up."""

    obligation: str
    reason: str


Answered = Step | Infeasible | Undecided


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """Which transitions are looked for: `lemmas` are `always` properties that hold of the state
    before; with `loadable` it is one that a failover leaves as it is, and its ghost variables have
    their initial values."""

    wanted: tuple[Obligation, ...]
    lemmas: tuple[n.Property, ...] = ()
    loadable: bool = False


def single_step(
    machine: Machine,
    question: StepQuestion,
    options: Options | None = None,
    rlimit: int = RLIMIT,
) -> tuple[Answered, ...]:
    """An answer to each obligation, in order. Every transition is replayed on the definition; one
    that meets several obligations answers them all."""
    sites = {id(o.expr): i for i, o in enumerate(question.wanted) if o.kind == "boundary"}
    program = encode_component(machine, options or Options(), sites)
    solver = Solver(program.terms, BOUNDED, rlimit)
    solver.add(program.before_inside)
    solver.add(program.step)
    given: dict[str, tuple[Term, int]] = {
        lemma.name: (program.holds(lemma.body, program.view()), 0) for lemma in question.lemmas
    }
    if question.loadable:
        given["start"] = (loadable(program), 0)
    coverage = Coverage.of(machine, question.wanted)
    goals = Goals(program, sites)
    known: dict[str, Transition] = {}
    found: list[Answered] = []
    for obligation in question.wanted:
        if obligation.name in known:
            found.append(Step(obligation.name, known[obligation.name]))
            continue
        goal = goals.term(obligation)
        answer = solver.check({**given, obligation.name: (goal, 0)})
        match answer:
            case Sat():
                transition = read_transition(program, answer.frame(0))
                for name in _check(machine, question, coverage, obligation.name, transition):
                    known.setdefault(name, transition)
                found.append(Step(obligation.name, transition))
            case Unsat(core=core):
                rests = tuple(name for name in core if name != obligation.name)
                found.append(Infeasible(obligation.name, rests))
            case _:
                found.append(Undecided(obligation.name, answer.reason))
    return tuple(found)


def shadowed(machine: Machine, wanted: Sequence[Obligation]) -> tuple[Answered, ...]:
    """The branches that no state and no arguments reach, whatever invariants hold: earlier guards
    take everything. `wanted`: obligations, of which those for branches count."""
    branches = tuple(o for o in wanted if o.kind == "branch")
    answers = single_step(machine, StepQuestion(branches))
    return tuple(a for a in answers if not isinstance(a, Step))


def _check(
    machine: Machine, question: StepQuestion, coverage: Coverage, name: str, found: Transition
) -> frozenset[str]:
    """The obligations that a transition meets. Raises ReplayError if `name` is not among them."""
    for lemma in question.lemmas:
        what = f"lemma {lemma.name}"
        expect(machine, lemma.body, Scope(found.before), wanted=True, what=what)
    met = coverage.met(found.before, found.operation, found.args, found.branch, found.reply)
    if name not in met:
        raise ReplayError(f"{name} is not met by {found}")
    return met


def loadable(program: Program) -> Term:
    """A failover changes nothing, and the ghosts are as at the beginning."""
    terms, layout, machine = program.terms, program.layout, program.machine
    parts: list[Term] = []
    initial = machine.initial()
    for variable in program.component.state:
        if variable.kind == "ghost":
            start = layout.constant(variable.type, initial[variable.name])
            parts.append(layout.equal(program.before[variable.name], start))
    for operation in program.component.operations:
        if operation.name == "failover":
            code = encode_operation(program.encoder, program.component, operation, program.view())
            branch = code.branches[0]
            parts.append(terms.and_(branch.enabled, branch.defined))
            for name, value in branch.after.items():
                parts.append(layout.equal(program.before[name], value))
    return terms.and_(*parts)


@dataclass(frozen=True, slots=True)
class Goals:
    """Obligations as terms over one step."""

    program: Program
    sites: Mapping[int, int]

    def term(self, obligation: Obligation) -> Term:
        """That the step meets the obligation; false where its operation is not offered."""
        if obligation.kind == "boundary":
            return self._boundary(obligation)
        try:
            operation, branch = self.program.branch(obligation.branch)
        except KeyError:
            return FALSE
        match obligation.kind:
            case "branch":
                return self.program.takes(branch.name)
            case "reply":
                return self._reply(branch, obligation.member)
            case _:
                atom = branch.guard.conjuncts[obligation.conjunct][obligation.atom]
                terms = self.program.terms
                truth = atom.value if obligation.want == "true" else terms.not_(atom.value)
                called = self.program.calls(operation)
                return terms.and_(called, branch.reached, atom.defined, atom.decides, truth)

    def _reply(self, branch: BranchCode, member: str) -> Term:
        terms = self.program.terms
        kind = next(
            o.result
            for o in self.program.component.operations
            if o.name == branch.name.partition("/")[0]
        )
        return terms.and_(self.program.takes(branch.name), self._holds(kind, branch.reply, member))

    def _holds(self, kind: t.Type, reply: Sym, member: str) -> Term:
        """That a reply is an enum member, or a case of a union that has it as a parameter."""
        terms, layout = self.program.terms, self.program.layout
        match kind, reply:
            case t.Enum(members=members), Scalar(term=term) if member in members:
                return terms.eq(term, layout.word(members.index(member), len(members)))
            case t.Union(cases=cases), Tagged(tag=tag, cases=found):
                ways: list[Term] = []
                for i, ((_, params), parts) in enumerate(zip(cases, found, strict=True)):
                    here = terms.eq(tag, layout.word(i, len(cases)))
                    for (_, part), value in zip(params, parts or (), strict=bool(parts)):
                        if isinstance(part, t.Enum):
                            ways.append(terms.and_(here, self._holds(part, value, member)))
                return terms.or_(*ways)
            case _:
                return FALSE

    def _boundary(self, obligation: Obligation) -> Term:
        terms = self.program.terms
        site = self.sites[id(obligation.expr)]
        ways: list[Term] = []
        for operation in self.program.operations:
            called = self.program.calls(operation)
            for event in operation.events:
                if event.site == site:
                    side = self._side(obligation.want, event.left, event.right)
                    ways.append(terms.and_(called, event.condition, side))
        return terms.or_(*ways)

    def _side(self, want: str, left: Sym, right: Sym) -> Term:
        layout, numbers = self.program.layout, self.program.layout.numbers
        match want:
            case "equal":
                return layout.equal(left, right)
            case "unequal":
                return self.program.terms.not_(layout.equal(left, right))
            case _:
                step = numbers.constant(-1 if want == "below" else 1)
                beside = numbers.add(cast(Number, right), step)
                return numbers.equal(cast(Number, left), beside)


def always(model: n.Model, component: str) -> tuple[n.Property, ...]:
    """The `always` properties of a component: what may serve as lemmas."""
    return tuple(p for p in model.properties if p.kind == "always" and p.machine == component)
