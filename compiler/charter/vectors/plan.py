"""Makes the vectors of a suite from scenarios, witnesses, transitions, and results of searches.

Transitions of a small instance are given as plain data, so that this backend does not depend on how
they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from charter.analysis.known_faults import refuse_faults
from charter.analysis.retell import Act
from charter.core.nodes import Model, Value
from charter.core.reach import read_consts
from charter.formats.canonical import Json
from charter.formats.vector import Answer, Question, Vector, Why
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.vectors.answer import (
    MOST_REMEMBERED,
    AllowedTrace,
    Answers,
    NoAnswer,
    Outcomes,
    begin,
)
from charter.vectors.question import Asking, CounterAt, NoQuestion, Shows, ask, list_observed_places

OPEN = "open environment"
POSSIBLE = "possible in "
"""How the label of a vector begins that is the projection of a trace of a system."""
BRANCH = "branch "
"""What the name of an obligation begins with, of which a branch is the rest."""

Trace = Sequence[tuple[State, Act]]
"""Acts, each with the state before it."""

MOST_PLACES = 8
"""The most references of a question that are replaced because they lead nowhere on some trace."""

REFUSALS = (NoQuestion, NoAnswer, EvaluationError)


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One transition of an instance: the state before it, a path to that state, and the
    operation."""

    state: State
    path: Callable[[], Sequence[Act]]
    operation: str
    args: tuple[Value, ...]
    branch: str
    reply: Value


@dataclass(frozen=True, slots=True)
class Loaded:
    """A state as the given state of a question; `run` is the trace that begins there, or None if
    loading would lose something."""

    state: State
    given: Json
    run: AllowedTrace | None


@dataclass(frozen=True, slots=True)
class AskedPlan:
    """A question and its answer. `nodes` has for each operation the node of the answer before it
    with the state that is meant; None if there is none, or if another state looks like it."""

    question: Question
    answer: Answer
    nodes: tuple[int | None, ...]


@dataclass(slots=True)
class Planner:
    """Makes vectors of one component. `refused` counts, by reason, vectors that could not be
    made. `prelude` leads from the component's own first state to that of the instance, so that no
    question needs a given state for it."""

    model: Model
    answers: Answers
    consts: Mapping[str, int]
    prelude: Trace = ()
    refused: dict[str, int] = field(default_factory=dict)
    last: Loaded | None = None
    begun: tuple[State, Json, AllowedTrace] | None = None
    remembered: dict[tuple[Value, ...], list[CounterAt]] = field(default_factory=dict)

    @staticmethod
    def of(model: Model, machine: Machine, outcomes: Outcomes | None = None) -> Planner:
        """A planner; `outcomes` may be a faster implementation of `machine.outcomes`. Raises
        ValueError for a model with faults."""
        refuse_faults(model)
        answers = Answers(machine, outcomes or machine.outcomes)
        return Planner(model, answers, _consts(model, machine))

    @property
    def shows(self) -> Shows:
        """Where a target shows counters."""
        return Shows(self.machine, self.list_shown, self.answers.outcomes)

    @property
    def machine(self) -> Machine:
        """The machine of the evaluator."""
        return self.answers.machine

    def of_acts(self, acts: Sequence[Act], why: Why, branches: Sequence[str] = ()) -> Vector | None:
        """A vector of `acts` from the initial state of the instance; `branches` selects the outcome
        where several are allowed."""
        start, given = self.start()
        try:
            trace = (*self.prelude, *self._trace(start, acts, branches))
            return self._vector(trace, given, why)
        except REFUSALS as problem:
            self._refuse(problem)
            return None

    def plan_trace(self, trace: Trace, given: Json, why: Why) -> Vector | None:
        """A vector of a trace of the instance whose states are known; `given` leads to the first
        one."""
        try:
            return self._vector((*self.prelude, *trace), given, why)
        except REFUSALS as problem:
            self._refuse(problem)
            return None

    def plan_asked(
        self, asking: Asking, expected: Sequence[frozenset[str] | None]
    ) -> AskedPlan | None:
        """The question of operations from the start of the instance, and its answer, up to where
        the branches are not those `expected` (None: any; behind a choice: these among others). None
        if there is no answer, or nothing is as expected."""
        _, given, first = self._start()
        before: list[State] = []
        try:
            question = self._with_consts(asking.question(given))
            answer = self.answers.answer(question, first, lambda state, *_: before.append(state))
        except REFUSALS:
            return None
        for number, (wanted, nodes) in enumerate(zip(expected, answer.steps[1:], strict=True)):
            found = frozenset(node.branch for node in nodes)
            behind = len(answer.steps[number]) > 1
            if wanted is not None and not (wanted <= found if behind else wanted == found):
                asking.cut(number)
                return self.plan_asked(asking, expected[:number]) if number else None
        return AskedPlan(question, answer, tuple(self._find_meant(asking, answer, before)))

    def _find_meant(
        self, asking: Asking, answer: Answer, before: Sequence[State]
    ) -> Iterator[int | None]:
        """The nodes of an `AskedPlan`; `before` has the states of all nodes, step by step."""
        names, states = [v.name for v in self.machine.modelled], iter(before)
        for nodes, (meant, _) in zip(answer.steps, asking.trace, strict=False):
            there = [all(one[n] == meant[n] for n in names) for one in islice(states, len(nodes))]
            pairs = zip(nodes, there, strict=True)
            alike = {node.observation for node, is_meant in pairs if not is_meant}
            found = there.index(True) if any(there) else None
            yield None if found is None or nodes[found].observation in alike else found

    def plan_path(self, trace: Trace, why: Why, *, led: bool) -> Vector | None:
        """A vector from the component's own first state; of `led` traces the prelude comes first,
        if there is one."""
        try:
            return self._vector(trace if not led else (*self.prelude, *trace), None, why)
        except REFUSALS as problem:
            self._refuse(problem)
            return None

    def start(self) -> tuple[State, Json]:
        """The initial state of the instance, and the given state of its questions."""
        state, given, _ = self._start()
        return state, given

    def _start(self) -> tuple[State, Json, AllowedTrace]:
        if self.begun is None:
            state, given = self.machine.initial(), None
            if self.machine.instance.starts and not self.prelude:
                given = self.machine.durable_json(state)
                state = self.machine.load(state)
            self.begun = (state, given, begin(self.machine, given))
        return self.begun

    def list_shown(self, state: State) -> list[CounterAt]:
        """`list_observed_places` of a state, remembered."""
        key = tuple(state.values())
        known = self.remembered.get(key)
        if known is None:
            if len(self.remembered) > MOST_REMEMBERED:
                self.remembered.clear()
            known = self.remembered[key] = list_observed_places(self.machine, state)
        return known

    def plan_loaded(self, step: PlannedStep, why: Why) -> Vector | None:
        """The vector of one transition. Its state is loaded or, if loading would lose something
        (volatile state), reached by the operations on its path."""
        try:
            if self.last is None or self.last.state != step.state:
                self.last = self._load(step.state)
            if self.last.run is not None:
                return self._of_loaded(self.last, self.last.run, step, why)
            acts = (*step.path(), (step.operation, step.args))
        except REFUSALS as problem:
            self._refuse(problem)
            return None
        return self.of_acts(acts, why)

    def _load(self, state: State) -> Loaded:
        """A state as the given state of a question, if loading it loses nothing."""
        again = self.machine.load(state)
        if any(again[v.name] != state[v.name] for v in self.machine.modelled):
            return Loaded(state, None, None)
        given = self.machine.durable_json(state)
        return Loaded(state, given, begin(self.machine, given))

    def _of_loaded(self, loaded: Loaded, run: AllowedTrace, step: PlannedStep, why: Why) -> Vector:
        trace = [(run.state, (step.operation, step.args))]
        question = self._ask(trace, loaded.given)
        return check_vector(question, self.answers.answer(question, run), why)

    def _trace(self, start: State, acts: Sequence[Act], branches: Sequence[str]) -> Trace:
        """Each act with the state before it, along the outcomes that `branches` selects (by default
        the first)."""
        trace: list[tuple[State, Act]] = []
        state = start
        for number, (operation, args) in enumerate(acts):
            trace.append((state, (operation, args)))
            wanted = branches[number] if number < len(branches) else ""
            found = self.answers.outcomes(state, operation, args)
            state = next((o.state for o in found if o.branch == wanted), found[0].state)
        return trace

    def _vector(self, trace: Trace, given: Json, why: Why) -> Vector:
        """The vector of a trace. A reference that leads nowhere on another allowed trace is
        replaced by another place of the value, if there is one. Raises one of `REFUSALS`."""
        _, begun, run = self._start()
        first = run if given is begun else None
        wrong: list[NoAnswer] = []
        while len(wrong) < MOST_PLACES:
            try:
                question = self._ask(trace, given, [each.reference for each in wrong])
                return check_vector(question, self.answers.answer(question, first), why)
            except NoAnswer as problem:
                if problem.reference is None:
                    raise
                wrong.append(problem)
            except NoQuestion:
                if not wrong:
                    raise
                break
        raise wrong[0]

    def _ask(self, trace: Trace, given: Json, avoided: Sequence[Json] = ()) -> Question:
        return self._with_consts(ask(self.model, self.shows, trace, given, avoided))

    def _with_consts(self, question: Question) -> Question:
        return replace(question, consts=self.consts) if self.consts else question

    def _refuse(self, problem: Exception) -> None:
        reason = f"{type(problem).__name__}: {problem}"
        self.refused[reason] = self.refused.get(reason, 0) + 1


def branches_of(answer: Answer) -> frozenset[str]:
    """The branches that some run of an answer takes."""
    return frozenset(node.branch for step in answer.steps for node in step)


def check_vector(question: Question, answer: Answer, why: Why) -> Vector:
    """A vector that names no branch which it does not take: where a trace has a value that nothing
    shows, such as the token before any was granted, the question asks for one that was never
    issued, and another branch may be taken. Raises NoQuestion if its purpose is not taken."""
    branches = branches_of(answer)
    if not branches.issuperset(why.purpose):
        raise NoQuestion(
            "a value is shown nowhere, and without it the question takes another branch"
        )
    named = tuple(
        o for o in why.obligations if not o.startswith(BRANCH) or o[len(BRANCH) :] in branches
    )
    return Vector(question, answer, replace(why, obligations=named))


def _consts(model: Model, machine: Machine) -> dict[str, int]:
    """The constants that the rules of a component read, with their values in its instance."""
    if machine.component is None:
        return {}
    needed = dict(read_consts(model, machine.component))
    return {name: value for name, value in machine.instance.consts if name in needed}
