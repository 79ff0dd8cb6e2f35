"""Prints what every instance shares: expansion of a block of states, and the table of keys.

i64 expand(ctx, states, count)      -> how many were expanded before a buffer was nearly full
void check(ctx, states, count)      properties of states that are not expanded
i64 insert(table, size, most, lists, fresh) -> how many keys were new
void grow(old, size, table, new_size)
void merge(lists, target)           new states of all partitions in the order of their tags
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from charter.backends.engine.body import Shape
from charter.backends.engine.code import Code, Ref
from charter.backends.engine.context import (
    CAPACITY,
    ENABLED,
    ERROR,
    FATAL,
    GENERATED,
    MARGIN,
    NOTE,
    OP,
    OUTSIDE,
    PARTITION_BITS,
    PARTITIONS,
    SEQ,
    SEQ_BITS,
    SOURCE,
    TELL,
    TELL_ROOM,
    TOLD,
    Context,
)
from charter.backends.engine.expr import Expr
from charter.backends.engine.unit import FATAL_SUCCESSORS, Unit
from charter.ir import nodes as n

TAKEN_BIT = 1 << 63
MIXERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)


@dataclass(slots=True)
class Kernel:
    """`states` and `moves` are the properties of states and of transitions, with the number of
    their note; the note behind is for where they have no value. `undefined` is the first note of
    the operations, `deadlock` the note of states where nothing can be done (-1: of no interest)."""

    unit: Unit
    context: Context
    shape: Shape
    states: Sequence[tuple[int, n.Property]]
    moves: Sequence[tuple[int, n.Property]]
    undefined: int
    deadlock: int

    def print(self, operations: int) -> None:
        """Everything."""
        for number, prop in (*self.states, *self.moves):
            self.print_property(number, prop)
        self.print_note()
        self.print_emit()
        self.print_deliver()
        self.print_states()
        self.print_expand(operations)
        self.print_recall()
        self.print_insert()
        self.print_grow()
        self.print_merge()

    # --- properties ------------------------------------------------------------------------------

    def print_property(self, number: int, prop: n.Property) -> None:
        """`@prop_<number>(ctx, before, after, took)`: whether it is to be noted."""
        head = (
            f"internal i1 @prop_{number}(ptr %ctx, ptr noalias readonly %s, "
            "ptr noalias readonly %z, i64 %took)"
        )
        code = Code(head, "nounwind")
        expr = Expr(self.unit, code, took="%took")
        expr.before, expr.after = self.shape.places("%s"), self.shape.places("%z")
        holds = expr.truth(prop.body)
        code.do(f"ret i1 {holds if prop.kind == 'witness' else code.negation(holds)}")
        self.unit.add(code)

    def print_note(self) -> None:
        """`@note(ctx, number, site)`."""
        code = Code("internal void @note(ptr %ctx, i64 %number, i64 %site)", "nounwind noinline")
        at = code.add(code.binary("mul", "%number", str(NOTE)), str(self.context.noted))
        place = code.at("%ctx", at)
        with code.when(code.compare("eq", code.bump(place), "0")):
            code.store(code.load("%ctx", SOURCE), place, 1)
            code.store(code.load("%ctx", SEQ), place, 2)
            code.store("%site", place, 3)
        code.do("ret void")
        self.unit.add(code)

    def noting(self, code: Code, number: int, hit: Ref) -> None:
        """Note a property that was hit, or that has no value."""
        error = code.load("%ctx", ERROR)
        failed = code.compare("ne", error, "0")
        with code.when(code.either(failed, hit)):
            shift = code.widened(failed)
            code.store("0", "%ctx", ERROR)
            code.do(f"call void @note(ptr %ctx, i64 {code.add(str(number), shift)}, i64 {error})")

    def print_states(self) -> None:
        """`@states(ctx)`: the properties of the state that is expanded."""
        code = Code("internal void @states(ptr %ctx)", "nounwind")
        s = code.at("%ctx", self.context.fields)
        for number, _ in self.states:
            call = f"call i1 @prop_{number}(ptr %ctx, ptr {s}, ptr {s}, i64 -1)"
            self.noting(code, number, code.let(call))
        code.do("ret void")
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
        code.do(f"call void @note(ptr %ctx, i64 {note}, i64 {error})")
        self.tell(code, code.binary("sub", "0", error), code.at("%ctx", context.fields))
        code.store("0", "%ctx", ERROR)
        code.bump("%ctx", SEQ)
        code.jump(done)
        code.start(fine)
        kept = code.let(f"call i64 @once(ptr {rows}, i64 %count, i64 %size)")
        code.bump("%ctx", GENERATED, kept)
        code.bump("%ctx", ENABLED, kept)
        with code.counting(kept) as i:
            row = code.at(rows, code.binary("mul", i, "%size"))
            after = code.at(row, "%offset")
            code.do(f"call void @emit(ptr %ctx, i64 {code.load(row)}, ptr {after})")
            code.bump("%ctx", SEQ)
        code.jump(done)
        code.start(done)
        code.do("ret void")
        self.unit.add(code)

    def print_emit(self) -> None:
        """`@emit(ctx, branch, after)`: one transition."""
        code = Code(
            "internal void @emit(ptr %ctx, i64 %branch, ptr noalias readonly %z)", "nounwind"
        )
        context = self.context
        fields = code.at("%ctx", context.fields)
        outside, inside, done = code.label(), code.label(), code.label()
        code.fork(code.let("call i1 @outside(ptr %z)"), outside, inside)
        code.start(outside)
        code.bump("%ctx", OUTSIDE)
        code.jump(done)
        code.start(inside)
        code.bump("%ctx", code.add("%branch", str(context.taken)))
        for number, _ in self.moves:
            call = f"call i1 @prop_{number}(ptr %ctx, ptr {fields}, ptr %z, i64 %branch)"
            self.noting(code, number, code.let(call))
        telling = code.compare("ne", code.load("%ctx", TELL), "0")
        words = code.at("%ctx", context.key)
        with code.when(telling):
            code.do(f"call void @key(ptr %z, ptr {words})")
            self.tell(code, "%branch", "%z")
        same = code.let(f"call i1 @same(ptr {fields}, ptr %z, i64 {self.shape.slots})")
        with code.unless(code.either(same, telling)):
            code.do(f"call void @key(ptr %z, ptr {words})")
            source = code.binary("shl", code.load("%ctx", SOURCE), str(SEQ_BITS))
            tag = code.binary("or", source, code.load("%ctx", SEQ))
            self.append(code, words, "%z", tag)
        code.jump(done)
        code.start(done)
        code.do("ret void")
        self.unit.add(code)

    def append(self, code: Code, words: Ref, state: Ref, tag: Ref) -> None:
        """A record in the buffer of its partition: a key, the state it is of, its tag."""
        context = self.context
        refs = [code.load(words, i) for i in range(context.words)]
        part = code.binary("lshr", hashed(code, refs), str(64 - PARTITION_BITS))
        out = code.at("%ctx", code.add(code.binary("mul", part, "2"), str(context.outs)))
        count = code.load(out, 1)
        full = code.compare("sge", count, code.load("%ctx", CAPACITY))
        with code.when(full):
            code.do(f"call void @fail(ptr %ctx, i64 {FATAL}, i64 {FATAL_SUCCESSORS})")
        with code.unless(full):
            buffer = code.load(out, 0, "ptr")
            record = code.at(buffer, code.binary("mul", count, str(context.record)))
            for i, ref in enumerate(refs):
                code.store(ref, record, i)
            if context.raw:
                code.do(f"call void @pack(ptr {state}, ptr {code.at(record, context.words)})")
            code.store(tag, record, context.record - 1)
            code.store(code.add(count, "1"), out, 1)

    def tell(self, code: Code, branch: Ref, after: Ref) -> None:
        """What happened, where somebody wants to know."""
        context = self.context
        pointer = code.load("%ctx", TELL, "ptr")
        wanted = code.compare("ne", pointer, "null", "ptr")
        told = code.load("%ctx", TOLD)
        room = code.compare("slt", told, code.load("%ctx", TELL_ROOM))
        with code.when(code.both(wanted, room)):
            row = code.at(pointer, code.binary("mul", told, str(context.told)))
            code.store(code.load("%ctx", OP), row, 0)
            code.store(code.load("%ctx", SEQ), row, 1)
            code.store(branch, row, 2)
            code.copy(code.at(row, 3), code.at("%ctx", context.key), context.words)
            at = 3 + context.words
            code.copy(code.at(row, at), code.at("%ctx", context.arguments), context.args)
            code.copy(code.at(row, at + context.args), after, context.slots)
            code.store(code.add(told, "1"), "%ctx", TOLD)

    # --- expansion -------------------------------------------------------------------------------

    def print_expand(self, operations: int) -> None:
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
            state = code.at("%states", code.binary("mul", i, str(context.kept + 1)))
            fields = code.at("%ctx", context.fields)
            code.do(f"call void @unpack(ptr {state}, ptr {fields})")
            code.store("0", "%ctx", SEQ)
            code.store("0", "%ctx", ENABLED)
            code.do("call void @states(ptr %ctx)")
            if name == "expand":
                self.all_offers(code, operations)
            code.bump("%ctx", SOURCE)
            code.store(code.add(i, "1"), number)
            code.jump(head)
            code.start(done)
            code.do(f"ret i64 {code.load(number)}")
            self.unit.add(code)

    def print_recall(self) -> None:
        """`@recall(ctx, states, count)`: known states, with their tags, into the buffers."""
        code, context = (
            Code("i64 @recall(ptr %ctx, ptr %states, i64 %count)", "nounwind"),
            self.context,
        )
        fields, words = code.at("%ctx", context.fields), code.at("%ctx", context.key)
        with code.counting("%count") as i:
            state = code.at("%states", code.binary("mul", i, str(context.kept + 1)))
            code.do(f"call void @unpack(ptr {state}, ptr {fields})")
            code.do(f"call void @key(ptr {fields}, ptr {words})")
            self.append(code, words, fields, code.load(state, context.kept))
        code.do("ret i64 %count")
        self.unit.add(code)

    def all_offers(self, code: Code, operations: int) -> None:
        """Every operation, and whether there was anything to do."""
        if self.context.issued:
            code.do("call void @issued(ptr %ctx)")
        for i in range(operations):
            code.do(f"call void @offer_{i}(ptr %ctx)")
        if self.deadlock >= 0:
            with code.when(code.compare("eq", code.load("%ctx", ENABLED), "0")):
                code.do(f"call void @note(ptr %ctx, i64 {self.deadlock}, i64 0)")

    # --- the table -------------------------------------------------------------------------------

    def slot(self, code: Code, refs: list[Ref], size: Ref) -> Ref:
        """Where a key is looked for first."""
        spread = code.binary("shl", hashed(code, refs), str(PARTITION_BITS))
        wide = code.let(f"zext i64 {spread} to i128")
        other = code.let(f"zext i64 {size} to i128")
        high = code.let(f"lshr i128 {code.let(f'mul i128 {wide}, {other}')}, 64")
        return code.let(f"trunc i128 {high} to i64")

    def print_insert(self) -> None:
        """`@insert(table, size, most, lists, fresh)`. `lists` is a pointer and a count for each of
        two buffers, both in the order of tags, of which the first 4 numbers are used; the counts
        that are left are written back. `fresh` takes the new states, with their tags."""
        head = "i64 @insert(ptr %table, i64 %size, i64 %most, ptr %lists, ptr noalias %fresh)"
        code, context = Code(head, "nounwind"), self.context
        words, record = context.words, context.record
        fresh = code.memory(1)
        code.store("0", fresh)
        loop, pick, done = code.label(), code.label(), code.label()
        code.jump(loop)
        code.start(loop)
        left = [code.load("%lists", 1), code.load("%lists", 3)]
        more = code.compare("ne", code.binary("or", *left), "0")
        room = code.compare("slt", code.load(fresh), "%most")
        code.fork(code.both(more, room), pick, done)
        code.start(pick)
        at = [code.load("%lists", 0, "ptr"), code.load("%lists", 2, "ptr")]
        second = self.second(code, at, left)
        source = code.select(second, at[1], at[0], "ptr")
        which = code.select(second, "2", "0")
        code.store(code.at(source, record), code.at("%lists", which), 0, "ptr")
        place = code.at(code.at("%lists", which), 1)
        code.store(code.binary("sub", code.load(place), "1"), place)
        refs = [code.load(source, i) for i in range(words)]
        self.prefetch(code, source, record)
        marked = [code.binary("or", refs[0], str(TAKEN_BIT)), *refs[1:]]
        probe = code.memory(1)
        code.store(self.slot(code, refs, "%size"), probe)
        look, next_, compare, new = (code.label() for _ in range(4))
        code.jump(look)
        code.start(look)
        entry = code.at("%table", code.binary("mul", code.load(probe), str(words)))
        first = code.load(entry)
        code.fork(code.compare("eq", first, "0"), new, compare)
        code.start(compare)
        equal = code.compare("eq", first, marked[0])
        for i in range(1, words):
            equal = code.both(equal, code.compare("eq", code.load(entry, i), marked[i]))
        code.fork(equal, loop, next_)
        code.start(next_)
        on = code.add(code.load(probe), "1")
        code.store(code.select(code.compare("eq", on, "%size"), "0", on), probe)
        code.jump(look)
        code.start(new)
        for i, ref in enumerate(marked):
            code.store(ref, entry, i)
        kept = code.at("%fresh", code.binary("mul", code.bump(fresh), str(context.kept + 1)))
        start = words if context.raw else 0
        for i in range(context.kept):
            code.store(code.load(source, start + i), kept, i)
        code.store(code.load(source, record - 1), kept, context.kept)
        code.jump(loop)
        code.start(done)
        code.do(f"ret i64 {code.load(fresh)}")
        self.unit.add(code)

    def second(self, code: Code, at: list[Ref], left: list[Ref]) -> Ref:
        """Whether the next record stands in the second list."""
        empty = code.compare("eq", left[0], "0")
        both = code.compare("ne", left[1], "0")
        safe = code.select(both, at[1], at[0], "ptr")
        tags = [code.load(p, self.context.record - 1) for p in (at[0], safe)]
        earlier = code.compare("ult", tags[1], tags[0])
        return code.either(empty, code.both(both, earlier))

    def prefetch(self, code: Code, source: Ref, record: int) -> None:
        """Ask for the place of a record that comes a little later; the buffer has room behind."""
        ahead = code.at(source, 8 * record)
        refs = [code.load(ahead, i) for i in range(self.context.words)]
        at = self.slot(code, refs, "%size")
        place = code.at("%table", code.binary("mul", at, str(self.context.words)))
        code.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 1, i32 3, i32 1)")

    def print_grow(self) -> None:
        """`@grow(old, size, table, new_size)`."""
        head = "void @grow(ptr %old, i64 %size, ptr %table, i64 %more)"
        code, words = Code(head, "nounwind"), self.context.words
        with code.counting("%size") as i:
            entry = code.at("%old", code.binary("mul", i, str(words)))
            marked = [code.load(entry, w) for w in range(words)]
            with code.unless(code.compare("eq", marked[0], "0")):
                free = code.binary("and", marked[0], str(TAKEN_BIT - 1))
                probe, look, next_, put = code.memory(1), code.label(), code.label(), code.label()
                code.store(self.slot(code, [free, *marked[1:]], "%more"), probe)
                code.jump(look)
                code.start(look)
                place = code.at("%table", code.binary("mul", code.load(probe), str(words)))
                code.fork(code.compare("eq", code.load(place), "0"), put, next_)
                code.start(next_)
                on = code.add(code.load(probe), "1")
                code.store(code.select(code.compare("eq", on, "%more"), "0", on), probe)
                code.jump(look)
                code.start(put)
                for w, ref in enumerate(marked):
                    code.store(ref, place, w)
        code.do("ret void")
        self.unit.add(code)

    def print_merge(self) -> None:
        """`@merge(lists, target)`: pointer and count for each partition, in the order of tags."""
        code = Code("void @merge(ptr %lists, ptr noalias %target)", "nounwind")
        width = self.context.kept + 1
        out = code.memory(1)
        code.store("%target", out, 0, "ptr")
        head, take, done = code.label(), code.label(), code.label()
        code.jump(head)
        code.start(head)
        best, where = "-1", "0"
        for p in range(PARTITIONS):
            some = code.compare("ne", code.load("%lists", 2 * p + 1), "0")
            pointer = code.load("%lists", 2 * p, "ptr")
            tag = code.select(some, code.load(pointer, width - 1), "-1")
            less = code.compare("ult", tag, best)
            best, where = code.select(less, tag, best), code.select(less, str(2 * p), where)
        code.fork(code.compare("ne", best, "-1"), take, done)
        code.start(take)
        place = code.at("%lists", where)
        source, target = code.load(place, 0, "ptr"), code.load(out, 0, "ptr")
        code.copy(target, source, width)
        code.store(code.at(source, width), place, 0, "ptr")
        code.store(code.binary("sub", code.load(place, 1), "1"), place, 1)
        code.store(code.at(target, width), out, 0, "ptr")
        code.jump(head)
        code.start(done)
        code.do("ret void")
        self.unit.add(code)


def hashed(code: Code, refs: Sequence[Ref]) -> Ref:
    """A number from all words."""
    total = "0"
    for ref in refs:
        mixed = code.binary("mul", code.binary("xor", total, ref), str(MIXERS[0]))
        total = code.binary("xor", mixed, code.binary("lshr", mixed, "32"))
    mixed = code.binary("mul", total, str(MIXERS[1]))
    return code.binary("xor", mixed, code.binary("lshr", mixed, "29"))


def hash_of(words: Sequence[int]) -> int:
    """The same number, computed here."""
    whole, total = (1 << 64) - 1, 0
    for word in words:
        mixed = ((total ^ word) * MIXERS[0]) & whole
        total = mixed ^ (mixed >> 32)
    mixed = (total * MIXERS[1]) & whole
    return mixed ^ (mixed >> 29)
