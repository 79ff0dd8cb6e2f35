"""Emits the kernel that every instance shares: expands a block of states into buffers.

i64 expand(ctx, states, count)      -> how many were expanded before a buffer was nearly full
void outcomes(ctx)                  what can happen in the state whose slots stand in the context
void check(ctx, states, count)      properties of states that are not expanded
i64 recall(ctx, states, count)      known states into the buffers, as if they had been reached
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from charter.core import nodes as n
from charter.core import small as s
from charter.core.transition import argument
from charter.core.walk import fold, nodes
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.body import VariableSlots, arguments_of
from charter.explore.native.emit.code import Code, Number, Pointer, Ref, Truth
from charter.explore.native.emit.expr import Expr
from charter.explore.native.emit.functions import AFTER, COUNT, CTX, STATE
from charter.explore.native.emit.unit import FATAL_SUCCESSORS, Unit
from charter.explore.native.memory.machine_context import (
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
from charter.explore.native.program.visited_set import hash_words
from charter.passes.fold_constants import simplify

BLOCK = Pointer("%states")
"""The states of a block, one row after another."""


@dataclass(slots=True)
class Kernel:
    """`states` and `moves` are the properties of states and of transitions, with the number of
    their note; the next note is for states where they are undefined. `undefined` is the first note
    of the operations, `deadlock` the note of deadlocks (-1: not noted), behind which is that of
    states where only what the instance leaves out can happen, if it is `restricted`; `seed` selects
    the hash.
    `predicates` are the predicates that `@follow` evaluates in every state, with their notes (None:
    edges are not computed)."""

    unit: Unit
    context: MachineContext
    variable_slots: VariableSlots
    states: Sequence[tuple[int, s.Property]]
    moves: Sequence[tuple[int, s.Property]]
    undefined: int
    deadlock: int
    restricted: bool
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
        took, places = Ref("%took"), self.variable_slots.places
        code = Code.of(fn.prop(number), CTX, STATE, AFTER, took)
        expr = Expr(self.unit, code, took=took)
        expr.before, expr.after = places(STATE), places(AFTER)
        body = cast("s.Expr", fold(prop.body, self.without_absent))
        self.bind_arguments(expr, body)
        holds = expr.truth(body)
        code.give(holds if prop.kind == "witness" else code.negation(holds))
        self.unit.add(code)

    def without_absent(self, expr: n.Expr) -> n.Expr:
        """`took` is false of an operation that the instance does not offer, and then the arguments
        of that operation are not read."""
        offered = self.unit.machine.operations
        if isinstance(expr, n.Took) and expr.branch.partition("/")[0] not in offered:
            return n.Literal(False, type=expr.type, span=expr.span)
        return simplify(expr)

    def bind_arguments(self, expr: Expr, body: s.Expr) -> None:
        """Bind the arguments of transitions that a property reads."""
        read = {part.name for part in nodes(body) if isinstance(part, n.Local)}
        for name, operation in self.unit.machine.operations.items():
            offsets, _ = arguments_of(self.unit.layout, operation.params)
            for param, at in zip(operation.params, offsets, strict=True):
                if argument(name, param.name) in read:
                    place = expr.code.at(CTX, self.context.arguments)
                    held = expr.keep.part(param.type, place, at)
                    expr.names[argument(name, param.name)] = held

    def print_note(self) -> None:
        """`@note(ctx, number, site)`."""
        number, site = Ref("%number"), Ref("%site")
        code = Code.of(fn.NOTE, CTX, number, site)
        at = code.add(code.mul(number, NOTE), self.context.noted)
        place = code.at(CTX, at)
        with code.when(code.compare("eq", code.bump(place), 0)):
            code.store(code.load(CTX, SOURCE), place, 1)
            code.store(code.load(CTX, SEQ), place, 2)
            code.store(site, place, 3)
        code.give()
        self.unit.add(code)

    def noting(self, code: Code, number: int, hit: Truth) -> None:
        """Note a property that is hit or undefined."""
        error = code.load(CTX, ERROR)
        failed = code.nonzero(error)
        with code.when(code.either(failed, hit)):
            shift = code.widen(failed)
            code.store(0, CTX, ERROR)
            code.call(fn.NOTE, CTX, code.add(number, shift), error)

    def print_states(self) -> None:
        """`@states(ctx)`: checks the properties of the expanded state."""
        code = Code.of(fn.STATES, CTX)
        s = code.at(CTX, self.context.fields)
        for number, _ in self.states:
            self.noting(code, number, code.call(fn.prop(number), CTX, s, s, -1))
        code.give()
        self.unit.add(code)

    # --- outcomes --------------------------------------------------------------------------------

    def print_deliver(self) -> None:
        """`@deliver(ctx, count, size, offset)`: the rows of one operation, without repeats."""
        size, offset = Ref("%size"), Ref("%offset")
        code, context = Code.of(fn.DELIVER, CTX, COUNT, size, offset), self.context
        rows = code.at(CTX, context.rows)
        error = code.load(CTX, ERROR)
        failed, done = code.label(), code.label()
        fine = code.label()
        code.fork(code.nonzero(error), failed, fine)
        code.start(failed)
        note = code.add(code.load(CTX, OP), self.undefined)
        code.call(fn.NOTE, CTX, note, error)
        if context.detailed:
            # A log has a reply of each outcome; that of one that failed means nothing.
            code.store(rows, CTX, ROW)
        self.tell(code, code.sub(0, error), code.at(CTX, context.fields))
        code.store(0, CTX, ERROR)
        code.bump(CTX, SEQ)
        code.jump(done)
        code.start(fine)
        kept = code.call(fn.ONCE, rows, COUNT, size)
        code.bump(CTX, GENERATED, kept)
        code.bump(CTX, ENABLED, kept)
        with code.counting(kept) as i:
            row = code.row(rows, i, size)
            if context.detailed:
                code.store(row, CTX, ROW)
            after = code.at(row, offset)
            code.call(fn.EMIT, CTX, code.load(row), after)
            code.bump(CTX, SEQ)
        code.jump(done)
        code.start(done)
        code.give()
        self.unit.add(code)

    def print_emit(self) -> None:
        """`@emit(ctx, branch, after)`: one transition."""
        branch = Ref("%branch")
        code, context = Code.of(fn.EMIT, CTX, branch, AFTER), self.context
        fields = code.at(CTX, context.fields)
        outside, inside, done = code.label(), code.label(), code.label()
        if self.predicates is not None:
            linked, searched = code.label(), code.label()
            code.fork(code.nonzero(code.load(CTX, LINKS)), linked, searched)
            code.start(linked)
            code.call(fn.LINK, CTX, AFTER)
            code.jump(done)
            code.start(searched)
        code.fork(code.call(fn.OUTSIDE, AFTER), outside, inside)
        code.start(outside)
        code.bump(CTX, OUTSIDE)
        code.jump(done)
        code.start(inside)
        code.bump(CTX, code.add(branch, context.taken))
        for number, _ in self.moves:
            hit = code.call(fn.prop(number), CTX, fields, AFTER, branch)
            self.noting(code, number, hit)
        listing = code.nonzero(code.load(CTX, OUTCOMES))
        words = code.at(CTX, context.key)
        with code.when(listing):
            code.call(fn.KEY, AFTER, words)
            self.tell(code, branch, AFTER)
        same = code.call(fn.SAME, fields, AFTER, self.variable_slots.slots)
        with code.unless(code.either(same, listing)):
            code.call(fn.KEY, AFTER, words)
            source = code.binary("shl", code.load(CTX, SOURCE), SEQ_BITS)
            tag = code.binary("or", source, code.load(CTX, SEQ))
            self.append(code, words, AFTER, tag)
        code.jump(done)
        code.start(done)
        code.give()
        self.unit.add(code)

    def append(self, code: Code, words: Pointer, state: Pointer, tag: Number) -> None:
        """Append a record to the buffer of its partition: key, state, hash and tag."""
        context = self.context
        refs = [code.load(words, i) for i in range(context.words)]
        spread = hash_words(code, refs, self.seed)
        part = code.binary("lshr", spread, 64 - PARTITION_BITS)
        out = code.at(CTX, code.add(code.mul(part, 2), context.outs))
        count = code.load(out, 1)
        full = code.compare("ge", count, code.load(CTX, CAPACITY))
        with code.when(full):
            code.call(fn.FAIL, CTX, FATAL, FATAL_SUCCESSORS)
        with code.unless(full):
            buffer = code.load_pointer(out)
            record = code.row(buffer, count, context.record)
            for i, ref in enumerate(refs):
                code.store(ref, record, i)
            if context.raw:
                code.call(fn.PACK, state, code.at(record, context.words))
            code.store(spread, record, context.record - 2)
            code.store(tag, record, context.record - 1)
            code.store(code.add(count, 1), out, 1)

    def tell(self, code: Code, branch: Number, after: Pointer) -> None:
        """Append an outcome to the log, if it is on."""
        context = self.context
        pointer = code.load_pointer(CTX, OUTCOMES)
        wanted = code.not_null(pointer)
        listed = code.load(CTX, OUTCOME_COUNT)
        room = code.compare("lt", listed, code.load(CTX, OUTCOME_ROOM))
        with code.when(code.both(wanted, room)):
            row = code.row(pointer, listed, context.outcome_size)
            code.store(code.load(CTX, OP), row, 0)
            code.store(code.load(CTX, SEQ), row, 1)
            code.store(branch, row, 2)
            code.copy(code.at(row, 3), code.at(CTX, context.key), context.words)
            args = code.at(CTX, context.arguments)
            code.copy(code.at(row, context.outcome_args), args, context.args)
            code.copy(code.at(row, context.outcome_after), after, context.slots)
            if context.detailed:
                reply = code.at(code.load_pointer(CTX, ROW), 1)
                code.copy(code.at(row, context.outcome_reply), reply, context.reply)
                trail = code.at(row, context.outcome_reply + context.reply)
                code.copy(trail, code.at(CTX, context.guards), context.trail)
            code.store(code.add(listed, 1), CTX, OUTCOME_COUNT)

    # --- expansion -------------------------------------------------------------------------------

    def print_outcomes(self, operations: int) -> None:
        """`@outcomes(ctx)`: all outcomes of the state in the context."""
        code = Code.of(fn.OUTCOMES, CTX)
        code.call(fn.STATES, CTX)
        code.store(0, CTX, ENABLED)
        self.all_offers(code, operations)
        code.give()
        self.unit.add(code)

    def print_expand(self) -> None:
        """`@expand(ctx, states, count)` and `@check(ctx, states, count)`."""
        for function in (fn.EXPAND, fn.CHECK):
            code = Code.of(function, CTX, BLOCK, COUNT)
            context, number = self.context, code.memory(1)
            code.store(0, number)
            head, body, done = code.label(), code.label(), code.label()
            code.jump(head)
            code.start(head)
            i = code.load(number)
            on = code.compare("lt", i, COUNT)
            if function is fn.EXPAND:
                for p in range(PARTITIONS):
                    filled = code.add(code.load(CTX, context.outs + 2 * p + 1), MARGIN)
                    on = code.both(on, code.compare("le", filled, code.load(CTX, CAPACITY)))
                on = code.both(on, code.compare("eq", code.load(CTX, FATAL), 0))
            code.fork(on, body, done)
            code.start(body)
            state = code.row(BLOCK, i, context.width)
            fields = code.at(CTX, context.fields)
            code.call(fn.UNPACK, state, fields)
            code.store(0, CTX, SEQ)
            code.call(fn.OUTCOMES if function is fn.EXPAND else fn.STATES, CTX)
            code.bump(CTX, SOURCE)
            code.store(code.add(i, 1), number)
            code.jump(head)
            code.start(done)
            code.give(code.load(number))
            self.unit.add(code)

    def print_recall(self) -> None:
        """`@recall(ctx, states, count)`: known states, with their tags, into the buffers."""
        code, context = Code.of(fn.RECALL, CTX, BLOCK, COUNT), self.context
        fields, words = code.at(CTX, context.fields), code.at(CTX, context.key)
        with code.counting(COUNT) as i:
            state = code.row(BLOCK, i, context.width)
            code.call(fn.UNPACK, state, fields)
            code.call(fn.KEY, fields, words)
            self.append(code, words, fields, code.load(state, context.width - 1))
        code.give(COUNT)
        self.unit.add(code)

    def all_offers(self, code: Code, operations: int) -> None:
        """Offer every operation, and note a deadlock if nothing was enabled."""
        if self.context.issued:
            code.call(fn.ISSUED, CTX)
        for i in range(operations):
            code.call(fn.offer(i), CTX)
        if self.deadlock >= 0:
            with code.when(code.compare("eq", code.load(CTX, ENABLED), 0)):
                cut = code.call(fn.CUT, CTX) if self.restricted else 0
                code.call(fn.NOTE, CTX, code.add(self.deadlock, cut), 0)
