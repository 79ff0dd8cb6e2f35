"""Finds the first step where two models of one component differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import nodes, operation_expressions
from charter.prove.program import EncodingOptions, SymbolicProgram, build, possible
from charter.prove.replay import ReplayError, SolverTransition, expect, read_transition
from charter.prove.single_step import loadable
from charter.prove.solve import BOUNDED, RLIMIT, Sat, Solver, Unsat
from charter.prove.terms import Term, Terms
from charter.prove.terms_of_types import TermsOfTypes
from charter.prove.transition import BranchCode
from charter.prove.values import CannotEncode, Fields, Maybe, Sym
from charter.semantics.builtins import EvaluationError
from charter.semantics.machine import Machine

MOST_ROUNDS = 256
"""The most candidates that turn out to be allowed by both models before the search gives up."""

Paths = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Difference:
    """After `steps`, which both models allow, `transition` is allowed by only one of them (`by`).
    The other allows no transition with the same reply and observation either."""

    steps: tuple[SolverTransition, ...]
    transition: SolverTransition
    by: Literal["first", "second"]


@dataclass(frozen=True, slots=True)
class NoDifference:
    """No difference within `depth` steps, or (0) in one step from any state in question."""

    depth: int
    core: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unclear:
    """The solver gave up after `depth` steps without a difference."""

    depth: int
    reason: str


Compared = Difference | NoDifference | Unclear


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """With a `depth`: compare runs from the initial state of the first model. With 0: compare one
    step from any state that satisfies the `lemmas` (and, if `loadable`, is unchanged by a
    failover). `whole`: compare all of the state, not only observables."""

    depth: int = 0
    lemmas: tuple[n.Property, ...] = ()
    loadable: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _Pair:
    first: SymbolicProgram
    second: SymbolicProgram
    shown: tuple[tuple[n.StateVar, Paths], ...]


def distinguish(
    machines: tuple[Machine, Machine],
    question: PairQuestion,
    options: EncodingOptions | None = None,
    rlimit: int = RLIMIT,
) -> Compared:
    """The first observable difference between two models, replayed on both definitions. Raises
    CannotEncode where their states or signatures differ."""
    pair = _encode(machines, question, options or EncodingOptions())
    if question.depth and dict(machines[0].initial()) != dict(machines[1].initial()):
        raise CannotEncode("the initial states differ")
    first = pair.first
    solver = Solver(first.terms, BOUNDED, rlimit)
    solver.add(first.before_inside)
    search = _DifferenceSearch(pair, question, solver, _both_sides(pair), {})
    if question.depth:
        solver.add(first.is_state(machines[0].initial()))
        for frame in range(question.depth):
            found = search.at(frame)
            if not isinstance(found, NoDifference):
                return found
            solver.add(first.step, frame)
        return NoDifference(question.depth)
    search.given.update(
        {lemma.name: first.holds(lemma.body, first.view()) for lemma in question.lemmas}
    )
    if question.loadable:
        search.given["start"] = loadable(first)
    return search.at(0)


@dataclass(frozen=True, slots=True)
class _Match:
    """The condition `term` that a branch of the other program has the same outcome as `taken`, for
    some values of its `choices`."""

    taken: Term
    term: Term
    choices: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class _OneSided:
    """The condition that `one` program has a step that the other does not allow: `start`, and no
    match. Matches are refuted for the choices of each candidate in turn."""

    one: SymbolicProgram
    other: SymbolicProgram
    by: Literal["first", "second"]
    start: Term
    matches: Mapping[tuple[str, str], _Match]


@dataclass(slots=True)
class _DifferenceSearch:
    """Alternates between guessing a step of one program and refuting it by choices of the other,
    until one of the two is impossible."""

    pair: _Pair
    question: PairQuestion
    solver: Solver
    one_sided: tuple[_OneSided, ...]
    given: dict[str, Term]
    refused: list[Term] = field(default_factory=list)

    def at(self, frame: int) -> Compared:
        """The first difference in the step of a frame."""
        terms = self.pair.first.terms
        given = {name: (term, frame) for name, term in self.given.items()}
        starts = terms.or_(*(c.start for c in self.one_sided))
        for _ in range(MOST_ROUNDS):
            goal = terms.and_(starts, *self.refused)
            answer = self.solver.check({**given, "difference": (goal, frame)})
            match answer:
                case Unsat(core=core):
                    return NoDifference(frame, tuple(name for name in core if name != "difference"))
                case Sat():
                    found = self._judge(answer, frame)
                    if found is not None:
                        return found
                case _:
                    return Unclear(frame, answer.reason)
        return Unclear(frame, f"more than {MOST_ROUNDS} candidates were allowed by both")

    def _judge(self, answer: Sat, frame: int) -> Difference | None:
        """The difference, or None if the other program allows the step; its choices are then added
        as a refutation."""
        last = answer.frame(frame)
        terms = self.pair.first.terms
        starts = [c.start for c in self.one_sided]
        truth = terms.evaluate(starts, last)
        side = next(c for c in self.one_sided if truth[c.start])
        found = read_transition(side.one, last)
        rival = _find_allowed(side, found, self.question)
        if rival is None:
            steps = tuple(read_transition(self.pair.first, answer.frame(i)) for i in range(frame))
            self._check_lemmas(found)
            return Difference(steps, found, side.by)
        match_ = side.matches[found.branch, rival]
        fixed = _explain(side.other, match_, last)
        no = terms.not_(terms.substitute(match_.term, fixed))
        self.refused.append(terms.implies(match_.taken, no))
        return None

    def _check_lemmas(self, found: SolverTransition) -> None:
        machine = self.pair.first.machine
        for lemma in self.question.lemmas:
            what = f"lemma {lemma.name}"
            expect(machine, lemma.body, machine.scope(found.before), wanted=True, what=what)


# --- encoding ------------------------------------------------------------------------------------


def _encode(
    machines: tuple[Machine, Machine], question: PairQuestion, options: EncodingOptions
) -> _Pair:
    types = TermsOfTypes.of(
        machines[0].universe, integers=options.integers, counter_bits=options.counter_bits
    )
    programs = []
    for machine, tag in zip(machines, ("", "other:"), strict=True):
        if machine.component is None:
            raise CannotEncode(f"{machine.instance.machine} is a system")
        programs.append(build(machine, types, tag=tag))
    first, second = programs
    states = [[(v.name, v.type) for v in p.component.state] for p in programs]
    if states[0] != states[1]:
        raise CannotEncode("the two models have different state variables")
    return _Pair(first, second, _list_shown(first.component, question))


def _list_shown(
    component: n.Component, question: PairQuestion
) -> tuple[tuple[n.StateVar, Paths], ...]:
    if question.whole:
        return tuple((v, frozenset({()})) for v in component.state)
    shown = [o.path for o in component.observables if o.mode != "ignored"]
    found = []
    for variable in component.state:
        paths = frozenset(path[1:] for path in shown if path[0] == variable.name)
        if paths:
            found.append((variable, paths))
    return tuple(found)


def _both_sides(pair: _Pair) -> tuple[_OneSided, ...]:
    sides: tuple[tuple[SymbolicProgram, SymbolicProgram, Literal["first", "second"]], ...] = (
        (pair.first, pair.second, "first"),
        (pair.second, pair.first, "second"),
    )
    return tuple(_one_sided(pair, *side) for side in sides)


def _one_sided(
    pair: _Pair, one: SymbolicProgram, other: SymbolicProgram, by: Literal["first", "second"]
) -> _OneSided:
    terms = one.terms
    others = {o.name: o for o in other.operations}
    ways: list[Term] = []
    matches: dict[tuple[str, str], _Match] = {}
    for operation in one.operations:
        against = others.get(operation.name)
        if against is None or _same_text(one, other, operation.name):
            continue
        if operation.params != against.params:
            raise CannotEncode(f"{operation.name} has other parameters")
        for branch in operation.branches:
            taken = one.took[branch.name]
            parts = [taken, against.valid]
            for rival in against.branches:
                term = terms.and_(_alike(pair, branch, rival), possible(terms, against, rival))
                match_ = _Match(taken, term, _choice_variables(terms, rival, term))
                matches[branch.name, rival.name] = match_
                if not match_.choices or branch.name == rival.name:
                    parts.append(terms.not_(terms.substitute(term, _mirror(one, other, match_))))
            ways.append(terms.and_(*parts))
    start = terms.and_(one.step, terms.or_(*ways))
    return _OneSided(one, other, by, start, matches)


def _mirror(one: SymbolicProgram, other: SymbolicProgram, match_: _Match) -> dict[Term, Term]:
    """The other program's choices replaced by those of the first with the same names."""
    terms = one.terms
    pairs: dict[Term, Term] = {}
    for choice in match_.choices:
        name = str(terms.nodes[choice].payload).removeprefix(other.encoder.tag)
        pairs[choice] = terms.var(f"{one.encoder.tag}{name}", terms.sort(choice))
    return pairs


def _choice_variables(terms: Terms, branch: BranchCode, term: Term) -> tuple[Term, ...]:
    return tuple(
        part
        for part in terms.below([term])
        if terms.nodes[part].op == "var"
        and str(terms.nodes[part].payload).startswith(branch.choices)
    )


def _explain(other: SymbolicProgram, match_: _Match, values: Mapping[str, int]) -> dict[Term, Term]:
    """Values of the other program's choices for which it matches. Raises ReplayError if there are
    none although the definition allows the step."""
    terms = other.terms
    known = {
        part: terms.literal(values.get(str(terms.nodes[part].payload), 0), terms.sort(part))
        for part in terms.below([match_.term])
        if terms.nodes[part].op == "var" and part not in match_.choices
    }
    rest = terms.substitute(match_.term, known)
    answer = Solver(terms, BOUNDED, RLIMIT).check({"match": (rest, 0)})
    if not isinstance(answer, Sat):
        raise ReplayError("the definition allows a step that the encoding does not")
    found = answer.frame(0)
    return {
        choice: terms.literal(found.get(str(terms.nodes[choice].payload), 0), terms.sort(choice))
        for choice in match_.choices
    }


def _same_text(one: SymbolicProgram, other: SymbolicProgram, operation: str) -> bool:
    """Whether an operation and all functions that it calls are the same in both models."""
    return _text(one, operation) == _text(other, operation)


def _text(program: SymbolicProgram, name: str) -> tuple[n.Operation, tuple[n.Function, ...]]:
    operation = next(o for o in program.component.operations if o.name == name)
    functions = program.encoder.functions
    reached: dict[str, n.Function] = {}
    queue = [*operation_expressions(operation)]
    while queue:
        for node in nodes(queue.pop()):
            if isinstance(node, n.Call) and node.function not in reached:
                reached[node.function] = functions[node.function]
                queue.append(functions[node.function].body)
    return operation, tuple(reached[key] for key in sorted(reached))


def _alike(pair: _Pair, a: BranchCode, b: BranchCode) -> Term:
    """That two branches give the same reply and the same observation."""
    types = pair.first.types
    parts = [types.equal(a.reply, b.reply)]
    for variable, paths in pair.shown:
        x, y = a.after[variable.name], b.after[variable.name]
        parts.append(_equal_shown(types, variable.type, (x, y), paths))
    return types.terms.and_(*parts)


def _equal_shown(types: TermsOfTypes, kind: t.Type, pair: tuple[Sym, Sym], paths: Paths) -> Term:
    """Equality of the values at the paths; these do not mention map keys, options and positions."""
    if () in paths:
        return types.equal(*pair)
    terms = types.terms
    match kind, *pair:
        case t.Option(inner=inner), Maybe(present=p, inner=a), Maybe(present=q, inner=b):
            if a is None or b is None:
                return types.equal(*pair)
            inside = terms.implies(p, _equal_shown(types, inner, (a, b), paths))
            return terms.and_(terms.eq(p, q), inside)
        case t.Map(value=inner), Fields(items=xs), Fields(items=ys):
            each = zip(xs, ys, strict=True)
            return terms.and_(*(_equal_shown(types, inner, both, paths) for both in each))
        case t.Record(fields=fields), Fields(items=xs), Fields(items=ys):
            parts = []
            for (name, part), x, y in zip(fields, xs, ys, strict=True):
                below = frozenset(path[1:] for path in paths if path[0] == name)
                if below:
                    parts.append(_equal_shown(types, part, (x, y), below))
            return terms.and_(*parts)
        case _:
            return types.equal(*pair)


# --- reading -------------------------------------------------------------------------------------


def _find_allowed(side: _OneSided, found: SolverTransition, question: PairQuestion) -> str | None:
    """The branch by which the other definition allows a step, or None."""
    one, other = side.one.machine, side.other.machine
    try:
        outcomes = other.outcomes(found.before, found.operation, found.args)
    except EvaluationError as error:
        raise ReplayError(f"{found.operation}: {error}") from error
    for outcome in outcomes:
        if question.whole:
            same = dict(outcome.state) == dict(found.after)
        else:
            same = one.observe(outcome.state) == one.observe(found.after)
        if same and outcome.reply == found.reply:
            return outcome.branch
    return None
