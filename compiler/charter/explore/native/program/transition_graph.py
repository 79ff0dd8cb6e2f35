"""Emits the edges of every state, and the values of the predicates of liveness properties.

i64 follow(ctx, states, count)      -> how many were followed before the buffer was nearly full

An edge is one word: the number of its target (ABSENT if the step leaves the instance) and above it
a label, which distinguishes steps as far as fairness does. The edges of a state, in the order of
the search and without those that do not change the state, end with END. They are written to the
buffer of the first partition, state after state. Targets are looked up in groups, so that memory of
the table is prefetched; edges that wait for this are in the buffer of the second partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.body import arguments_of
from charter.explore.native.emit.code import TRUE, Code, Number, Pointer, Ref
from charter.explore.native.emit.functions import AFTER, COUNT, CTX
from charter.explore.native.emit.unit import FATAL_SUCCESSORS
from charter.explore.native.memory.layout import CannotCompile, Layout
from charter.explore.native.memory.machine_context import (
    CAPACITY,
    ERROR,
    FATAL,
    LINKS,
    MARGIN,
    OP,
    PARTITION_BITS,
    SEQ,
    SOURCE,
    MachineContext,
)
from charter.explore.native.program.kernel import BLOCK, Kernel
from charter.explore.native.program.visited_set import (
    SIZE,
    TABLE,
    TAKEN_BIT,
    TablePrinter,
    hash_words,
    home,
    prefetch,
    row_of,
)
from charter.semantics.machine import Machine

TARGET_BITS = 40
ABSENT = (1 << TARGET_BITS) - 1
END = (1 << 64) - 1
MOST_LABELS = 1 << 20
PENDING = 64
"""Edges whose targets are looked up at once."""

DIRECTORY, FIRSTS, TRUTHS, TABLES = range(4)
"""The array at a context's LINKS: the directory of the states; the address of each state's edges;
the predicate values of all states; for each partition its table and its size."""


@dataclass(frozen=True, slots=True)
class FairStep:
    """A step with fairness conditions: its first label, and the index of each named parameter with
    the number of its values."""

    first: int
    named: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class FairnessLabels:
    """Labels of steps for fairness conditions: a number for the step and the values of the
    parameters that conditions name; 0 for every other step."""

    layout: Layout
    params: Mapping[str, tuple[n.Param, ...]]
    steps: Mapping[str, FairStep]
    count: int

    @staticmethod
    def of(machine: Machine, layout: Layout) -> FairnessLabels:
        """The labels of a machine whose model has been narrowed to it. Raises CannotCompile."""
        wanted: dict[str, set[str]] = {}
        for fair in (fair for live in machine.model.liveness for fair in live.fairness):
            wanted.setdefault(fair.step, set()).update(fair.params)
        params = {name: operation.params for name, operation in machine.operations.items()}
        steps: dict[str, FairStep] = {}
        count = 1
        for step, names in wanted.items():
            kinds = [(i, p.type) for i, p in enumerate(params.get(step, ())) if p.name in names]
            if any(not isinstance(kind, t.Bool | t.Int | t.Sort | t.Enum) for _, kind in kinds):
                raise CannotCompile(f"fairness for each value of a large parameter of {step}")
            steps[step] = FairStep(count, tuple((i, layout.size(kind)) for i, kind in kinds))
            count += prod(size for _, size in steps[step].named)
        if count > MOST_LABELS:
            raise CannotCompile(f"{count} fairness conditions")
        return FairnessLabels(layout, params, steps, count)

    def of_step(self, name: str, args: Sequence[Value]) -> int:
        """The label of a step."""
        step = self.steps.get(name)
        if step is None:
            return 0
        at = 0
        for place, size in step.named:
            (slot,) = self.layout.encode(self.params[name][place].type, args[place])
            at = at * size + slot
        return step.first + at

    def conditions(self, fairness: Sequence[n.Fair]) -> list[frozenset[int]]:
        """For each label the numbers of the conditions that it satisfies."""
        numbers: dict[tuple[n.Fair, tuple[int, ...]], int] = {}
        found: list[set[int]] = [set() for _ in range(self.count)]
        for fair in fairness:
            step = self.steps[fair.step]
            if fair.step not in self.params:
                continue
            params = self.params[fair.step]
            for at in range(prod(size for _, size in step.named)):
                rest, values = at, list[int]()
                for place, size in reversed(step.named):
                    rest, value = divmod(rest, size)
                    if params[place].name in fair.params:
                        values.append(value)
                number = numbers.setdefault((fair, tuple(values)), len(numbers))
                found[step.first + at].add(number)
        return [frozenset(each) for each in found]


@dataclass(slots=True)
class LinkPrinter:
    """Prints `@follow` and what it needs. The predicates are the kernel's; the value of number i is
    bit i % 64 of word i // 64."""

    kernel: Kernel
    labels: FairnessLabels
    seed: int

    @property
    def context(self) -> MachineContext:
        """Offsets."""
        return self.kernel.context

    def print(self, operations: int) -> None:
        """Everything."""
        self.print_find()
        self.print_resolve()
        self.print_link()
        self.print_truths()
        self.print_follow(operations)

    def print_find(self) -> None:
        """`@find(table, size, directory, words, spread)`: the number of the state with a key;
        ABSENT if there is none."""
        directory, words, spread = Pointer("%directory"), Pointer("%words"), Ref("%spread")
        code = Code.of(fn.FIND, TABLE, SIZE, directory, words, spread)
        context = self.context
        marked = code.binary("or", spread, TAKEN_BIT)
        absent, there, compare = code.label(), code.label(), code.label()
        keys = [code.load(words, i) for i in range(context.words)]
        table = TablePrinter(self.kernel.unit, context, self.seed)
        with table.probing(code, TABLE, spread, SIZE) as (entry, onward):
            first = code.load(entry)
            code.fork(code.compare("eq", first, 0), absent, compare)
            code.start(compare)
            deeper = code.label()
            code.fork(code.compare("eq", first, marked), deeper, onward)
            code.start(deeper)
            number = code.load(entry, 1)
            row, equal = row_of(code, number, context.width, directory), TRUE
            for i, ref in enumerate(keys, context.key_at):
                equal = code.both(equal, code.compare("eq", code.load(row, i), ref))
            code.fork(equal, there, onward)
        code.start(there)
        code.give(number)
        code.start(absent)
        code.give(ABSENT)
        self.kernel.unit.add(code)

    def find_table(self, code: Code, spread: Number) -> tuple[Pointer, Number]:
        """The table of a hash's partition, and its size."""
        links = code.load_pointer(CTX, LINKS)
        part = code.binary("lshr", spread, 64 - PARTITION_BITS)
        place = code.at(links, code.add(code.mul(part, 2), TABLES))
        return code.load_pointer(place), code.load(place, 1)

    def print_resolve(self) -> None:
        """`@resolve(ctx)`: looks up the targets of all waiting edges: address, hash, key."""
        code, context = Code.of(fn.RESOLVE, CTX), self.context
        out, waiting = code.at(CTX, context.outs), code.at(CTX, context.outs + 2)
        buffer, pending = code.load_pointer(out), code.load_pointer(waiting)
        count = code.load(waiting, 1)
        directory = code.load_pointer(code.load_pointer(CTX, LINKS), DIRECTORY)
        table = TablePrinter(self.kernel.unit, context, self.seed)
        with code.counting(count) as i:
            record = code.row(pending, i, pending_size(context))
            spread = code.load(record, 1)
            address, size = self.find_table(code, spread)
            entry = table.entry(code, address, home(code, spread, size))
            mark = code.binary("or", spread, TAKEN_BIT)
            with code.when(code.compare("eq", code.load(entry), mark)):
                row = row_of(code, code.load(entry, 1), context.width, directory)
                prefetch(code, code.at(row, context.key_at))
        with code.counting(count) as i:
            record = code.row(pending, i, pending_size(context))
            spread = code.load(record, 1)
            address, size = self.find_table(code, spread)
            key = code.at(record, 2)
            number = code.call(fn.FIND, address, size, directory, key, spread)
            place = code.at(buffer, code.load(record))
            code.store(code.binary("or", code.load(place), number), place)
        code.store(0, waiting, 1)
        code.give()
        self.kernel.unit.add(code)

    def print_link(self) -> None:
        """`@link(ctx, after)`: appends one edge, unless the state does not change."""
        code, context = Code.of(fn.LINK, CTX, AFTER), self.context
        fields = code.at(CTX, context.fields)
        same = code.call(fn.SAME, fields, AFTER, context.slots)
        with code.unless(same):
            label = code.binary("shl", self.label(code), TARGET_BITS)
            outside = code.call(fn.OUTSIDE, AFTER)
            with code.when(outside):
                self.append(code, code.binary("or", label, ABSENT))
            with code.unless(outside):
                waiting = code.at(CTX, context.outs + 2)
                with code.when(code.compare("eq", code.load(waiting, 1), PENDING)):
                    code.call(fn.RESOLVE, CTX)
                number = code.mul(code.bump(waiting, 1), pending_size(context))
                record = code.at(code.load_pointer(waiting), number)
                code.store(code.load(CTX, context.outs + 1), record)
                words = code.at(record, 2)
                code.call(fn.KEY, AFTER, words)
                refs = [code.load(words, i) for i in range(context.words)]
                spread = hash_words(code, refs, self.seed)
                code.store(spread, record, 1)
                address, size = self.find_table(code, spread)
                table = TablePrinter(self.kernel.unit, context, self.seed)
                entry = table.entry(code, address, home(code, spread, size))
                prefetch(code, entry)
                self.append(code, label)
        code.give()
        self.kernel.unit.add(code)

    def label(self, code: Code) -> Number:
        """The label of the step that is taken."""
        operation = code.load(CTX, OP)
        found: Number = 0
        for number, name in enumerate(self.labels.params):
            step = self.labels.steps.get(name)
            if step is None:
                continue
            offsets, _ = arguments_of(self.labels.layout, self.labels.params[name])
            at: Number = 0
            for place, size in step.named:
                value = code.load(CTX, self.context.arguments + offsets[place])
                at = code.add(code.mul(at, size), value)
            mine = code.compare("eq", operation, number)
            found = code.select(mine, code.add(at, step.first), found)
        return found

    def append(self, code: Code, word: Number) -> None:
        """Append a word to the buffer. There is always room for one more word: an END."""
        out = code.at(CTX, self.context.outs)
        count = code.load(out, 1)
        full = code.compare("ge", count, code.load(CTX, CAPACITY))
        with code.when(full):
            code.call(fn.FAIL, CTX, FATAL, FATAL_SUCCESSORS)
        with code.unless(full):
            code.store(word, code.load_pointer(out), count)
            code.store(code.add(count, 1), out, 1)

    def print_truths(self) -> None:
        """`@truths(ctx, place)`: the values of all predicates in the expanded state."""
        place, predicates = Pointer("%place"), self.kernel.predicates or ()
        code = Code.of(fn.TRUTHS, CTX, place)
        s = code.at(CTX, self.context.fields)
        word: Number = 0
        for i, (number, _) in enumerate(predicates):
            hit = code.call(fn.prop(number), CTX, s, s, -1)
            error = code.load(CTX, ERROR)
            with code.when(code.nonzero(error)):
                code.store(0, CTX, ERROR)
                code.call(fn.NOTE, CTX, number + 1, error)
            bit = code.binary("shl", code.widen(hit), i % 64)
            word = code.binary("or", word, bit)
            if i % 64 == 63 or i == len(predicates) - 1:
                code.store(word, place, i // 64)
                word = 0
        code.give()
        self.kernel.unit.add(code)

    def print_follow(self, operations: int) -> None:
        """`@follow`; SOURCE is the number of the first state."""
        code = Code.of(fn.FOLLOW, CTX, BLOCK, COUNT)
        context, number, wide = (
            self.context,
            code.memory(1),
            truth_words(self.kernel.predicates or ()),
        )
        code.store(0, number)
        head, body, done = code.label(), code.label(), code.label()
        code.jump(head)
        code.start(head)
        i, out = code.load(number), code.at(CTX, context.outs)
        filled = code.add(code.load(out, 1), MARGIN)
        on = code.both(
            code.compare("lt", i, COUNT),
            code.compare("le", filled, code.load(CTX, CAPACITY)),
        )
        on = code.both(on, code.compare("eq", code.load(CTX, FATAL), 0))
        code.fork(on, body, done)
        code.start(body)
        state = code.row(BLOCK, i, context.width)
        code.call(fn.UNPACK, state, code.at(CTX, context.fields))
        code.store(0, CTX, SEQ)
        links, source = code.load_pointer(CTX, LINKS), code.load(CTX, SOURCE)
        start = code.at(code.load_pointer(out), code.load(out, 1))
        code.store(start, code.at(code.load_pointer(links, FIRSTS), source))
        place = code.row(code.load_pointer(links, TRUTHS), source, wide)
        code.call(fn.TRUTHS, CTX, place)
        self.kernel.all_offers(code, operations)
        code.call(fn.RESOLVE, CTX)
        code.store(-1, code.load_pointer(out), code.load(out, 1))
        code.bump(out, 1)
        code.bump(CTX, SOURCE)
        code.store(code.add(i, 1), number)
        code.jump(head)
        code.start(done)
        code.give(code.load(number))
        self.kernel.unit.add(code)


def pending_size(context: MachineContext) -> int:
    """Words of a waiting edge."""
    return 2 + context.words


def truth_words(predicates: Sequence[tuple[int, n.Property]]) -> int:
    """Words for the predicate values of one state."""
    return (len(predicates) + 63) // 64
