"""Holds every operation that the definition does against the generated model of its component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType

from tests.support.comparing.sharing import Reads, Shared, Sharing

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.reach import list_modelled
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import Json, Universe, to_json

Answer = tuple[str, Json, object]
"""Branch, reply, and the state after as an object of the model."""
NO_VALUE = ("Undefined", "ValueError")
"""What a model raises where a value is asked for that does not exist."""


@dataclass(frozen=True, slots=True)
class Model:
    """The generated model of a component. `states` holds objects of it, and `replies` JSON."""

    component: n.Component
    module: ModuleType
    universe: Universe
    states: dict[tuple[Value, ...], object] = field(default_factory=dict)
    args: dict[tuple[str, tuple[Value, ...]], dict[str, Json]] = field(default_factory=dict)
    replies: dict[tuple[str, Value], Json] = field(default_factory=dict)

    def state(self, state: State) -> object:
        """A state as an object of the model, which has no ghosts."""
        kept = list_modelled(self.component)
        flat = tuple([state[v.name] for v in kept])
        if flat not in self.states:
            shown = {v.name: to_json(v.type, state[v.name], self.universe) for v in kept}
            made = self.module.decode(shown, self.universe.sorts, self.universe.consts)
            assert self.module.encode(made) == shown
            self.states[flat] = made
        return self.states[flat]

    def expect(self, operation: n.Operation, outcomes: tuple[Outcome, ...]) -> list[Answer]:
        """The outcomes as the model tells them. It has no ghosts, so that some may be alike."""
        found: list[Answer] = []
        for outcome in outcomes:
            reply, after = self._reply(operation, outcome.reply), self.state(outcome.state)
            answer = outcome.branch, reply, after
            if answer not in found:
                found.append(answer)
        return found

    def compare(
        self,
        operation: n.Operation,
        before: object,
        args: tuple[Value, ...],
        expected: list[Answer] | None,
    ) -> None:
        """Asserts that the model allows just these answers (None: it has to raise)."""
        given = self._args(operation, args)
        try:
            said = self.module.outcomes(before, operation.name, given)
        except Exception as problem:
            if type(problem).__name__ not in NO_VALUE or expected is not None:
                raise AssertionError(f"{operation.name} {given} in {before}") from problem
            return
        assert expected is not None, (operation.name, given, before)
        found: list[Answer] = [(o.branch, o.reply, o.state) for o in said]
        assert len(found) == len(expected), (operation.name, given, before)
        assert all(answer in found for answer in expected), (operation.name, given, before)

    def _args(self, operation: n.Operation, args: tuple[Value, ...]) -> dict[str, Json]:
        if (operation.name, args) not in self.args:
            pairs = zip(operation.params, args, strict=True)
            shown = {p.name: to_json(p.type, value, self.universe) for p, value in pairs}
            self.args[operation.name, args] = shown
        return self.args[operation.name, args]

    def _reply(self, operation: n.Operation, reply: Value) -> Json:
        if (operation.name, reply) not in self.replies:
            shown = to_json(operation.result, reply, self.universe)
            self.replies[operation.name, reply] = shown
        return self.replies[operation.name, reply]


@dataclass(slots=True)
class Questions:
    """Which questions are compared: those of one component in one state of `every`, those of the
    components of a system (`met`) when they are asked for the first time.

    What is held of the last state is by identity: the state as an object of the model, and what the
    model has to answer where the definition gives the very same outcomes."""

    met: set[tuple[int, tuple[Value, ...], tuple[Value, ...]]] | None
    every: int = 1
    states: int = 0
    compared: int = 0
    branches: set[str] = field(default_factory=set)
    state: State = field(default_factory=dict)
    none: bool = False
    """Whether no question of the state is compared."""
    before: object = None
    expected: dict[int, tuple[tuple[Outcome, ...], list[Answer]]] = field(default_factory=dict)

    def begin(self, state: State) -> None:
        """Go to another state, and forget the one before."""
        self.state, self.before = state, None
        self.states += 1
        self.expected.clear()
        self.none = self.met is None and (self.states - 1) % self.every != 0

    def is_chosen(self, operation: n.Operation, args: tuple[Value, ...]) -> bool:
        """Whether a question is to be compared, if some of its state are."""
        if self.met is None:
            return True
        question = id(operation), tuple(self.state.values()), args
        if question in self.met:
            return False
        self.met.add(question)
        return True


@dataclass(frozen=True, slots=True)
class Compared(Sharing):
    """An evaluator that compares the outcomes of operations with those of `models`, by component,
    for the questions that are chosen."""

    models: Mapping[str, Model] = field(kw_only=True)
    components: Mapping[int, str] = field(kw_only=True)
    questions: Questions = field(kw_only=True)

    @property
    def compared(self) -> int:
        """How many operations were compared."""
        return self.questions.compared

    @property
    def branches(self) -> set[str]:
        """The branches that the compared outcomes came of."""
        return self.questions.branches

    @staticmethod
    def beside(machine: Machine, modules: Mapping[str, ModuleType], every: int = 1) -> Machine:
        """The machine, with what its components do compared with their generated modules; what one
        component does in one state of `every`."""
        own = [machine.component] if machine.component else []
        called = {part.component for s in machine.model.systems for part in s.parts}
        components = own or [c for c in machine.model.components if c.name in called]
        models = {c.name: Model(c, modules[c.name], machine.universe) for c in components}
        names = {id(o): c.name for c in components for o in c.operations}
        base, reads = machine.evaluator, Reads.of(components)
        evaluator = Compared(
            base.functions, universe=base.universe, parts=base.parts,
            reads=reads, shared=Shared.of(reads), models=models, components=names,
            questions=Questions(None if own else set(), every),
        )  # fmt: skip
        return replace(machine, evaluator=evaluator)

    def operate(
        self, operation: n.Operation, state: State, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        questions = self.questions
        if state is not questions.state:
            questions.begin(state)
        if questions.none:  # said first: most questions of a component are of such states
            return Sharing.operate(self, operation, state, args)
        outcomes: tuple[Outcome, ...] | None = None
        try:
            outcomes = Sharing.operate(self, operation, state, args)
            return outcomes
        finally:
            if questions.is_chosen(operation, args):
                self._compare(operation, state, args, outcomes)

    def _compare(
        self,
        operation: n.Operation,
        state: State,
        args: tuple[Value, ...],
        outcomes: tuple[Outcome, ...] | None,
    ) -> None:
        model, questions = self.models[self.components[id(operation)]], self.questions
        questions.compared += 1
        if questions.before is None:
            questions.before = model.state(state)
        expected: list[Answer] | None = None
        if outcomes is not None:
            if id(outcomes) not in questions.expected:
                questions.branches.update([outcome.branch for outcome in outcomes])
                answers = model.expect(operation, outcomes)
                questions.expected[id(outcomes)] = outcomes, answers
            expected = questions.expected[id(outcomes)][1]
        model.compare(operation, questions.before, args, expected)
