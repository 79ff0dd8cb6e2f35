"""Reads the states that a search has reached, as table rows or filtered by a predicate.

A row holds a state in its canonical form and the step by which it was first reached. Where elements
or counters are interchangeable, that step leads from the source row's state to this state only up
to renaming.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from charter.analysis.bounds import bounds_of
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.emit.body import arguments_of
from charter.explore.native.memory.arrays import Array
from charter.explore.native.memory.machine_context import NOTE, SOURCE
from charter.explore.native.memory.state_store import BLOCK_ROWS
from charter.explore.native.program.compile_instance import ProgramInterface
from charter.explore.native.search.explore import Exploration
from charter.explore.native.search.levels import Search
from charter.explore.native.search.traces import (
    Disagreement,
    OutcomeBuffer,
    ReachedStep,
    Teller,
    Traces,
)
from charter.formats.canonical import text
from charter.formats.states import (
    ARGS,
    LEVEL,
    MATCHES,
    NUMBER,
    STEP,
    Cell,
    Chunk,
    Column,
    Form,
    Head,
    column_name,
)  # fmt: skip
from charter.formats.states import (
    SOURCE as FROM,
)
from charter.semantics.expressions import State
from charter.semantics.values import Universe, to_json

MOST_KNOWN = 1 << 16
"""Values of a variable, and lists of arguments, whose text is remembered."""
BLOCK = 2048
"""States that a predicate is asked of at once, where it rarely holds."""


def form_of(kind: t.Type) -> Form:
    """The form of a type's values in a table cell."""
    match kind:
        case t.Bool():
            return "truth"
        case t.Int() | t.Counter(opaque=False):
            return "number"
        case t.Sort() | t.Enum() | t.Counter():
            return "text"
        case t.Option(inner=inner) if not isinstance(inner, t.Option):
            return form_of(inner)
        case _:
            return "json"


def cell_of(kind: t.Type, value: Value, universe: Universe) -> Cell:
    """A value as a table cell."""
    found = to_json(kind, value, universe)
    if form_of(kind) == "json":
        return text(found)
    assert found is None or isinstance(found, bool | int | str)
    return found


@dataclass(slots=True)
class _Variable:
    """Decodes one variable from packed states: `parts` are its words and their bit masks, `places`
    the word, lowest bit and width of each slot."""

    plan: ProgramInterface
    kind: t.Type
    parts: tuple[tuple[int, int], ...]
    places: tuple[tuple[int, int, int], ...]
    known: dict[tuple[int, ...], Cell] = field(default_factory=dict)

    @staticmethod
    def of(plan: ProgramInterface, kind: t.Type, offset: int) -> _Variable:
        places = plan.packing.places[offset : offset + plan.layout.slots(kind)]
        masks: dict[int, int] = {}
        for word, low, width in places:
            masks[word] = masks.get(word, 0) | ((1 << width) - 1) << low
        return _Variable(plan, kind, tuple(masks.items()), places)

    def cell(self, words: Sequence[int]) -> Cell:
        bits = tuple([words[word] & mask for word, mask in self.parts])
        known = self.known
        if bits in known:
            return known[bits]
        slots = [words[word] >> low & ((1 << width) - 1) for word, low, width in self.places]
        layout = self.plan.layout
        found = cell_of(self.kind, layout.decode(self.kind, slots), layout.universe)
        if len(known) >= MOST_KNOWN:
            known.clear()
        known[bits] = found
        return found


@dataclass(frozen=True, slots=True)
class _Steps:
    """Recomputes the outcomes of packed states, one state at a time, to find labels and arguments
    of steps."""

    asked: OutcomeBuffer
    known: dict[tuple[int, ...], str] = field(default_factory=dict)

    def outcomes(self, words: list[int]) -> list[int]:
        """The numbers of a state's outcomes, in order. Call before `step`, which takes an index
        into them."""
        plan = self.asked.program.plan
        count, size = self.asked.ask(plan.packing.unpack(words)), plan.context.outcome_size
        return self.asked.rows.view[1 : count * size : size].tolist()

    def step(self, place: int) -> tuple[str, str]:
        """The label of an outcome, and its arguments as JSON text."""
        plan = self.asked.program.plan
        context = plan.context
        at = place * context.outcome_size
        operation, _, branch = self.asked.rows.numbers(at, 3)
        name = list(plan.machine.operations)[operation]
        params = plan.machine.operations[name].params
        offsets, size = arguments_of(plan.layout, params)
        slots = self.asked.rows.numbers(at + context.outcome_args, size)
        known = (operation, *slots)
        if known not in self.known:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            args = tuple(
                plan.layout.decode(p.type, slots[offset:])
                for p, offset in zip(params, offsets, strict=True)
            )
            self.known[known] = text(plan.machine.args_json(name, args))
        return plan.labels[branch], self.known[known]


@dataclass(frozen=True, slots=True)
class Reached:
    """The states of `search`, whose results are `result`. `asked` is the index of the predicate's
    note (-1 without one), `expression` its text, `mutant` the name of the mutant that was
    searched."""

    search: Search
    result: Exploration
    asked: int = -1
    expression: str = ""
    mutant: str = ""

    @staticmethod
    def of(found: Exploration, predicate: n.Property | None, mutant: str = "") -> Reached:
        """The states of an exploration. `predicate` is the witness of its model to filter by;
        `mutant` is the name of that model's mutant ("" for none)."""
        search = found.search
        assert isinstance(search, Search)
        if predicate is None:
            return Reached(search, found, mutant=mutant)
        asked = search.program.plan.noted.index((predicate.kind, predicate.name))
        asking = predicate.span.source.text[predicate.span.start : predicate.span.end]
        return Reached(search, found, asked, asking.strip(), mutant)

    @property
    def plan(self) -> ProgramInterface:
        """The interface of the program."""
        return self.search.program.plan

    @property
    def head(self) -> Head:
        """The head of the table."""
        plan = self.plan
        instance = plan.machine.instance
        shown = tuple(Column(column_name(v.name), form_of(v.type)) for v in plan.machine.variables)
        matches = (MATCHES,) if self.asked >= 0 else ()
        return Head(
            protocol=plan.machine.model.protocol,
            variant=plan.machine.model.variant,
            mutant=self.mutant,
            machine=instance.machine,
            instance=instance.name,
            bounds=bounds_of(instance),
            program=self.search.program.digest,
            permuted=plan.quotient.sorts,
            expression=self.expression,
            distinct=self.search.distinct,
            levels=self.result.counts.levels,
            complete=self.result.counts.complete,
            lossy=self.result.storage.lossy,
            columns=(NUMBER, LEVEL, FROM, STEP, ARGS, *matches, *shown),
        )

    # --- rows ------------------------------------------------------------------------------------

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The rows in order, at most `size` at a time."""
        ends = list(accumulate(self.result.counts.levels))
        variables = [
            _Variable.of(self.plan, v.type, offset)
            for v, offset in zip(
                self.plan.machine.variables, self.plan.variable_slots.offsets, strict=True
            )
        ]
        steps = self._steps()
        hits = self.hits() if self.asked >= 0 else None
        hit = -1
        for first in range(0, self.search.distinct, size):
            rows: list[list[Cell]] = []
            for number in range(first, min(first + size, self.search.distinct)):
                words, source, _ = self.search.states.get(number)
                label, args = next(steps)
                row: list[Cell] = [
                    number, bisect_right(ends, number), source if number else None, label, args,
                ]  # fmt: skip
                if hits is not None:
                    while -1 <= hit < number:
                        hit = next(hits, -2)
                    row.append(hit == number)
                row += [variable.cell(words) for variable in variables]
                rows.append(row)
            yield [list(column) for column in zip(*rows, strict=True)]

    def _steps(self) -> Iterator[tuple[Cell, Cell]]:
        """Label and arguments of the step to each state. States with the same source are adjacent,
        so each source is expanded once."""
        reader = _Steps(OutcomeBuffer.of(self.search.program))
        states, before = self.search.states, -1
        outcomes: list[int] = []
        yield None, None
        for number in range(1, self.search.distinct):
            _, source, outcome = states.get(number)
            if source != before:
                outcomes, before = reader.outcomes(states.get(source)[0]), source
            yield reader.step(outcomes.index(outcome))

    # --- a predicate -----------------------------------------------------------------------------

    @property
    def found(self) -> int:
        """The number of reached states in which the predicate holds."""
        return self.search.note(self.asked).count

    @property
    def undefined(self) -> int:
        """The number of states in which the predicate is undefined."""
        return self.search.note(self.asked + 1).count

    def hits(self) -> Iterator[int]:
        """The numbers of the states in which the predicate holds. Evaluates a block of states at a
        time; after a hit, blocks are small again."""
        check, states = self.search.program.library["check"], self.search.states
        memory = Array.of(self.plan.context.size)
        at = self.plan.context.noted + NOTE * self.asked
        number = self.search.note(self.asked).source if self.found else self.search.distinct
        size = 1
        while number < self.search.distinct:
            count = min(size, self.search.distinct - number, BLOCK_ROWS - number % BLOCK_ROWS)
            memory.view[at], memory.view[SOURCE] = 0, number
            check(memory.address, states.address(number), count)
            if memory.view[at]:
                number, size = memory.view[at + 1], 1
                yield number
                number += 1
            else:
                number, size = number + count, min(2 * size, BLOCK)

    def reason(self, number: int, predicate: n.Property) -> tuple[tuple[ReachedStep, ...], State]:
        """A shortest trace to a state, and the state itself, as computed by the definition. Raises
        Disagreement if the predicate does not hold there by the definition."""
        machine = self.plan.machine
        trace = Traces(self.search, Teller(self.search.program)).to_state(number)
        state = trace[-1].state if trace else machine.initial()
        if not machine.holds(predicate, machine.scope(state, state)):
            raise Disagreement(f"{predicate.name} is not what the engine says (state {number})")
        return trace, state
