"""Every transition of an instance: what the definition says of each state that the native engine
has reached, and what the engine says of it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.transition import is_of_transition, reads_arguments
from charter.core.walk import substitute
from charter.explore.native.body import arguments_of
from charter.explore.native.context import NOTE, OUTSIDE
from charter.explore.native.explore import Exploration
from charter.explore.native.search import Search
from charter.explore.native.traces import OutcomeBuffer, Teller
from charter.semantics.builtins import EvaluationError
from charter.semantics.canonical import Canonical
from charter.semantics.environment import Arguments
from charter.semantics.expressions import Locals, Scope, State
from charter.semantics.machine import Machine

Flat = tuple[Value, ...]
"""The values of the variables of a state, in their order."""
Args = tuple[Value, ...]
Move = tuple[str, Args, str, int, Value]
"""A transition: operation, arguments, branch, the number of the state after, the reply (None where
the search knows of none). Without a branch ("") a value is asked for that does not exist, and the
state stays."""
Moves = Counter[Move]
"""How many outcomes are alike."""
Verdicts = Mapping[tuple[str, str], int]
"""Of each property whether it is violated (a witness: found) in a state or, of one of transitions,
in how many transitions from there; those that ask for a value that does not exist count apart."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers for states, so that sets of transitions are cheap."""

    machine: Machine
    numbers: dict[Flat, int] = field(default_factory=dict)
    states: list[State] = field(default_factory=list)
    outside: list[bool] = field(default_factory=list)

    def of(self, state: State) -> int:
        """The number of a state."""
        flat = tuple([state[v.name] for v in self.machine.variables])
        known = self.numbers.get(flat)
        if known is None:
            known = self.numbers[flat] = len(self.states)
            self.states.append(state)
            self.outside.append(bool(self.machine.outside(state)))
        return known


# --- the definition ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Offers:
    """The argument lists that an instance offers. They depend on the counters in a state and, where
    the instance has conditions, on the rest of it."""

    machine: Machine
    known: dict[tuple[object, ...], Sequence[Args]] = field(default_factory=dict)
    groups: dict[tuple[int, int], Mapping[Value, Sequence[Args]]] = field(default_factory=dict)
    """Argument lists by the value at a position; by the identity of the lists, which are kept."""
    conditions: dict[str, Sequence[n.Expr]] = field(default_factory=dict)

    def each(self, state: State) -> Iterator[tuple[str, Sequence[Args]]]:
        """Each operation with its argument lists."""
        machine = self.machine
        arguments = Arguments.at(machine, state)
        issued = (
            frozenset((name, frozenset(values)) for name, values in arguments.issued.all.items()),
            frozenset((key, frozenset(values)) for key, values in arguments.issued.under.items()),
        )
        for name, operation in machine.operations.items():
            if (name, issued) not in self.known:
                self.known[name, issued] = arguments.of(operation.params)
            if name not in self.conditions:
                only = [c for chosen, c in machine.instance.only if chosen == name]
                self.conditions[name] = [part for c in only for part in self._conjuncts(c)]
            lists, conditions = self.known[name, issued], self.conditions[name]
            yield (
                name,
                [*self._kept(lists, (conditions, operation.params), machine.scope(state), {})],
            )

    def _conjuncts(self, condition: n.Expr) -> Iterator[n.Expr]:
        """The parts that must all be true, those of the functions that are called among them."""
        match condition:
            case n.Binary(op="and", left=left, right=right):
                yield from self._conjuncts(left)
                yield from self._conjuncts(right)
            case n.Call(function=name, args=args):
                (function,) = (f for f in self.machine.model.functions if f.name == name)
                names = [param.name for param in function.params]
                values = dict(zip(names, args, strict=True))
                yield from self._conjuncts(substitute(function.body, values))
            case _:
                yield condition

    def _kept(
        self,
        lists: Sequence[Args],
        about: tuple[Sequence[n.Expr], Sequence[n.Param]],
        scope: Scope,
        names: Locals,
    ) -> Iterable[Args]:
        """The lists, which agree with `names`, that fulfil the conditions. A parameter gets its
        values when a condition asks for it: what comes out without it comes out for each value."""
        conditions, params = about
        for number, condition in enumerate(conditions):
            try:
                if not self.machine.evaluator.truth(condition, scope, names):
                    return
            except KeyError as asked:
                (name,) = asked.args
                at = [p.name for p in params].index(name)
                rest = conditions[number:], params
                for value, group in self._grouped(lists, at).items():
                    yield from self._kept(group, rest, scope, {**names, name: value})
                return
        yield from lists

    def _grouped(self, lists: Sequence[Args], at: int) -> Mapping[Value, Sequence[Args]]:
        known = self.groups.get((id(lists), at))
        if known is None:
            made: dict[Value, list[Args]] = {}
            for args in lists:
                made.setdefault(args[at], []).append(args)
            known = self.groups[id(lists), at] = made
        return known


@dataclass(frozen=True, slots=True)
class Defined:
    """What the definition says of a state: the transitions, and how many leave the instance."""

    moves: Moves
    outside: int


def defined(numbers: Numbers, offers: Offers, state: State, replies: bool) -> Defined:
    """Everything that can be done in a state, on the definition; with `replies` or without."""
    machine, here = numbers.machine, numbers.of(state)
    moves: Moves = Counter()
    outside = 0
    for operation, lists in offers.each(state):
        for args in lists:
            try:
                outcomes = machine.outcomes(state, operation, args)
            except EvaluationError:
                moves[operation, args, "", here, None] += 1
                continue
            for outcome in outcomes:
                after = here if outcome.state is state else numbers.of(outcome.state)
                outside += numbers.outside[after]
                if not numbers.outside[after]:
                    reply = outcome.reply if replies else None
                    moves[operation, args, outcome.branch, after, reply] += 1
    return Defined(moves, outside)


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of a machine: those of states, those of transitions, and of these those that
    read the arguments."""

    of_states: tuple[n.Property, ...]
    of_transitions: tuple[n.Property, ...]
    by_arguments: tuple[n.Property, ...]

    @staticmethod
    def of(machine: Machine) -> Properties:
        """Those of the machine of an instance."""
        own = [p for p in machine.model.properties if p.machine == machine.instance.machine]
        moving = [p for p in own if is_of_transition(p)]
        return Properties(
            tuple([p for p in own if p not in moving]),
            tuple([p for p in moving if not reads_arguments(p.body)]),
            tuple([p for p in moving if reads_arguments(p.body)]),
        )


def verdicts(numbers: Numbers, about: Properties, state: State, moves: Moves) -> Verdicts:
    """What the properties of a machine say of a state and of the transitions from it, on the
    definition."""
    machine = numbers.machine
    found: Counter[tuple[str, str]] = Counter()
    each: Counter[tuple[str, int, Args]] = Counter()
    alike: Counter[tuple[str, int, Args]] = Counter()
    for (_, args, branch, after, _), count in moves.items():
        if branch:
            each[branch, after, args] += count
            alike[branch, after, ()] += count

    def ask(properties: Sequence[n.Property], scopes: Sequence[tuple[Scope, int]]) -> None:
        for prop, (scope, count) in product(properties, scopes):
            try:
                holds = machine.holds(prop, scope)
            except EvaluationError:
                found["undefined", prop.name] += count
                continue
            if holds is (prop.kind == "witness"):
                found[prop.kind, prop.name] += count

    def scopes(different: Counter[tuple[str, int, Args]]) -> list[tuple[Scope, int]]:
        states = numbers.states
        return [
            (machine.scope(state, states[z], b, args), c) for (b, z, args), c in different.items()
        ]

    ask(about.of_states, [(machine.scope(state, state), 1)])
    ask(about.of_transitions, scopes(alike))
    ask(about.by_arguments, scopes(each))
    return found


# --- the native engine ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Engine:
    """Reads what the native engine says of the states that it has reached. `args` and `after` are
    known by the bytes that they are told as; `keys` are those of the states after."""

    search: Search
    numbers: Numbers
    asked: OutcomeBuffer
    places: dict[int, tuple[Sequence[n.Param], Sequence[int], int]] = field(default_factory=dict)
    args: dict[tuple[int, bytes], Args] = field(default_factory=dict)
    after: dict[bytes, int] = field(default_factory=dict)
    replies: dict[tuple[int, bytes], Value] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    """The slots of an operation's reply; -1 if the search knows of none."""
    keys: dict[int, tuple[int, ...]] = field(default_factory=dict)
    values: dict[tuple[str, bytes], Value] = field(default_factory=dict)
    """Of variables, by the bytes of their slots."""

    @staticmethod
    def of(found: Exploration, numbers: Numbers) -> Engine:
        """Of a search in memory."""
        assert isinstance(found.search, Search)
        return Engine(found.search, numbers, OutcomeBuffer.of(found.search.program))

    def state(self, number: int) -> State:
        """A state as the search keeps it."""
        return self._state(memoryview(array("Q", self._slots(number))))

    def _slots(self, number: int) -> list[int]:
        words, _, _ = self.search.states.get(number)
        return self.search.program.plan.packing.unpack(words)

    def moves(self, number: int) -> tuple[Moves, int, Verdicts]:
        """The transitions from a state, how many leave the instance, and what is noted of
        properties."""
        plan, view = self.search.program.plan, self.asked.memory.view
        context, names = plan.context, list(plan.machine.operations)
        ends = context.noted, context.noted + NOTE * context.notes
        view[OUTSIDE] = 0
        for i in range(*ends, NOTE):
            view[i] = 0
        count = self.asked.ask(self._slots(number))
        assert count < 1 << 15, "a state was asked twice: its notes are counted twice"
        notes = zip(plan.noted, view[ends[0] : ends[1] : NOTE], strict=True)
        properties = {p.name for p in plan.machine.model.properties}
        moves: Moves = Counter()
        rows = self.asked.rows.view
        for at in range(0, count * context.outcome_size, context.outcome_size):
            after = self._after(rows, at)
            branch = rows[at + 2]
            label = plan.labels[branch] if branch < 1 << 63 else ""
            operation = rows[at]
            args, reply = self._args(rows, at, operation), self._reply(rows, at, operation)
            moves[names[operation], args, label, after, reply if label else None] += 1
        said = {about: noted for about, noted in notes if noted and about[1] in properties}
        return moves, view[OUTSIDE], said

    def _args(self, rows: memoryview, at: int, operation: int) -> Args:
        plan = self.search.program.plan
        start = at + 3 + plan.context.words
        if operation not in self.places:
            params = list(plan.machine.operations.values())[operation].params
            self.places[operation] = params, *arguments_of(plan.layout, params)
        params, offsets, size = self.places[operation]
        key = operation, rows[start : start + size].tobytes()
        if key not in self.args:
            slots = rows[start : start + size].tolist()
            self.args[key] = tuple(
                plan.layout.decode(p.type, slots[offset:])
                for p, offset in zip(params, offsets, strict=True)
            )
        return self.args[key]

    def _reply(self, rows: memoryview, at: int, operation: int) -> Value:
        plan = self.search.program.plan
        if operation not in self.sizes:
            self.sizes[operation] = self._reply_size(operation)
        size = self.sizes[operation]
        if size < 0:
            return None
        start = at + plan.context.outcome_reply
        key = operation, rows[start : start + size].tobytes()
        if key not in self.replies:
            chosen = list(plan.machine.operations.values())[operation]
            assert isinstance(chosen, n.Operation)
            slots = rows[start : start + size].tolist()
            self.replies[key] = plan.layout.decode(chosen.result, slots)
        return self.replies[key]

    def _reply_size(self, operation: int) -> int:
        plan = self.search.program.plan
        chosen = list(plan.machine.operations.values())[operation]
        if not plan.context.detailed or isinstance(chosen, n.Step):
            return -1
        return plan.layout.slots(chosen.result)

    def _after(self, rows: memoryview, at: int) -> int:
        context = self.search.program.plan.context
        start = at + 3 + context.words + context.args
        key = rows[start : start + context.slots].tobytes()
        if key not in self.after:
            self.after[key] = self.numbers.of(self._state(rows[start : start + context.slots]))
        number = self.after[key]
        if number not in self.keys and rows[at + 2] < 1 << 63:
            self.keys[number] = tuple(rows[at + 3 : at + 3 + context.words].tolist())
        return number

    def _state(self, slots: memoryview) -> State:
        """A state from slots."""
        plan, state = self.search.program.plan, dict[str, Value]()
        starts = plan.variable_slots.offsets
        for variable, start, end in zip(
            plan.machine.variables, starts, [*starts[1:], len(slots)], strict=True
        ):
            key = variable.name, slots[start:end].tobytes()
            if key not in self.values:
                decoded = plan.layout.decode(variable.type, slots[start:end].tolist())
                self.values[key] = decoded
            state[variable.name] = self.values[key]
        return state


def _difference(state: State, engine: Moves, definition: Moves) -> str:
    return f"in {state} only the engine: {engine - definition}, only the definition: " + str(
        definition - engine
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """How many states were asked, how many transitions and properties' answers compared."""

    states: int
    moves: int
    noted: int


def compare(found: Exploration, machine: Machine, every: int = 1) -> Tally:
    """Asserts that the native engine and `machine`, the definition, say the same of every state
    that the search has reached (of every so many): all transitions, and what properties say of the
    state and of each; with replies, where the program was compiled to tell them. `machine` is that
    of the search, whose model is narrowed."""
    numbers, offers, properties = Numbers(machine), Offers(machine), Properties.of(machine)
    engine, teller = Engine.of(found, numbers), Teller(found.search.program)
    replies = found.search.program.plan.context.detailed
    known: set[int] = set()
    moved = noted = 0
    for i in range(0, found.counts.distinct, every):
        state = engine.state(i)
        moves, outside, said = engine.moves(i)
        by_definition = defined(numbers, offers, state, replies)
        # As dictionaries: neither counts anything as often as never, which `Counter` looks for.
        assert dict.__eq__(moves, by_definition.moves), _difference(
            state, moves, by_definition.moves
        )
        assert outside == by_definition.outside, state
        assert said == verdicts(numbers, properties, state, moves), state
        number = numbers.of(state)
        engine.keys[number] = teller.key(state)
        known.add(number)
        moved, noted = moved + moves.total(), noted + len(said)
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
