"""Emits the kernel that every instance shares: expands a block of states into buffers.

i64 expand(ctx, states, count)      -> how many were expanded before a buffer was nearly full
void outcomes(ctx)                  what can happen in the state whose slots stand in the context
void check(ctx, states, count)      properties of states that are not expanded
i64 recall(ctx, states, count)      known states into the buffers, as if they had been reached
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import small as s
from charter.core.transition import argument
from charter.core.walk import nodes
from charter.explore.native import functions as fn
from charter.explore.native.body import VariableSlots, arguments_of
from charter.explore.native.code import Code, Ref, Truth
from charter.explore.native.context import (
    CAPACITY,
    ENABLED,
    ERROR,
    FATAL,
    GENERATED,
    LINKS,
    MARGIN,
    NOTE,
    OP,
    OUTCOME_COUNT,
    OUTCOME_ROOM,
    OUTCOMES,
    OUTSIDE,
    PARTITION_BITS,
    PARTITIONS,
    ROW,
    SEQ,
    SEQ_BITS,
    SOURCE,
    MachineContext,
)
from charter.explore.native.expr import Expr
from charter.explore.native.unit import FATAL_SUCCESSORS, Unit
from charter.explore.native.visited_set import hashed


@dataclass(slots=True)
class Kernel:
    """`states` and `moves` are the properties of states and of transitions, with the number of
    their note; the next note is for states where they are undefined. `undefined` is the first note
    of the operations, `deadlock` the note of deadlocks (-1: not noted); `seed` selects the hash.
    `predicates` are the predicates that `@follow` evaluates in every state, with their notes (None:
    edges are not computed)."""

    unit: Unit
    context: MachineContext
    variable_slots: VariableSlots
    states: Sequence[tuple[int, s.Property]]
    moves: Sequence[tuple[int, s.Property]]
    undefined: int
    deadlock: int
    seed: int
    predicates: Sequence[tuple[int, s.Property]] | None = None

    def print(self, operations: int) -> None:
        """Everything."""
        for number, prop in (*self.states, *self.moves, *(self.predicates or ())):
            self.print_property(number, prop)
        self.print_note()
        self.print_emit()
        self.print_deliver()
        self.print_states()
        self.print_outcomes(operations)
        self.print_expand()
        self.print_recall()

    # --- properties ------------------------------------------------------------------------------

    def print_property(self, number: int, prop: s.Property) -> None:
        """`@prop_<number>(ctx, before, after, took)`: whether to note the property."""
        head = (
            f"internal i1 @prop_{number}(ptr %ctx, ptr noalias readonly %s, "
            "ptr noalias readonly %z, i64 %took)"
        )
        code = Code(head, "nounwind")
        expr = Expr(self.unit, code, took="%took")
        expr.before, expr.after = self.variable_slots.places("%s"), self.variable_slots.places("%z")
        self.bind_arguments(expr, prop.body)
        holds = expr.truth(prop.body)
        code.give(holds if prop.kind == "witness" else code.negation(holds))
        self.unit.add(code)

    def bind_arguments(self, expr: Expr, body: s.Expr) -> None:
        """Bind the arguments of transitions that a property reads."""
        read = {part.name for part in nodes(body) if isinstance(part, n.Local)}
        for name, operation in self.unit.machine.operations.items():
            offsets, _ = arguments_of(self.unit.layout, operation.params)
            for param, at in zip(operation.params, offsets, strict=True):
                if argument(name, param.name) in read:
                    place = expr.code.at("%ctx", self.context.arguments)
                    held = expr.keep.part(param.type, place, at)
                    expr.names[argument(name, param.name)] = held

    def print_note(self) -> None:
        """`@note(ctx, number, site)`."""
        code = Code("internal void @note(ptr %ctx, i64 %number, i64 %site)", "nounwind noinline")
        at = code.add(code.binary("mul", "%number", str(NOTE)), str(self.context.noted))
        place = code.at("%ctx", at)
        with code.when(code.compare("eq", code.bump(place), "0")):
            code.store(code.load("%ctx", SOURCE), place, 1)
            code.store(code.load("%ctx", SEQ), place, 2)
            code.store("%site", place, 3)
        code.give()
        self.unit.add(code)

    def noting(self, code: Code, number: int, hit: Truth) -> None:
        """Note a property that is hit or undefined."""
        error = code.load("%ctx", ERROR)
        failed = code.compare("ne", error, "0")
        with code.when(code.either(failed, hit)):
            shift = code.widened(failed)
            code.store("0", "%ctx", ERROR)
            code.call(fn.NOTE, "%ctx", code.add(str(number), shift), error)

    def print_states(self) -> None:
        """`@states(ctx)`: checks the properties of the expanded state."""
        code = Code("internal void @states(ptr %ctx)", "nounwind")
        s = code.at("%ctx", self.context.fields)
        for number, _ in self.states:
            self.noting(code, number, code.ask(fn.prop(number), "%ctx", s, s, -1))
        code.give()
        self.unit.add(code)

    # --- outcomes --------------------------------------------------------------------------------

    def print_deliver(self) -> None:
        """`@deliver(ctx, count, size, offset)`: the rows of one operation, without repeats."""
        head = "internal void @deliver(ptr %ctx, i64 %count, i64 %size, i64 %offset)"
        code, context = Code(head, "nounwind"), self.context
        rows = code.at("%ctx", context.rows)
        error = code.load("%ctx", ERROR)
        failed, done = code.label(), code.label()
        fine = code.label()
        code.fork(code.compare("ne", error, "0"), failed, fine)
        code.start(failed)
        note = code.add(code.load("%ctx", OP), str(self.undefined))
        code.call(fn.NOTE, "%ctx", note, error)
        self.tell(code, code.binary("sub", "0", error), code.at("%ctx", context.fields))
        code.store("0", "%ctx", ERROR)
        code.bump("%ctx", SEQ)
        code.jump(done)
        code.start(fine)
        kept = code.call(fn.ONCE, rows, "%count", "%size")
        code.bump("%ctx", GENERATED, kept)
        code.bump("%ctx", ENABLED, kept)
        with code.counting(kept) as i:
            row = code.at(rows, code.binary("mul", i, "%size"))
            if context.detailed:
                code.store(row, "%ctx", ROW, "ptr")
            after = code.at(row, "%offset")
            code.call(fn.EMIT, "%ctx", code.load(row), after)
            code.bump("%ctx", SEQ)
        code.jump(done)
        code.start(done)
        code.give()
        self.unit.add(code)

    def print_emit(self) -> None:
        """`@emit(ctx, branch, after)`: one transition."""
        code = Code(
            "internal void @emit(ptr %ctx, i64 %branch, ptr noalias readonly %z)", "nounwind"
        )
        context = self.context
        fields = code.at("%ctx", context.fields)
        outside, inside, done = code.label(), code.label(), code.label()
        if self.predicates is not None:
            linked, searched = code.label(), code.label()
            code.fork(code.compare("ne", code.load("%ctx", LINKS), "0"), linked, searched)
            code.start(linked)
            code.call(fn.LINK, "%ctx", "%z")
            code.jump(done)
            code.start(searched)
        code.fork(code.ask(fn.OUTSIDE, "%z"), outside, inside)
        code.start(outside)
        code.bump("%ctx", OUTSIDE)
        code.jump(done)
        code.start(inside)
        code.bump("%ctx", code.add("%branch", str(context.taken)))
        for number, _ in self.moves:
            hit = code.ask(fn.prop(number), "%ctx", fields, "%z", "%branch")
            self.noting(code, number, hit)
        listing = code.compare("ne", code.load("%ctx", OUTCOMES), "0")
        words = code.at("%ctx", context.key)
        with code.when(listing):
            code.call(fn.KEY, "%z", words)
            self.tell(code, "%branch", "%z")
        same = code.ask(fn.SAME, fields, "%z", self.variable_slots.slots)
        with code.unless(code.either(same, listing)):
            code.call(fn.KEY, "%z", words)
            source = code.binary("shl", code.load("%ctx", SOURCE), str(SEQ_BITS))
            tag = code.binary("or", source, code.load("%ctx", SEQ))
            self.append(code, words, "%z", tag)
        code.jump(done)
        code.start(done)
        code.give()
        self.unit.add(code)

    def append(self, code: Code, words: Ref, state: Ref, tag: Ref) -> None:
        """Append a record to the buffer of its partition: key, state, hash and tag."""
        context = self.context
        refs = [code.load(words, i) for i in range(context.words)]
        spread = hashed(code, refs, self.seed)
        part = code.binary("lshr", spread, str(64 - PARTITION_BITS))
        out = code.at("%ctx", code.add(code.binary("mul", part, "2"), str(context.outs)))
        count = code.load(out, 1)
        full = code.compare("sge", count, code.load("%ctx", CAPACITY))
        with code.when(full):
            code.call(fn.FAIL, "%ctx", FATAL, FATAL_SUCCESSORS)
        with code.unless(full):
            buffer = code.load(out, 0, "ptr")
            record = code.at(buffer, code.binary("mul", count, str(context.record)))
            for i, ref in enumerate(refs):
                code.store(ref, record, i)
            if context.raw:
                code.call(fn.PACK, state, code.at(record, context.words))
            code.store(spread, record, context.record - 2)
            code.store(tag, record, context.record - 1)
            code.store(code.add(count, "1"), out, 1)

    def tell(self, code: Code, branch: Ref, after: Ref) -> None:
        """Append an outcome to the log, if it is on."""
        context = self.context
        pointer = code.load("%ctx", OUTCOMES, "ptr")
        wanted = code.compare("ne", pointer, "null", "ptr")
        listed = code.load("%ctx", OUTCOME_COUNT)
        room = code.compare("slt", listed, code.load("%ctx", OUTCOME_ROOM))
        with code.when(code.both(wanted, room)):
            row = code.at(pointer, code.binary("mul", listed, str(context.outcome_size)))
            code.store(code.load("%ctx", OP), row, 0)
            code.store(code.load("%ctx", SEQ), row, 1)
            code.store(branch, row, 2)
            code.copy(code.at(row, 3), code.at("%ctx", context.key), context.words)
            at = 3 + context.words
            code.copy(code.at(row, at), code.at("%ctx", context.arguments), context.args)
            code.copy(code.at(row, at + context.args), after, context.slots)
            if context.detailed:
                reply = code.at(code.load("%ctx", ROW, "ptr"), 1)
                code.copy(code.at(row, context.outcome_reply), reply, context.reply)
                trail = code.at(row, context.outcome_reply + context.reply)
                code.copy(trail, code.at("%ctx", context.guards), context.trail)
            code.store(code.add(listed, "1"), "%ctx", OUTCOME_COUNT)

    # --- expansion -------------------------------------------------------------------------------

    def print_outcomes(self, operations: int) -> None:
        """`@outcomes(ctx)`: all outcomes of the state in the context."""
        code = Code("void @outcomes(ptr %ctx)", "nounwind")
        code.call(fn.STATES, "%ctx")
        code.store("0", "%ctx", ENABLED)
        self.all_offers(code, operations)
        code.give()
        self.unit.add(code)

    def print_expand(self) -> None:
        """`@expand(ctx, states, count)` and `@check(ctx, states, count)`."""
        for name in ("expand", "check"):
            code = Code(f"i64 @{name}(ptr %ctx, ptr %states, i64 %count)", "nounwind")
            context, number = self.context, code.memory(1)
            code.store("0", number)
            head, body, done = code.label(), code.label(), code.label()
            code.jump(head)
            code.start(head)
            i = code.load(number)
            on = code.compare("slt", i, "%count")
            if name == "expand":
                for p in range(PARTITIONS):
                    filled = code.add(code.load("%ctx", context.outs + 2 * p + 1), str(MARGIN))
                    on = code.both(on, code.compare("sle", filled, code.load("%ctx", CAPACITY)))
                on = code.both(on, code.compare("eq", code.load("%ctx", FATAL), "0"))
            code.fork(on, body, done)
            code.start(body)
            state = code.at("%states", code.binary("mul", i, str(context.width)))
            fields = code.at("%ctx", context.fields)
            code.call(fn.UNPACK, state, fields)
            code.store("0", "%ctx", SEQ)
            code.call(fn.OUTCOMES if name == "expand" else fn.STATES, "%ctx")
            code.bump("%ctx", SOURCE)
            code.store(code.add(i, "1"), number)
            code.jump(head)
            code.start(done)
            code.give(code.load(number))
            self.unit.add(code)

    def print_recall(self) -> None:
        """`@recall(ctx, states, count)`: known states, with their tags, into the buffers."""
        code, context = (
            Code("i64 @recall(ptr %ctx, ptr %states, i64 %count)", "nounwind"),
            self.context,
        )
        fields, words = code.at("%ctx", context.fields), code.at("%ctx", context.key)
        with code.counting("%count") as i:
            state = code.at("%states", code.binary("mul", i, str(context.width)))
            code.call(fn.UNPACK, state, fields)
            code.call(fn.KEY, fields, words)
            self.append(code, words, fields, code.load(state, context.width - 1))
        code.give("%count")
        self.unit.add(code)

    def all_offers(self, code: Code, operations: int) -> None:
        """Offer every operation, and note a deadlock if nothing was enabled."""
        if self.context.issued:
            code.call(fn.ISSUED, "%ctx")
        for i in range(operations):
            code.call(fn.offer(i), "%ctx")
        if self.deadlock >= 0:
            with code.when(code.compare("eq", code.load("%ctx", ENABLED), "0")):
                code.call(fn.NOTE, "%ctx", self.deadlock, "0")
