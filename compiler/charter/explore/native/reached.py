"""Reads the states that a search has reached, as table rows or filtered by a predicate.

A row tells how its state was first reached. It names the state as the search keeps it, up to
renaming: where elements or counters are interchangeable, the step of a row leads from the state of
its source to this state under other names.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.body import arguments_of
from charter.explore.native.context import NOTE, SOURCE
from charter.explore.native.explore import Exploration
from charter.explore.native.memory import Array
from charter.explore.native.program import ProgramInterface
from charter.explore.native.search import Search
from charter.explore.native.states import BLOCK_ROWS
from charter.explore.native.traces import Disagreement, OutcomeBuffer, ReachedStep, Teller, Traces
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
from charter.semantics.bounds import bounds_of
from charter.semantics.expressions import Scope, State
from charter.semantics.values import Universe, to_json

MOST_KNOWN = 1 << 16
"""Values of a variable, and lists of arguments, whose text is remembered."""
BLOCK = 2048
"""States that a predicate is asked of at once, where it rarely holds."""


def form_of(kind: t.Type) -> Form:
    """How the values of a type stand in a table."""
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
    """A value as it stands in a table."""
    found = to_json(kind, value, universe)
    if form_of(kind) == "json":
        return text(found)
    assert found is None or isinstance(found, bool | int | str)
    return found


@dataclass(slots=True)
class _Variable:
    """Reads one variable out of packed states: `parts` are the words and bits that it stands in,
    `places` those of its slots."""

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
    """Tells the steps out of packed states, one state after another."""

    asked: OutcomeBuffer
    known: dict[tuple[int, ...], str] = field(default_factory=dict)

    def outcomes(self, words: list[int]) -> list[int]:
        """The numbers of the outcomes of a state, in order; `step` takes their places."""
        plan = self.asked.program.plan
        count, size = self.asked.ask(plan.packing.unpack(words)), plan.context.told
        return self.asked.told.view[1 : count * size : size].tolist()

    def step(self, place: int) -> tuple[str, str]:
        """The label of an outcome, and the text of its arguments."""
        plan = self.asked.program.plan
        context = plan.context
        at = place * context.told
        operation, _, branch = self.asked.told.numbers(at, 3)
        name = list(plan.machine.operations)[operation]
        params = plan.machine.operations[name].params
        offsets, size = arguments_of(plan.layout, params)
        slots = self.asked.told.numbers(at + 3 + context.words, size)
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
    """The states of `search`, which ended as `result` says. `asked` is the note of the predicate
    (-1 without one), `expression` its text, `mutant` the one that was searched."""

    search: Search
    result: Exploration
    asked: int = -1
    expression: str = ""
    mutant: str = ""

    @staticmethod
    def of(found: Exploration, question: n.Property | None, mutant: str = "") -> Reached:
        """The states that were found; `question` is a witness of the model that was explored, which
        is `mutant` of its charter ("" for none)."""
        search = found.search
        assert isinstance(search, Search)
        if question is None:
            return Reached(search, found, mutant=mutant)
        asked = search.program.plan.noted.index((question.kind, question.name))
        asking = question.span.source.text[question.span.start : question.span.end]
        return Reached(search, found, asked, asking.strip(), mutant)

    @property
    def plan(self) -> ProgramInterface:
        """The plan of the program."""
        return self.search.program.plan

    @property
    def head(self) -> Head:
        """What the rows are of."""
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
            for v, offset in zip(self.plan.machine.variables, self.plan.shape.offsets, strict=True)
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
        """Label and arguments of the step to each state. States that were reached from one state
        follow each other, so each is asked once."""
        told = _Steps(OutcomeBuffer.of(self.search.program))
        states, before = self.search.states, -1
        outcomes: list[int] = []
        yield None, None
        for number in range(1, self.search.distinct):
            _, source, outcome = states.get(number)
            if source != before:
                outcomes, before = told.outcomes(states.get(source)[0]), source
            yield told.step(outcomes.index(outcome))

    # --- a predicate -----------------------------------------------------------------------------

    @property
    def found(self) -> int:
        """For how many states the predicate holds, of all that the search looked at."""
        return self.search.note(self.asked).count

    @property
    def undefined(self) -> int:
        """For how many states the predicate has no value."""
        return self.search.note(self.asked + 1).count

    def hits(self) -> Iterator[int]:
        """The numbers of the states for which the predicate holds. Blocks of states are asked at
        once, small ones while hits are near each other."""
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

    def reason(self, number: int, question: n.Property) -> tuple[tuple[ReachedStep, ...], State]:
        """A shortest trace to a state, and the state at its end, as the definition has them. Raises
        Disagreement if the definition does not answer the question with yes there."""
        machine = self.plan.machine
        trace = Traces(self.search, Teller(self.search.program)).to_state(number)
        state = trace[-1].state if trace else machine.initial()
        if not machine.holds(question, Scope(state, state, "")):
            raise Disagreement(f"{question.name} is not what the engine says (state {number})")
        return trace, state
