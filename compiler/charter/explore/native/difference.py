"""Finds the first state of a machine in which a changed machine has other outcomes, in compiled
code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.explore.native.program.compile_instance import Choices, Program, program
from charter.explore.native.search.explore import Exploration, NativeOptions, explore
from charter.explore.native.search.traces import Disagreement, OutcomeBuffer, Teller, Traces, bare
from charter.explore.outcome_difference import OutcomeDifference
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

Row = tuple[int | str, ...]
DETAILED = Choices(detailed=True)


@dataclass(frozen=True, slots=True)
class CompiledStates:
    """All states of a machine in an instance, searched in compiled code: `ReachedStates`."""

    model: n.Model
    instance: n.Instance
    found: Exploration

    @staticmethod
    def of(
        model: n.Model, instance: n.Instance, most: int, watch: Callable[..., None]
    ) -> CompiledStates | None:
        """Search an instance to its end; None if it has more than `most` states. `watch` is called
        now and then, and may raise. Raises EngineUnsupported or CannotExplore."""
        found = explore(model, instance, NativeOptions(DETAILED, most_states=most), watch)
        return CompiledStates(model, instance, found) if found.counts.complete else None

    @property
    def program(self) -> Program:
        """The compiled program."""
        return self.found.search.program

    def other_initial_values(self, changed: n.Model, instance: n.Instance) -> tuple[str, ...]:
        """As `ReachedStates.other_initial_values`."""
        mine, its = self.program.plan.machine.initial(), Machine.of(changed, instance).initial()
        return tuple(sorted(name for name in mine if mine[name] != its[name]))

    def difference(
        self, changed: n.Model, instance: n.Instance, watch: Callable[[], None]
    ) -> OutcomeDifference | None:
        """As `ReachedStates.difference`. Raises Disagreement if the definition sees none there."""
        other = program(changed, instance, DETAILED, None, optimized=False)
        mine, its = OutcomeBuffer.of(self.program), OutcomeBuffer.of(other)
        in_reply: tuple[int, Row] | None = None
        for number in range(self.found.counts.distinct):
            watch()
            words = self.found.search.states.get(number)[0]
            slots = self.program.plan.packing.unpack(words)
            first, second = outcome_rows(mine, slots), outcome_rows(its, slots)
            if first == second:
                continue
            apart = {*map(self._without_reply, first)} ^ {*map(self._without_reply, second)}
            if apart:
                row = min((r for r in first ^ second if self._without_reply(r) in apart), key=repr)
                return self._describe(number, row, Machine.of(other.plan.machine.model, instance))
            in_reply = in_reply or (number, min(first ^ second, key=repr))
        if in_reply is None:
            return None
        told = self._describe(*in_reply, Machine.of(other.plan.machine.model, instance))
        return replace(told, replies=True)

    def _without_reply(self, row: Row) -> Row:
        return row[: len(row) - self.program.plan.context.reply] if row[1] else row

    def _describe(self, number: int, row: Row, other: Machine) -> OutcomeDifference:
        plan = self.program.plan
        machine = plan.machine
        name = list(machine.operations)[int(row[0])]
        teller = Teller(self.program)
        trace = Traces(self.found.search, teller).to_state(number)
        state = trace[-1].state if trace else machine.initial()
        params = machine.operations[name].params
        at = 2
        args = list[n.Value]()
        for param in params:
            size = plan.layout.slots(param.type)
            args.append(plan.layout.decode(param.type, [int(x) for x in row[at : at + size]]))
            at += size
        called = (state, name, tuple(args))
        first, second = _outcomes(machine, called), _outcomes(other, called)
        if first == second:
            raise Disagreement(f"the definition sees no other outcomes of {name}")
        return OutcomeDifference(bare(trace), name, tuple(args), first, second)


def _outcomes(
    machine: Machine, called: tuple[State, str, tuple[n.Value, ...]]
) -> tuple[Outcome, ...] | None:
    try:
        return machine.outcomes(*called)
    except EvaluationError:
        return None


def outcome_rows(asked: OutcomeBuffer, slots: list[int]) -> set[Row]:
    """The outcomes of a state: operation, branch ("": undefined), arguments, state after, reply."""
    plan = asked.program.plan
    context = plan.context
    size, after = context.outcome_size, context.outcome_args
    end = context.outcome_reply + context.reply
    count = asked.ask(slots)
    numbers = asked.rows.numbers(0, count * size)
    found = set[Row]()
    for at in range(0, count * size, size):
        if numbers[at + 2] >> 63:
            args = numbers[at + after : at + after + context.args]
            found.add((numbers[at], "", *args))
            continue
        label = plan.labels[numbers[at + 2]]
        found.add((numbers[at], label, *numbers[at + after : at + end]))
    return found
