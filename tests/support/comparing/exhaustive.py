"""Every transition of an instance: what the definition says of each state that the native engine
has reached, and what the engine says of it."""

from __future__ import annotations

import gc
from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import Struct

from tests.support.comparing.defined import (
    Answer,
    Moves,
    Numbers,
    Offers,
    Properties,
    Question,
    Verdicts,
    define,
    verdicts,
)
from tests.support.comparing.sharing import Sharing

from charter.analysis.canonical import Canonical
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.emit.body import arguments_of
from charter.explore.native.memory.machine_context import FATAL, NOTE, OUTSIDE
from charter.explore.native.search.explore import Exploration
from charter.explore.native.search.levels import Search
from charter.explore.native.search.traces import OutcomeBuffer, Teller
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

WORD = 8
"""Bytes of a slot."""
NO_BRANCH = 1 << 63
"""From here on the branch in a row is that of an operation without an outcome."""


# --- the native engine ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """How an operation is told: its name, its parameters with the offset of each in slots, the
    bytes of the arguments, and the bytes and the type of the reply (no bytes if the search knows of
    none)."""

    name: str
    params: Sequence[n.Param]
    offsets: Sequence[int]
    args: int
    reply: int
    result: t.Type | None


@dataclass(frozen=True, slots=True)
class Engine:
    """Reads what the native engine says of the states that it has reached. `questions` and
    `answers` are known by the bytes that they are told as; `keys` are those of the states after."""

    search: Search
    numbers: Numbers
    asked: OutcomeBuffer
    row: Struct
    """Operation, number of the outcome, branch, key, arguments, state after, and the rest."""
    told: Sequence[Told]
    questions: dict[tuple[int, bytes], int] = field(default_factory=dict)
    answers: dict[tuple[int, bytes, bytes], int] = field(default_factory=dict)
    after: dict[bytes, int] = field(default_factory=dict)
    keys: dict[int, tuple[int, ...]] = field(default_factory=dict)
    values: dict[tuple[str, bytes], Value] = field(default_factory=dict)
    """Of variables, by the bytes of their slots."""

    @staticmethod
    def of(found: Exploration, numbers: Numbers) -> Engine:
        """Of a search in memory."""
        assert isinstance(found.search, Search)
        plan = found.search.program.plan
        context, told = plan.context, list[Told]()
        for name, operation in plan.machine.operations.items():
            offsets, size = arguments_of(plan.layout, operation.params)
            result = None
            if context.detailed and isinstance(operation, n.Operation):
                result = operation.result
            reply = 0 if result is None else plan.layout.slots(result)
            told.append(Told(name, operation.params, offsets, WORD * size, WORD * reply, result))
        asked = OutcomeBuffer.of(found.search.program)
        return Engine(found.search, numbers, asked, context.outcome_row, told)

    def state(self, number: int) -> State:
        """A state as the search keeps it."""
        return self._state(array("Q", self._slots(number)).tobytes())

    def _slots(self, number: int) -> list[int]:
        words, _, _ = self.search.states.get(number)
        return self.search.program.plan.packing.unpack(words)

    def moves(self, number: int) -> tuple[Moves, int, Verdicts] | None:
        """The transitions from a state, how many leave the instance, and what is noted of
        properties. None if the engine gives up there: a counter would exceed 63."""
        plan, view = self.search.program.plan, self.asked.memory.view
        context = plan.context
        ends = context.noted, context.noted + NOTE * context.notes
        view[OUTSIDE] = view[FATAL] = 0
        for i in range(*ends, NOTE):
            view[i] = 0
        count = self.asked.ask(self._slots(number))
        if view[FATAL]:
            return None
        assert count < 1 << 15, "a state was asked twice: its notes are counted twice"
        notes = zip(plan.noted, view[ends[0] : ends[1] : NOTE], strict=True)
        properties = {p.name for p in plan.machine.model.properties}
        found = defaultdict[int, list[int]](list)
        rows = self.asked.rows.view[: count * context.outcome_size].tobytes()
        for operation, _, branch, key, args, after, rest in self.row.iter_unpack(rows):
            told = self.told[operation]
            asked = operation, args[: told.args]
            answer = branch, after, rest[: told.reply] if branch < NO_BRANCH else b""
            if asked not in self.questions:
                self.questions[asked] = self.numbers.questions.of(self._question(told, args))
            if answer not in self.answers:
                self.answers[answer] = self.numbers.answers.of(self._answer(told, answer, key))
            found[self.questions[asked]].append(self.answers[answer])
        said = {about: noted for about, noted in notes if noted and about[1] in properties}
        moves = {question: tuple(sorted(answers)) for question, answers in found.items()}
        return moves, view[OUTSIDE], said

    def _question(self, told: Told, args: bytes) -> Question:
        slots = slots_in(args)
        parts = zip(told.params, told.offsets, strict=True)
        layout = self.search.program.plan.layout
        return told.name, tuple([layout.decode(p.type, slots[at:]) for p, at in parts])

    def _answer(self, told: Told, answer: tuple[int, bytes, bytes], key: bytes) -> Answer:
        branch, state, reply = answer
        plan = self.search.program.plan
        if state not in self.after:
            self.after[state] = self.numbers.of(self._state(state))
        after = self.after[state]
        if branch >= NO_BRANCH:
            return "", after, None
        self.keys.setdefault(after, tuple(slots_in(key)))
        value = None if told.result is None else plan.layout.decode(told.result, slots_in(reply))
        return plan.labels[branch], after, value

    def _state(self, slots: bytes) -> State:
        """A state from slots."""
        plan, state = self.search.program.plan, dict[str, Value]()
        starts = plan.variable_slots.offsets
        for variable, start, end in zip(
            plan.machine.variables, starts, [*starts[1:], len(slots) // WORD], strict=True
        ):
            key = variable.name, slots[WORD * start : WORD * end]
            if key not in self.values:
                self.values[key] = plan.layout.decode(variable.type, slots_in(key[1]))
            state[variable.name] = self.values[key]
        return state


def slots_in(told: bytes) -> list[int]:
    """Slots that are told as bytes."""
    return array("Q", told).tolist()


def _difference(numbers: Numbers, state: State, engine: Moves, definition: Moves) -> str:
    def list_answers(moves: Moves, others: Moves) -> list[tuple[Question, list[Answer]]]:
        values = numbers.answers.values
        return [
            (numbers.questions.values[question], [values[number] for number in answers])
            for question, answers in moves.items()
            if others.get(question) != answers
        ]

    return (
        f"in {state} only the engine: {list_answers(engine, definition)}, only the definition: "
        + str(list_answers(definition, engine))
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """How many states were asked, how many transitions and properties' answers compared."""

    states: int
    moves: int
    noted: int


def compare(found: Exploration, machine: Machine, every: int = 1) -> Tally:
    """What `_compare` does, without the collector of cyclic garbage: nothing here is any, and to
    look for it among all that is remembered takes a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        return _compare(found, machine, every)
    finally:
        if enabled:
            gc.enable()


def _compare(found: Exploration, machine: Machine, every: int) -> Tally:
    """Asserts that the native engine and `machine`, the definition, say the same of every state
    that the search has reached (of every so many): all transitions, and what properties say of the
    state and of each; with replies, where the program was compiled to tell them. `machine` is that
    of the search, whose model is narrowed."""
    machine = Sharing.within(machine)
    numbers, properties = Numbers.of_machine(machine), Properties.of(machine)
    offers = Offers.of(numbers)
    engine, teller = Engine.of(found, numbers), Teller(found.search.program)
    replies = found.search.program.plan.context.detailed
    known: set[int] = set()
    moved = noted = 0
    for i in range(0, found.counts.distinct, every):
        state, told = engine.state(i), engine.moves(i)
        if told is None:
            assert found.stopped
            continue
        moves, outside, said = told
        by_definition = define(numbers, offers, state, replies)
        assert moves == by_definition.moves, _difference(numbers, state, moves, by_definition.moves)
        assert outside == by_definition.outside, state
        assert said == verdicts(numbers, properties, state, moves), state
        number = numbers.of(state)
        engine.keys[number] = teller.key(state)
        known.add(number)
        moved, noted = moved + sum(map(len, moves.values())), noted + len(said)
    canonical = Canonical.of(machine)
    forms = {number: canonical.form(numbers.states[number]) for number in engine.keys}
    pairs = {(key, forms[number]) for number, key in engine.keys.items()}
    assert len(pairs) == len({key for key, _ in pairs}) == len({form for _, form in pairs})
    if every == 1:
        reached = {forms[number] for number in known}
        assert canonical.form(machine.initial()) in reached
        assert len(reached) == len(pairs) == found.counts.distinct
    return Tally(len(known), moved, noted)


__all__ = ["Tally", "compare"]
