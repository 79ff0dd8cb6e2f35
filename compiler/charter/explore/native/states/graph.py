"""Reads the graph of a native search as values: states, one transition for each class, and how each
state was first reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from charter.cache.files import cache_folder
from charter.core import nodes as n
from charter.explore.native.program.anchor import use
from charter.explore.native.program.compile_instance import Choices
from charter.explore.native.program.compiled import CompiledMachine
from charter.explore.native.search.explore import Exploration, NativeOptions, explore
from charter.explore.native.search.traces import OutcomeBuffer
from charter.explore.result import TraceStep
from charter.explore.successors import Transition
from charter.semantics.expressions import State


@dataclass(slots=True)
class CompiledGraph:
    """The graph of a complete search, with states as they were first reached."""

    found: Exploration
    successors: CompiledMachine
    _states: list[State] = field(default_factory=list)
    _arrivals: list[tuple[int, TraceStep]] = field(default_factory=list)

    @staticmethod
    def of(
        model: n.Model, instance: n.Instance, most_states: int, tell: Callable[[int], None]
    ) -> CompiledGraph:
        """As `DefinedGraph.of`. Raises EngineUnsupported or CannotExplore."""
        choices, cache = Choices(detailed=True), cache_folder("engine")
        options = NativeOptions(choices, most_states=most_states, cache=cache)
        found = explore(model, instance, options, lambda now: tell(now.distinct))
        return CompiledGraph.around(found)

    @staticmethod
    def around(found: Exploration) -> CompiledGraph:
        """The graph of a search by a detailed program."""
        compiled = CompiledMachine.around(found.search.program)
        use(found.search.program.library, None)  # forms are compared with those of other searches
        return CompiledGraph(found, compiled)

    @property
    def states(self) -> Sequence[State]:
        """As `StateGraph.states`; read when they are first asked for."""
        if not self._states:
            self._states += map(self.state, range(self.found.counts.distinct))
        return self._states

    def state(self, number: int) -> State:
        """One of `states`, without reading the others."""
        return self.successors.unpack(self.found.search.states.get(number)[0])

    def cases(self) -> Iterator[Transition]:
        """As `StateGraph.cases`."""
        context, asked = (
            self.successors.program.plan.context,
            OutcomeBuffer.of(self.successors.program),
        )
        size, key = context.outcome_size, slice(3, context.outcome_args)
        for number in range(self.found.counts.distinct):
            seen: set[tuple[int, ...]] = set()
            for i in range(asked.ask(self._slots(number))):
                row = asked.rows.numbers(i * size, size)
                if row[2] >> 63:
                    continue  # its evaluation is undefined
                case = (row[0], row[2], *row[key], *row[context.outcome_reply + context.reply :])
                if case not in seen:
                    seen.add(case)
                    reply = self.successors.reply(row[0], row[context.outcome_reply :])
                    yield Transition(number, self._step(row), reply)

    def arrival(self, number: int) -> tuple[int, TraceStep]:
        """As `StateGraph.arrival`."""
        if not self._arrivals:
            self._arrivals += self._all_arrivals()
        return self._arrivals[number - 1]

    def _all_arrivals(self) -> Iterator[tuple[int, TraceStep]]:
        """States reached from the same state are adjacent, so each state is expanded once."""
        asked, before = OutcomeBuffer.of(self.successors.program), -1
        size = self.successors.program.plan.context.outcome_size
        rows: dict[int, list[int]] = {}
        for number in range(1, self.found.counts.distinct):
            _, source, outcome = self.found.search.states.get(number)
            if source != before:
                count, before = asked.ask(self._slots(source)), source
                listed = (asked.rows.numbers(i * size, size) for i in range(count))
                rows = {row[1]: row for row in listed}
            yield source, self._step(rows[outcome])

    def _slots(self, number: int) -> list[int]:
        packing = self.successors.program.plan.packing
        return packing.unpack(self.found.search.states.get(number)[0])

    def _step(self, row: list[int]) -> TraceStep:
        plan = self.successors.program.plan
        at = plan.context.outcome_args
        name = self.successors.names[row[0]]
        args = self.successors.args[name].decode(row[at : at + plan.context.args])
        return TraceStep(name, args, plan.labels[row[2]])
