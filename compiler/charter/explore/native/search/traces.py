"""Reconstructs shortest traces to noted states, and replays them on the definition.

States are stored up to renaming, so a trace is reconstructed from the initial state: in each state
the engine lists every outcome, and the one with the key of the next state is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from charter.analysis.environment import offers
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.transition import is_of_transition
from charter.explore.native.emit.body import arguments_of
from charter.explore.native.memory.arrays import Array
from charter.explore.native.memory.machine_context import (
    CAPACITY,
    OUTCOME_COUNT,
    OUTCOME_ROOM,
    OUTCOMES,
    SEQ,
    SOURCE,
)
from charter.explore.native.program.compile_instance import Program, fits, slots_of
from charter.explore.native.search.levels import Note
from charter.explore.result import Trace
from charter.explore.result import TraceStep as Bare
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import Scope, State
from charter.semantics.machine import Machine

MOST_OUTCOMES = 1 << 15
"""Outcomes of one state that there is room for at first."""


class Disagreement(Exception):
    """The engine and the definition disagree: the engine has a bug."""


@dataclass(frozen=True, slots=True)
class ReachedStep:
    """One step of a trace, and the state it leads to."""

    operation: str
    args: tuple[Value, ...]
    branch: str
    state: State


@dataclass(frozen=True, slots=True)
class DecodedOutcome:
    """An outcome: `branch` is "" where the operation asked for a value that does not exist, at the
    place number `site`."""

    operation: str
    outcome: int
    branch: str
    site: int
    key: tuple[int, ...]
    args: tuple[Value, ...]
    after: State

    def see(self, machine: Machine, before: State) -> Scope:
        """What properties of a machine see of it."""
        return machine.scope(before, self.after, self.branch, self.args)


@dataclass(slots=True)
class OutcomeBuffer:
    """The outcomes of states, one state after another, in memory of its own, which grows."""

    program: Program
    memory: Array
    rows: Array
    room: int = MOST_OUTCOMES

    @staticmethod
    def of(program: Program) -> OutcomeBuffer:
        """Room for the outcomes of most states."""
        context = program.plan.context
        memory, rows = Array.of(context.size), Array.of(MOST_OUTCOMES * context.outcome_size)
        memory.view[CAPACITY] = 1 << 40
        return OutcomeBuffer(program, memory, rows)

    def ask(self, slots: list[int]) -> int:
        """How many outcomes a state has: as many entries of `rows`, in the order of the search."""
        view = self.memory.view
        self.memory.write(self.program.plan.context.fields, slots)
        while True:
            view[SOURCE] = view[SEQ] = view[OUTCOME_COUNT] = 0
            view[OUTCOMES], view[OUTCOME_ROOM] = self.rows.address, self.room
            self.program.library["outcomes"](self.memory.address)
            if view[OUTCOME_COUNT] < self.room:
                return view[OUTCOME_COUNT]
            self.room *= 4
            self.rows = Array.of(self.room * self.program.plan.context.outcome_size)


@dataclass(frozen=True, slots=True)
class Teller:
    """Lists the outcomes of single states with a program."""

    program: Program

    def key(self, state: State) -> tuple[int, ...]:
        """The key of a state."""
        plan = self.program.plan
        slots, found = Array.of(plan.context.slots), Array.of(plan.context.words)
        slots.write(0, slots_of(plan, state))
        self.program.library["key"](slots.address, found.address)
        return tuple(found.numbers(0, plan.context.words))

    def state(self, slots: list[int]) -> State:
        """A state from slots."""
        plan = self.program.plan
        pairs = zip(plan.machine.variables, plan.variable_slots.offsets, strict=True)
        return {v.name: plan.layout.decode(v.type, slots[at:]) for v, at in pairs}

    def tell(
        self, state: State, to: Sequence[int] | None = None, outcome: int | None = None
    ) -> Iterator[DecodedOutcome]:
        """Every outcome in a state, or those whose state has the key `to`, or with the number
        `outcome`, in the order of the search. Raises OverflowError where a number does not fit."""
        plan = self.program.plan
        slots = slots_of(plan, state)
        if not fits(plan, slots):
            raise OverflowError(max(slots))
        context = plan.context
        asked = OutcomeBuffer.of(self.program)
        names = list(plan.machine.operations)
        for i in range(asked.ask(slots)):
            row = asked.rows.numbers(i * context.outcome_size, context.outcome_size)
            if outcome in (None, row[1]) and (to is None or row[3 : context.outcome_args] == to):
                yield self._decode(names[row[0]], row)

    def _decode(self, name: str, row: list[int]) -> DecodedOutcome:
        plan = self.program.plan
        context, params = plan.context, plan.machine.operations[name].params
        at = context.outcome_args
        offsets = arguments_of(plan.layout, params)[0]
        args = tuple(
            plan.layout.decode(p.type, row[at + offset : at + context.args])
            for p, offset in zip(params, offsets, strict=True)
        )
        branch = row[2] if row[2] < 1 << 63 else row[2] - (1 << 64)
        return DecodedOutcome(
            operation=name,
            outcome=row[1],
            branch=plan.labels[branch] if branch >= 0 else "",
            site=max(0, -branch),
            key=tuple(row[3:at]),
            args=args,
            after=self.state(row[at + context.args :]),
        )


def bare(trace: Iterable[ReachedStep]) -> Trace:
    """A trace without its states."""
    return tuple(Bare(step.operation, step.args, step.branch) for step in trace)


class NumberedStates(Protocol):
    """The states of a search, by their numbers."""

    def get(self, number: int) -> tuple[list[int], int, int]:
        """A state as it is kept, the number of the one before it, and by which outcome."""


class TraceSource(Protocol):
    """The interface of a search that traces are read from."""

    @property
    def program(self) -> Program: ...
    @property
    def states(self) -> NumberedStates: ...


@dataclass(frozen=True, slots=True)
class Traces:
    """The traces of one search."""

    search: TraceSource
    teller: Teller

    def to_state(self, number: int) -> tuple[ReachedStep, ...]:
        """A shortest trace to a state."""
        chain: list[int] = []
        outcomes: list[int] = []
        while number:
            chain.append(number)
            _, number, outcome = self.search.states.get(number)
            outcomes.append(outcome)
        machine = self.search.program.plan.machine
        state, steps = machine.initial(), list[ReachedStep]()
        for target, outcome in zip(reversed(chain), reversed(outcomes), strict=True):
            decoded = self._towards(state, target, outcome)
            steps.append(self.follow(state, decoded))
            state = steps[-1].state
        return tuple(steps)

    def _towards(self, state: State, target: int, outcome: int) -> DecodedOutcome:
        words, _, _ = self.search.states.get(target)
        # Where states are kept as first reached, their words are not keys.
        raw = self.search.program.plan.context.raw
        key, number = (None, outcome) if raw else (words, None)
        for decoded in self.teller.tell(state, key, number):
            if decoded.branch:
                return decoded
        raise Disagreement(f"no way from one state to the next (state {target})")

    def follow(self, state: State, decoded: DecodedOutcome) -> ReachedStep:
        """A step, as the definition does it."""
        machine = self.search.program.plan.machine
        for outcome in machine.outcomes(state, decoded.operation, decoded.args):
            if outcome.branch == decoded.branch and dict(outcome.state) == dict(decoded.after):
                return ReachedStep(decoded.operation, decoded.args, decoded.branch, outcome.state)
        raise Disagreement(
            f"the definition does not allow {decoded.operation} as the engine did it"
        )

    # --- what was noted --------------------------------------------------------------------------

    def trace_violation(
        self, prop: n.Property, note: Note, moving: bool
    ) -> tuple[ReachedStep, ...]:
        """The trace to a state or a transition that a property (or witness) was noted for."""
        steps = self.to_state(note.source)
        machine = self.search.program.plan.machine
        state = steps[-1].state if steps else machine.initial()
        wanted = prop.kind == "witness"
        if not moving:
            if machine.holds(prop, machine.scope(state, state)) is not wanted:
                raise Disagreement(f"{prop.name} is not what the engine says")
            return steps
        for decoded in self.teller.tell(state):
            if decoded.branch and machine.holds(prop, decoded.see(machine, state)) is wanted:
                return (*steps, self.follow(state, decoded))
        raise Disagreement(f"{prop.name} is not what the engine says")

    def trace_unevaluated(
        self, prop: n.Property, note: Note
    ) -> tuple[tuple[ReachedStep, ...], str]:
        """The trace to a state or a transition in which a property asks for a value that does not
        exist, and what it asks."""
        steps = self.to_state(note.source)
        machine = self.search.program.plan.machine
        state = steps[-1].state if steps else machine.initial()
        if not is_of_transition(prop):
            try:
                machine.holds(prop, machine.scope(state, state))
            except EvaluationError as problem:
                return steps, str(problem)
        for decoded in self.teller.tell(state):
            if decoded.branch:
                try:
                    machine.holds(prop, decoded.see(machine, state))
                except EvaluationError as problem:
                    return (*steps, self.follow(state, decoded)), str(problem)
        raise Disagreement(f"{prop.name} has a value where the engine found none")

    def trace_undefined(self, operation: str, note: Note) -> tuple[tuple[ReachedStep, ...], str]:
        """The trace to an operation that asks for a value that does not exist, or of which a
        condition of the instance does, and what it asks."""
        steps = self.to_state(note.source)
        machine = self.search.program.plan.machine
        state = steps[-1].state if steps else machine.initial()
        for decoded in self.teller.tell(state):
            if not decoded.branch and decoded.operation == operation:
                try:
                    if offers(machine, state, operation, decoded.args):
                        machine.outcomes(state, operation, decoded.args)
                except EvaluationError as problem:
                    return (*steps, ReachedStep(operation, decoded.args, "", state)), str(problem)
        raise Disagreement(f"{operation} does not fail as the engine says")
