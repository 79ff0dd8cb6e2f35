"""Emits the environment of an instance: loops over the arguments of each operation.

Which arguments are offered: see `analysis.environment`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from charter.analysis.compared_numbers import NOTHING, NumbersCompared
from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.body import VariableSlots, arguments_of
from charter.explore.native.emit.code import FALSE, TRUE, Code, Number, Pointer, Ref, Truth
from charter.explore.native.emit.expr import Expr
from charter.explore.native.emit.functions import CTX
from charter.explore.native.emit.unit import FATAL_COUNTER, Unit
from charter.explore.native.memory.layout import MOST_COUNTER, CannotCompile
from charter.explore.native.memory.machine_context import (
    ERROR,
    FATAL,
    OP,
    ROWS_ROOM,
    MachineContext,
)
from charter.explore.native.program.early_tests import EarlyTest, early_tests_of, levels
from charter.explore.native.program.issued_masks import IssuedMasks

POOL = 68
"""The most values of one counter in an argument list."""

Masks = dict[str, list[Number]]
"""For each counter, masks of its current values."""

Part = tuple[t.Type, int]
"""A part of the arguments: its type, and its offset in the context."""

Body = Callable[[Number], None]
"""Prints what is done with each value; gets how many foreign counters it has."""


@dataclass(slots=True)
class OfferPrinter:
    """Prints `@issued(ctx)` and `@offer_<number>(ctx)` for each operation."""

    unit: Unit
    context: MachineContext
    variable_slots: VariableSlots
    issued: IssuedMasks
    compared: Mapping[str, NumbersCompared]
    code: Code = field(init=False)

    # --- counters in the state -------------------------------------------------------------------

    def print_issued(self) -> None:
        """`@issued(ctx)`: which counters the state holds."""
        self.code = code = Code.of(fn.ISSUED, CTX)
        if self.issued.size:
            code.clear(code.at(CTX, self.context.masks), self.issued.size)
        for variable, at in zip(
            self.variable_slots.variables, self.variable_slots.offsets, strict=True
        ):
            self.collect(variable.type, (self.context.fields + at, TRUE), ())
        code.give()
        self.unit.add(code)
        self.print_pool(fn.POOL, NOTHING)
        for name in self.issued.all:
            if name in self.compared:
                self.print_pool(fn.pool_of(name), self.compared[name])

    def collect(
        self, kind: t.Type, where: tuple[int, Truth], keys: tuple[tuple[str, int], ...]
    ) -> None:
        """Add every counter value inside a value, which is under `keys`."""
        code, layout, (at, there) = self.code, self.unit.layout, where
        if not t.holds(kind, t.Counter):
            return
        match kind:
            case t.Counter(name=name):
                if name in self.issued.all:
                    bit = code.binary("shl", 1, code.load(CTX, at))
                    bit = code.select(there, bit, 0)
                    self.note(self.issued.all[name], bit)
                    for sort, element in keys:
                        self.note(self.issued.under[name, sort] + element, bit)
            case t.Option(inner=inner):
                tag = code.nonzero(code.load(CTX, at))
                self.collect(inner, (at + 1, code.both(there, tag)), keys)
            case t.Record(fields=fields):
                for _, part in fields:
                    self.collect(part, (at, there), keys)
                    at += layout.slots(part)
            case t.Union(cases=cases):
                for number, (_, params) in enumerate(cases):
                    tag = code.compare("eq", code.load(CTX, at), number)
                    here = at + 1
                    for _, part in params:
                        self.collect(part, (here, code.both(there, tag)), keys)
                        here += layout.slots(part)
            case t.Map(key=key, value=value):
                for i in range(layout.size(key)):
                    more = (*keys, (key.name, i)) if isinstance(key, t.Sort) else keys
                    self.collect(value, (at + i * layout.slots(value), there), more)
            case t.Seq() | t.Ranking():
                count = code.load(CTX, at)
                for i in range(layout.most(kind)):
                    inside = code.both(there, code.compare("lt", i, count))
                    place = at + 1 + i * layout.slots(kind.inner)
                    self.collect(kind.inner, (place, inside), keys)
            case t.Set():
                raise CannotCompile("state with a set of counters")
            case t.Bool() | t.Int() | t.Sort() | t.Enum():
                pass  # holds no counter

    def note(self, at: int, bit: Number) -> None:
        """Add a bit to a mask."""
        place = self.code.at(CTX, self.context.masks + at)
        self.code.store(self.code.binary("or", self.code.load(place), bit), place)

    def print_pool(self, pool: fn.Pool, compared: NumbersCompared) -> None:
        """`@pool(ctx, current, all, out)`: writes the values, each with whether it is foreign, and
        those that the rules compare with; returns their number."""
        if max((compared.ahead, *compared.numbers)) > MOST_COUNTER:
            raise CannotCompile(f"a rule that compares a counter with a number past {MOST_COUNTER}")
        held, issued, out = Ref("%held"), Ref("%all"), Pointer("%out")
        code = Code.of(pool, CTX, held, issued, out)
        none = code.compare("eq", held, 0)
        current = code.select(none, issued, held)
        newest = code.highest(issued)
        count, left, seen = code.memory(1), code.memory(1), code.memory(1)
        code.store(0, count)
        if compared != NOTHING:
            code.store(0, seen)

        def add(value: Number, foreign: Number) -> None:
            place = code.row(out, code.bump(count), 2)
            code.store(value, place)
            code.store(foreign, place, 1)
            if compared != NOTHING:
                bit = code.binary("shl", 1, value)
                code.store(code.binary("or", code.load(seen), bit), seen)

        code.store(current, left)
        with code.counting(code.bits(current)):
            value = code.highest(code.load(left))
            bit = code.binary("shl", 1, value)
            code.store(code.binary("xor", code.load(left), bit), left)
            add(value, 0)
        others = code.binary("and", issued, code.binary("xor", current, -1))
        with code.when(code.nonzero(others)):
            add(code.highest(others), 1)
        with code.when(code.compare("gt", newest, 0)):
            below = code.sub(code.binary("shl", 1, newest), 1)
            free = code.binary("and", below, code.binary("xor", issued, -1))
            with code.when(code.nonzero(free)):
                add(code.highest(free), 1)
        with code.when(code.compare("gt", newest, 63 - compared.ahead)):
            code.call(fn.FAIL, CTX, 1, FATAL_COUNTER)
        foreign = code.widen(code.nonzero(current))
        add(code.binary("and", code.add(newest, 1), 63), foreign)
        if compared != NOTHING:
            next_ = code.binary("and", code.add(newest, 1), 63)
            ahead = code.binary("shl", (1 << compared.ahead) - 1, next_)
            more = code.binary("or", ahead, sum(1 << number for number in compared.numbers))
            code.store(code.binary("and", more, code.binary("xor", code.load(seen), -1)), left)
            with code.counting(code.bits(code.load(left))):
                rest = code.load(left)
                code.store(code.binary("and", rest, code.sub(rest, 1)), left)
                add(code.lowest(rest), 1)
        code.give(code.load(count))
        self.unit.add(code)

    # --- operations ------------------------------------------------------------------------------

    def print_offer(self, number: int, name: str, target: fn.Outcomes) -> None:
        """`@offer_<number>(ctx)`: an operation with every list of arguments."""
        operation = self.unit.machine.operations[name]
        self.code = code = Code.of(fn.offer(number), CTX)
        code.store(number, CTX, OP)
        only = self.conditions(name)
        self.loop(operation, lambda places: self.call(operation, target, places), only)
        code.give()
        self.unit.add(code)

    def loop(
        self,
        operation: s.Operation | s.Step,
        body: Callable[[Sequence[int]], None],
        only: Sequence[s.Expr] = (),
    ) -> None:
        """Loops over all argument lists of an operation, but for some where `only` or a condition
        of the step is false. `body` prints what is done with each; it is given the places of the
        arguments in the context."""
        tests = early_tests_of(operation, only, self.unit.declared)
        open_ = any(t.holds(param.type, t.Counter) for param in operation.params)
        for foreign in (0, 1) if open_ else (0,):
            _Loops(self, operation, foreign, body, tests).all()

    def conditions(self, name: str) -> Sequence[s.Expr]:
        """What holds wherever an operation is called, by the instance and by its assumptions."""
        return self.unit.machine.conditions(name)

    def reading(self, params: Sequence[n.Param], places: Sequence[int]) -> Expr:
        """An emitter of expressions that read the state and arguments in the context."""
        expr = Expr(self.unit, self.code)
        expr.before = self.variable_slots.places(self.code.at(CTX, self.context.fields))
        for param, at in zip(params, places, strict=True):
            expr.names[param.name] = expr.keep.part(param.type, CTX, at)
        return expr

    def call(
        self, operation: s.Operation | s.Step, target: fn.Outcomes, places: Sequence[int]
    ) -> None:
        """The operation, unless the instance does not offer it with these arguments."""
        code, context, unit = self.code, self.context, self.unit
        expr, on = self.reading(operation.params, places), code.label()
        for condition in self.conditions(operation.name):
            inside = code.label()
            code.fork(expr.truth(condition), inside, on)
            code.start(inside)
        reply = 0
        if isinstance(operation, n.Operation):
            reply = unit.layout.slots(operation.result)
        size = 1 + reply + self.variable_slots.slots
        rows, args = code.at(CTX, context.rows), code.at(CTX, context.arguments)
        fields = code.at(CTX, context.fields)
        if context.trail:
            code.clear(code.at(CTX, context.guards), context.trail)
        count = code.call(target, CTX, fields, args, rows, ROWS_ROOM)
        happened = code.binary("or", count, code.load(CTX, ERROR))
        with code.when(code.nonzero(happened)):
            code.call(fn.DELIVER, CTX, count, size, 1 + reply)
        code.jump(on)
        code.start(on)


@dataclass(slots=True)
class _Loops:
    """Prints the loops of one operation, over argument lists with so many `foreign` counters."""

    offers: OfferPrinter
    operation: s.Operation | s.Step
    foreign: int
    body: Callable[[Sequence[int]], None]
    tests: Sequence[EarlyTest]

    @property
    def code(self) -> Code:
        return self.offers.code

    def all(self) -> None:
        """Loops over all arguments, with the operation inside."""
        offers, code = self.offers, self.code
        offsets, _ = arguments_of(offers.unit.layout, self.operation.params)
        places = [offers.context.arguments + offset for offset in offsets]
        parts = [*zip(self.operation.params, places, strict=True)]
        closed = [part for part in parts if not t.holds(part[0].type, t.Counter)]
        others = [(p.type, at) for p, at in parts if t.holds(p.type, t.Counter)]
        layout = offers.unit.layout
        early = levels(self.tests, [(p.name, layout.size(p.type)) for p, _ in closed])

        def emit_call(total: Number) -> None:
            with code.when(code.compare("eq", total, self.foreign)):
                self.body(places)

        def level(number: int, masks: Masks, unsure: Truth) -> None:
            with self.emit_tests(early.get(number, ()), closed[:number], unsure) as more:
                if number == len(closed):
                    self.next(others, masks, 0, emit_call)
                    return
                kind, at = closed[number][0].type, closed[number][1]
                with self.each(kind, at) as i:
                    level(number + 1, self.narrow(kind, i, masks), more)

        level(0, {}, FALSE)

    @contextmanager
    def emit_tests(
        self, tests: Sequence[EarlyTest], known: Sequence[tuple[n.Param, int]], unsure: Truth
    ) -> Iterator[Truth]:
        """What is printed inside runs only where the tests are true, or where one of them, or one
        before (`unsure`), has no value. Yields that."""
        code, offers = self.code, self.offers
        with ExitStack() as stack:
            for test in tests:
                fatal = code.load(CTX, FATAL)
                expr = offers.reading([param for param, _ in known], [at for _, at in known])
                for let in test.lets:
                    expr.names[let.name] = expr.value(let.value)
                holds = expr.truth(test.condition)
                failed = code.nonzero(code.load(CTX, ERROR))
                gave_up = code.compare("ne", code.load(CTX, FATAL), fatal)
                code.store(0, CTX, ERROR)
                code.store(fatal, CTX, FATAL)
                unsure = code.either(unsure, code.either(failed, gave_up))
                stack.enter_context(code.when(code.either(unsure, holds)))
            yield unsure

    def together(self, parts: Iterable[Part], masks: Masks, body: Body) -> None:
        """Loops over values side by side: those without counters first, since their elements say
        which counters are current."""
        self.next(sorted(parts, key=lambda part: t.holds(part[0], t.Counter)), masks, 0, body)

    def next(self, parts: Sequence[Part], masks: Masks, total: Number, body: Body) -> None:
        """The loops of the parts that are left; `total`: the foreign counters so far."""
        if not parts:
            body(total)
            return
        (kind, at), *others = parts
        if not t.holds(kind, t.Counter):
            with self.each(kind, at) as i:
                self.next(others, self.narrow(kind, i, masks), total, body)
            return

        def rest(more: Number) -> None:
            both = self.code.add(total, more)
            with self.code.when(self.code.compare("le", both, self.foreign)):
                self.next(others, masks, both, body)

        self.values(kind, at, masks, rest)

    @contextmanager
    def each(self, kind: t.Type, at: int) -> Iterator[Ref]:
        """A loop over the values of a type without counters."""
        code, layout = self.code, self.offers.unit.layout
        slots = layout.slots(kind)
        with code.counting(layout.size(kind)) as i:
            if isinstance(kind, t.Bool | t.Int | t.Sort | t.Enum):
                code.store(i, CTX, at)
            else:
                row = code.row(self.offers.unit.domain(kind), i, slots)
                code.copy(code.at(CTX, at), row, slots)
            yield i

    def narrow(self, kind: t.Type, at: Number, masks: Masks) -> Masks:
        """The masks of current counters with one more value in the argument list."""
        code, issued = self.code, self.offers.issued
        match kind:
            case t.Sort(name=sort):
                element, there = at, TRUE
            case t.Option(inner=t.Sort(name=sort)):
                there = code.nonzero(at)
                element = code.select(there, code.sub(at, 1), 0)
            case _:
                return masks
        found = {name: list(refs) for name, refs in masks.items()}
        for name in issued.all:
            start = self.offers.context.masks + issued.under[name, sort]
            mask = code.load(code.at(CTX, start), element)
            found.setdefault(name, []).append(code.select(there, mask, 0))
        return found

    def values(self, kind: t.Type, at: int, masks: Masks, body: Body) -> None:
        """Loops over the values of a type with counters. `body` is printed once for each case of a
        union, for a value and for none, and for each length of a sequence."""
        code, layout = self.code, self.offers.unit.layout
        match kind:
            case t.Counter(name=name):
                self.loop_over_counter(name, at, masks, body)
            case t.Option(inner=inner):
                code.clear(code.at(CTX, at), layout.slots(kind))
                body(0)
                code.store(1, CTX, at)
                self.values(inner, at + 1, masks, body)
            case t.Record(fields=fields):
                self.together(self.lay_out([part for _, part in fields], at), masks, body)
            case t.Union(cases=cases):
                for number, (_, params) in enumerate(cases):
                    code.clear(code.at(CTX, at), layout.slots(kind))
                    code.store(number, CTX, at)
                    self.together(self.lay_out([part for _, part in params], at + 1), masks, body)
            case t.Seq(inner=inner):
                for size in range(layout.most(kind) + 1):
                    code.clear(code.at(CTX, at), layout.slots(kind))
                    code.store(size, CTX, at)
                    self.together(self.lay_out([inner] * size, at + 1), masks, body)
            case t.Map(key=key, value=t.Option(inner=t.Counter(name=name))):
                self.loop_over_map(key, (name, self.mask(name, masks)), at, body)
            case _:  # `counters_in` has refused it
                raise AssertionError(kind)

    def lay_out(self, kinds: Iterable[t.Type], at: int) -> Iterator[Part]:
        """Types with their offsets, one after the other."""
        for kind in kinds:
            yield kind, at
            at += self.offers.unit.layout.slots(kind)

    def mask(self, name: str, masks: Masks) -> Number:
        """The current values of a counter."""
        mask: Number = 0
        for ref in masks.get(name, []):
            mask = self.code.binary("or", mask, ref)
        return mask

    def loop_over_counter(self, name: str, at: int, masks: Masks, body: Body) -> None:
        """A loop over the values of one counter."""
        code = self.code
        room, count = self.pool(name, self.mask(name, masks))
        with code.counting(count) as i:
            entry = code.row(room, i, 2)
            code.store(code.load(entry), CTX, at)
            body(code.load(entry, 1))

    def pool(self, name: str, mask: Number) -> tuple[Pointer, Number]:
        """The values of one counter in memory, and how many."""
        code, offers = self.code, self.offers
        room = code.memory(2 * POOL)
        everything = code.load(CTX, offers.context.masks + offers.issued.all[name])
        pool = fn.pool_of(name) if name in offers.compared else fn.POOL
        count = code.call(pool, CTX, mask, everything, room)
        return room, count

    def loop_over_map(self, key: t.Type, pool: tuple[str, Number], at: int, body: Body) -> None:
        """A map to optional counters: its possible values are written first, then looped over."""
        code, layout = self.code, self.offers.unit.layout
        size, (name, mask) = layout.size(key), pool
        issued, context = self.offers.issued, self.offers.context
        pools: list[tuple[Pointer, Number]] = []
        for i in range(size):
            here = mask
            if isinstance(key, t.Sort):
                under = code.load(CTX, context.masks + issued.under[name, key.name] + i)
                here = code.binary("or", mask, under)
            pools.append(self.pool(name, here))
        width = 2 * size + 1
        rows, count = code.memory(width * (2 + 2 * size * (POOL + 1))), code.memory(1)
        code.store(0, count)

        def row(current: bool, changed: int = -1, entry: tuple[Number, Number] = (0, 0)) -> None:
            start = code.row(rows, code.bump(count), width)
            for i, (room, _) in enumerate(pools):
                there: Number = int(current)
                value: Number = code.load(room) if current else 0
                if i == changed:
                    there, value = entry
                code.store(there, start, 2 * i)
                code.store(value, start, 2 * i + 1)
            code.store(int(changed != -1), start, 2 * size)

        row(True)
        row(False)
        for i, (room, values) in enumerate(pools):
            if size > 1:
                row(True, i)
            if size > 2:
                row(False, i, (1, code.load(room)))
            with code.counting(values, 1) as v:
                value = code.load(code.row(room, v, 2))
                row(True, i, (1, value))
                if size > 1:
                    row(False, i, (1, value))
        with code.counting(code.load(count)) as r:
            start = code.row(rows, r, width)
            code.copy(code.at(CTX, at), start, 2 * size)
            body(code.load(start, 2 * size))
