"""What the definition says of a state: what can be done there, what comes of it, and what the
properties say. States, questions and answers have numbers, so that to compare them is cheap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import itemgetter
from typing import Generic, TypeVar

from charter.analysis.environment import Arguments, Issued
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.core.transition import argument_of, is_argument, is_of_transition
from charter.core.walk import locals_of, nodes, substitute
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import Locals, Scope, State
from charter.semantics.machine import Machine

T = TypeVar("T")
Args = tuple[Value, ...]
Question = tuple[str, Args]
"""An operation and its arguments."""
Answer = tuple[str, int, Value]
"""Branch, the number of the state after, and the reply (None where the search knows of none).
Without a branch ("") a value is asked for that does not exist, and the state stays."""
Moves = Mapping[int, tuple[int, ...]]
"""The transitions from a state: by the number of a question the numbers of its answers, in order;
an answer stands there as often as there are outcomes that are alike."""
Verdicts = Mapping[tuple[str, str], int]
"""Of each property whether it is violated (a witness: found) in a state or, of one of transitions,
in how many transitions from there; those that ask for a value that does not exist count apart."""


@dataclass(frozen=True, slots=True)
class Numbered(Generic[T]):
    """Numbers for values, in the order in which they are met."""

    numbers: dict[T, int] = field(default_factory=dict)
    values: list[T] = field(default_factory=list)

    def of(self, value: T) -> int:
        """The number of a value."""
        known = self.numbers.get(value)
        if known is None:
            known = self.numbers[value] = len(self.values)
            self.values.append(value)
        return known


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers for questions, for answers, and for states: these have the numbers of the values of
    their variables as `parts`."""

    machine: Machine
    questions: Numbered[Question] = field(default_factory=Numbered)
    answers: Numbered[Answer] = field(default_factory=Numbered)
    parts: Numbered[tuple[int, ...]] = field(default_factory=Numbered)
    values: dict[str, Numbered[Value]] = field(default_factory=dict)
    states: list[State] = field(default_factory=list)
    outside: list[bool] = field(default_factory=list)

    @staticmethod
    def of_machine(machine: Machine) -> Numbers:
        """Nothing has a number yet."""
        return Numbers(machine, values={v.name: Numbered() for v in machine.variables})

    def of(self, state: State) -> int:
        """The number of a state."""
        parts = tuple([known.of(state[name]) for name, known in self.values.items()])
        number = self.parts.of(parts)
        if number == len(self.states):
            self.states.append(state)
            self.outside.append(bool(self.machine.outside(state)))
        return number


# --- what is offered -----------------------------------------------------------------------------


Chosen = Callable[[tuple[int, ...]], object]
"""The values of some variables, of a state's `parts`."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An operation's parameters with the counters in them, and the conditions that all must be true
    with what these read of the state."""

    params: Sequence[n.Param]
    counters: Sequence[str]
    conditions: Sequence[n.Expr]
    reads: Chosen


@dataclass(frozen=True, slots=True)
class Offers:
    """The argument lists that an instance offers. They depend on the counters in a state and, where
    the instance has conditions, on the rest of it."""

    numbers: Numbers
    about: Mapping[str, Offered]
    known: dict[tuple[object, ...], Sequence[int]] = field(default_factory=dict)
    """The questions of an operation, by the values of the counters in its parameters."""
    kept: dict[tuple[object, ...], Sequence[int]] = field(default_factory=dict)
    """Those of them that fulfil the conditions, by these values and by what the conditions read."""
    groups: dict[tuple[int, int], Mapping[Value, Sequence[int]]] = field(default_factory=dict)
    """Questions by the value at a position; by the identity of the questions, which are kept."""

    @staticmethod
    def of(numbers: Numbers) -> Offers:
        """What the instance of a machine offers."""
        machine, about = numbers.machine, dict[str, Offered]()
        functions = {function.name: function for function in machine.model.functions}
        for name, operation in machine.operations.items():
            conditions = [
                part for c in machine.conditions(name) for part in _conjuncts(c, functions)
            ]
            reads = [e for c in conditions for e in nodes(c) if isinstance(e, n.StateRef)]
            counters = frozenset[str]().union(*(t.counters_in(p.type) for p in operation.params))
            about[name] = Offered(
                operation.params,
                tuple(sorted(counters)),
                tuple(conditions),
                _choose(machine, {e.name for e in reads}),
            )
        return Offers(numbers, about)

    def each(self, state: State) -> Iterator[tuple[str, Sequence[int]]]:
        """Each operation with the numbers of its questions."""
        machine, parts = self.numbers.machine, self.numbers.parts.values[self.numbers.of(state)]
        arguments = Arguments.at(machine, state)
        issued = _by_counter(arguments.issued)
        for name, about in self.about.items():
            key = name, *[issued.get(counter) for counter in about.counters]
            if key not in self.known:
                lists = arguments.of(about.params)
                self.known[key] = [self.numbers.questions.of((name, args)) for args in lists]
            kept = *key, about.reads(parts)
            if kept not in self.kept:
                found = self._keep(self.known[key], about, machine.scope(state), {})
                self.kept[kept] = tuple(found)
            yield name, self.kept[kept]

    def _keep(
        self, questions: Sequence[int], about: Offered, scope: Scope, names: Locals
    ) -> Iterable[int]:
        """The questions, which agree with `names`, that fulfil the conditions. A parameter gets its
        values when a condition asks for it: what comes out without it comes out for each value."""
        for number, condition in enumerate(about.conditions):
            try:
                if not self.numbers.machine.evaluator.truth(condition, scope, names):
                    return ()
            except KeyError as asked:
                (name,) = asked.args
                at = [p.name for p in about.params].index(name)
                rest = replace(about, conditions=about.conditions[number:])
                return chain.from_iterable(
                    [
                        self._keep(group, rest, scope, {**names, name: value})
                        for value, group in self._group(questions, at).items()
                    ]
                )
        return questions

    def _group(self, questions: Sequence[int], at: int) -> Mapping[Value, Sequence[int]]:
        known = self.groups.get((id(questions), at))
        if known is None:
            made: dict[Value, list[int]] = {}
            for question in questions:
                _, args = self.numbers.questions.values[question]
                made.setdefault(args[at], []).append(question)
            known = self.groups[id(questions), at] = made
        return known


def _conjuncts(condition: n.Expr, functions: Mapping[str, n.Function]) -> Iterator[n.Expr]:
    """The parts that must all be true, those of the functions that are called among them."""
    match condition:
        case n.Binary(op="and", left=left, right=right):
            yield from _conjuncts(left, functions)
            yield from _conjuncts(right, functions)
        case n.Call(function=name, args=args):
            names = [param.name for param in functions[name].params]
            values = dict(zip(names, args, strict=True))
            yield from _conjuncts(substitute(functions[name].body, values), functions)
        case _:
            yield condition


def _by_counter(issued: Issued) -> Mapping[str, object]:
    """All that `issued` has of each counter."""
    found: dict[str, set[object]] = {}
    for name, values in issued.all.items():
        found.setdefault(name, set()).add(frozenset(values))
    for (name, sort, element), values in issued.under.items():
        found.setdefault(name, set()).add((sort, element, frozenset(values)))
    return {name: frozenset(parts) for name, parts in found.items()}


# --- what comes of it ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Defined:
    """What the definition says of a state: the transitions, and how many leave the instance."""

    moves: Moves
    outside: int


def define(numbers: Numbers, offers: Offers, state: State, replies: bool) -> Defined:
    """Everything that can be done in a state, on the definition; with `replies` or without."""
    machine, here = numbers.machine, numbers.of(state)
    asked = numbers.questions.values
    undefined = (numbers.answers.of(("", here, None)),)
    moves: dict[int, tuple[int, ...]] = {}
    # By the identity of the outcomes, which are held: many questions have the very same, and those
    # of several branches have the very outcomes of each.
    known: dict[int, tuple[tuple[Outcome, ...], tuple[int, ...], int]] = {}
    told: dict[int, tuple[Outcome, int]] = {}
    outside = 0
    for operation, questions in offers.each(state):
        for question in questions:
            try:
                outcomes = machine.outcomes(state, operation, asked[question][1])
            except EvaluationError:
                moves[question] = undefined
                continue
            if id(outcomes) not in known:
                for outcome in outcomes:
                    if id(outcome) not in told:
                        told[id(outcome)] = outcome, _answer(numbers, outcome, replies)
                answers = [told[id(outcome)][1] for outcome in outcomes]
                inside = tuple(sorted([number for number in answers if number != OUTSIDE]))
                known[id(outcomes)] = outcomes, inside, len(answers) - len(inside)
            _, answers, leave = known[id(outcomes)]
            outside += leave
            if answers:
                moves[question] = answers
    return Defined(moves, outside)


OUTSIDE = -1
"""No answer: the state after is not in the instance."""


def _answer(numbers: Numbers, outcome: Outcome, replies: bool) -> int:
    """The number of an answer, or OUTSIDE."""
    after = numbers.of(outcome.state)
    if numbers.outside[after]:
        return OUTSIDE
    return numbers.answers.of((outcome.branch, after, outcome.reply if replies else None))


# --- properties ----------------------------------------------------------------------------------

NONE = -1
"""No question: the arguments are read by nobody."""
Taken = tuple[int, str, int]
"""What properties see of a transition: the question, the branch and the state after."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A property and what it says. That is a function of what it reads: of variables before and
    after, of whether one of some `branches` was taken, and of the arguments of `operations`."""

    prop: n.Property
    before: Chosen
    after: Chosen
    branches: frozenset[str]
    operations: frozenset[str]
    known: dict[tuple[object, ...], bool | None] = field(default_factory=dict)

    @staticmethod
    def of(prop: n.Property, machine: Machine) -> Judged:
        """Nothing is asked yet. Functions read no state."""
        parts = [*nodes(prop.body)]
        reads = [part for part in parts if isinstance(part, n.StateRef)]
        return Judged(
            prop,
            _choose(machine, {part.name for part in reads if not part.primed}),
            _choose(machine, {part.name for part in reads if part.primed}),
            frozenset(part.branch for part in parts if isinstance(part, n.Took)),
            frozenset(argument_of(x)[0] for x in locals_of(prop.body) if is_argument(x)),
        )

    def note(self, numbers: Numbers, here: int, taken: Mapping[Taken, int]) -> Verdicts:
        """How often the property is noted of a state and of what is done there."""
        parts, found = numbers.parts.values, Counter[tuple[str, str]]()
        before = self.before(parts[here])
        for (question, branch, after), count in taken.items():
            took = branch if branch in self.branches else ""
            reads = question if branch.partition("/")[0] in self.operations else NONE
            key = before, self.after(parts[after]), took, reads
            if key not in self.known:
                args = () if reads == NONE else numbers.questions.values[question][1]
                states = numbers.states[here], numbers.states[after]
                self.known[key] = self._holds(numbers.machine, states, branch, args)
            holds = self.known[key]
            if holds is None:
                found["undefined", self.prop.name] += count
            elif holds is (self.prop.kind == "witness"):
                found[self.prop.kind, self.prop.name] += count
        return found

    def _holds(
        self, machine: Machine, states: tuple[State, State], branch: str, args: Args
    ) -> bool | None:
        try:
            return machine.holds(self.prop, machine.scope(*states, branch, args))
        except EvaluationError:
            return None


def _choose(machine: Machine, names: set[str]) -> Chosen:
    """The numbers of the values of some variables."""
    places = [i for i, variable in enumerate(machine.variables) if variable.name in names]
    return itemgetter(*places) if places else lambda parts: ()


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of a machine: those of states, those of transitions, and of these those that
    read the arguments."""

    of_states: tuple[Judged, ...]
    of_transitions: tuple[Judged, ...]
    by_arguments: tuple[Judged, ...]

    @staticmethod
    def of(machine: Machine) -> Properties:
        """Those of the machine of an instance."""
        own = [p for p in machine.model.properties if p.machine == machine.instance.machine]
        moving = [Judged.of(p, machine) for p in own if is_of_transition(p)]
        return Properties(
            tuple([Judged.of(p, machine) for p in own if not is_of_transition(p)]),
            tuple([judged for judged in moving if not judged.operations]),
            tuple([judged for judged in moving if judged.operations]),
        )


def verdicts(numbers: Numbers, about: Properties, state: State, moves: Moves) -> Verdicts:
    """What the properties of a machine say of a state and of the transitions from it, on the
    definition."""
    here, answers = numbers.of(state), numbers.answers.values
    alike, each = Counter[Taken](), Counter[Taken]()
    for number, count in Counter(chain.from_iterable(moves.values())).items():
        branch, after, _ = answers[number]
        if branch:
            alike[NONE, branch, after] += count
    if about.by_arguments:
        for question, numbers_of in moves.items():
            for branch, after, _ in [answers[number] for number in numbers_of]:
                if branch:
                    each[question, branch, after] += 1
    found: dict[tuple[str, str], int] = {}
    for judged, taken in (
        *((judged, {(NONE, "", here): 1}) for judged in about.of_states),
        *((judged, alike) for judged in about.of_transitions),
        *((judged, each) for judged in about.by_arguments),
    ):
        found.update(judged.note(numbers, here, taken))
    return found
