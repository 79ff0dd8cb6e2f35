"""Calls the operations of one machine in compiled code, with the results of the definition. If
compiled code cannot compute a result, the definition does."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from charter.analysis.canonical import Canonical
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.memory.arrays import Array
from charter.explore.native.memory.machine_context import ERROR, FATAL, MachineContext
from charter.explore.native.program.compile_instance import Choices, Program, program
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import Scope, State
from charter.semantics.machine import Machine

MOST_KNOWN = 1 << 16
"""The most cached values of one type, in each direction."""

Slots = tuple[int, ...]


@dataclass(slots=True)
class Encoding:
    """Values of one type as slots, and back; `widths` are the bits that each slot can have."""

    program: Program
    kind: t.Type
    widths: tuple[int, ...] = field(init=False)
    slots: dict[Value, Slots | None] = field(default_factory=dict)
    values: dict[Slots, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.widths = tuple(self.program.plan.layout.bits(self.kind))

    def encode(self, value: Value) -> Slots | None:
        """The slots of a value; None if a number does not fit."""
        known = self.slots.get(value, ())
        if known == ():
            if len(self.slots) > MOST_KNOWN:
                self.slots.clear()
            slots = tuple(self.program.plan.layout.encode(self.kind, value))
            fits = all(0 <= s < 1 << w for s, w in zip(slots, self.widths, strict=True))
            known = self.slots[value] = slots if fits else None
        return known

    def decode(self, slots: Slots) -> Value:
        """The value of slots."""
        if slots not in self.values:
            if len(self.values) > MOST_KNOWN:
                self.values.clear()
            self.values[slots] = self.program.plan.layout.decode(self.kind, slots)
        return self.values[slots]


@dataclass(slots=True)
class ValuesEncoding:
    """The encoding of several values, one after another."""

    parts: tuple[Encoding, ...]

    def encode(self, values: Sequence[Value]) -> list[int] | None:
        """The slots of all values; None if a number does not fit."""
        found: list[int] = []
        for part, value in zip(self.parts, values, strict=True):
            slots = part.encode(value)
            if slots is None:
                return None
            found += slots
        return found

    def decode(self, slots: Sequence[int]) -> tuple[Value, ...]:
        """The values of slots; more may follow."""
        found: list[Value] = []
        at = 0
        for part in self.parts:
            end = at + len(part.widths)
            found.append(part.decode(tuple(slots[at:end])))
            at = end
        return tuple(found)


@dataclass(slots=True)
class CompiledMachine:
    """One program, with memory of its own."""

    program: Program
    memory: Array
    state: ValuesEncoding
    args: dict[str, ValuesEncoding]
    replies: dict[str, Encoding]
    names: tuple[str, ...]

    @staticmethod
    def of(model: n.Model, instance: n.Instance, cache: Path | None) -> CompiledMachine:
        """The machine of an instance. Raises CannotCompile."""
        choices = Choices(detailed=True)
        return CompiledMachine.around(program(model, instance, choices, cache, optimized=False))

    @staticmethod
    def around(compiled: Program) -> CompiledMachine:
        """The machine of a detailed program."""
        machine = compiled.plan.machine

        def row(kinds: Sequence[t.Type]) -> ValuesEncoding:
            return ValuesEncoding(tuple(Encoding(compiled, kind) for kind in kinds))

        return CompiledMachine(
            compiled,
            Array.of(compiled.plan.context.size),
            row([v.type for v in machine.variables]),
            {name: row([p.type for p in o.params]) for name, o in machine.operations.items()},
            {
                name: Encoding(compiled, o.result)
                for name, o in machine.operations.items()
                if isinstance(o, n.Operation)
            },
            tuple(machine.operations),
        )

    @property
    def machine(self) -> Machine:
        """The machine of the definition."""
        return self.program.plan.machine

    def outcomes(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        """As `Machine.outcomes`. Raises EvaluationError."""
        found = self._outcomes([state[v.name] for v in self.machine.variables], operation, args)
        return self.machine.outcomes(state, operation, args) if found is None else found

    def _outcomes(
        self, state: Sequence[Value], operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...] | None:
        """None where compiled code has no answer."""
        slots, given = self.state.encode(state), self.args[operation].encode(args)
        if slots is None or given is None:
            return None
        context = self.context
        self._write(context.fields, slots)
        self._write(context.arguments, given)
        number = self.names.index(operation)
        count = self.program.library["outcomes_of"](self.memory.address, number)
        if self._has_failed():
            return None
        reply = self.replies.get(operation)
        width = 0 if reply is None else len(reply.widths)
        size = 1 + width + context.slots
        rows = self.memory.numbers(context.rows, count * size)
        labels = self.program.plan.labels
        return tuple(
            Outcome(
                labels[rows[at]],
                self.reply(number, rows[at + 1 : at + 1 + width]),
                self._state(rows[at + 1 + width : at + size]),
            )
            for at in range(0, count * size, size)
        )

    def unpack(self, words: Sequence[int]) -> State:
        """A state from the words of a search that keeps states as they were reached."""
        return self._state(self.program.plan.packing.unpack(words))

    def reply(self, operation: int, slots: Sequence[int]) -> Value:
        """The reply of an operation, by its number; more slots may follow."""
        reply = self.replies.get(self.names[operation])
        return None if reply is None else reply.decode(tuple(slots[: len(reply.widths)]))

    def _state(self, slots: Sequence[int]) -> State:
        names = (v.name for v in self.machine.variables)
        return dict(zip(names, self.state.decode(slots), strict=True))

    def holds(self, prop: n.Property, scope: Scope) -> bool:
        """As `Machine.holds`. Raises EvaluationError."""
        found = self._holds(prop, scope)
        return self.machine.holds(prop, scope) if found is None else found

    def _holds(self, prop: n.Property, scope: Scope) -> bool | None:
        """None where compiled code has no answer."""
        variables, context, plan = self.machine.variables, self.context, self.program.plan
        after = scope.before if scope.after is None else scope.after
        slots = self.state.encode([scope.before[v.name] for v in variables])
        slots_after = self.state.encode([after[v.name] for v in variables])
        if slots is None or slots_after is None:
            return None
        self._write(context.fields, slots)
        self._write(context.rows, slots_after)
        if scope.args:
            args = self.args[scope.took.partition("/")[0]].encode(scope.args)
            if args is None:
                return None
            self._write(context.arguments, args)
        took = plan.labels.index(scope.took) if scope.took else -1
        number = plan.noted.index((prop.kind, prop.name))
        noted = self.program.library["noted"](self.memory.address, number, took)
        if self._has_failed():
            return None
        return bool(noted) is (prop.kind == "witness")

    @property
    def context(self) -> MachineContext:
        """Offsets in the memory."""
        return self.program.plan.context

    def _write(self, at: int, slots: list[int]) -> None:
        self.memory.view[at : at + len(slots)] = memoryview(array("Q", slots))

    def _has_failed(self) -> bool:
        """Whether compiled code had no answer; clears the error."""
        view = self.memory.view
        failed = bool(view[ERROR] or view[FATAL])
        view[ERROR] = view[FATAL] = 0
        return failed

    def form(self, state: State) -> Hashable:
        """Equal for states that are equal up to renaming: the key in slots, or the canonical form
        if a number does not fit."""
        slots = self.state.encode([state[v.name] for v in self.machine.variables])
        if slots is None:
            return Canonical.of(self.machine).form(state)
        plan = self.program.plan
        context = self.context
        self._write(context.fields, slots)
        at = self.memory.at
        self.program.library["key"](at(context.fields), at(context.key))
        return tuple(plan.packing.unpack(self.memory.numbers(context.key, context.words)))
