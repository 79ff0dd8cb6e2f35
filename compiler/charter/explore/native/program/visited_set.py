"""Emits the hash table of the visited set.

i64 insert(table, size, lists, count, fresh, directory) -> how many records were new
void grow(old, size, table, new_size)
void merge(lists, directory, first)              the new states, in the order of their tags

An entry represents one state; its content depends on `context.Memory`:

- `keys`: the words of the key, compared exactly. For keys of one or two words.
- `numbers`: the hash of the key and the number of the state. If hashes are equal, the keys are
  compared in the list of states: also exact, and smaller.
- `fingerprints`: the hash alone. Two states with equal hashes count as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.code import TRUE, Code, Label, Number, Pointer, Ref, Truth
from charter.explore.native.emit.functions import COUNT
from charter.explore.native.emit.unit import Unit
from charter.explore.native.memory.machine_context import PARTITION_BITS, PARTITIONS, MachineContext
from charter.explore.native.memory.state_store import BLOCK_BITS

TAKEN_BIT = 1 << 63
"""Marks an entry that is used: keys do not use that bit, and all hashes of a partition agree
there."""
FRESH_BIT = 1 << 63
"""Marks a number that is not the state's yet, but that of its row among the new ones."""
PREFETCH_ENTRY, PREFETCH_STATE = 8, 4
"""How many records ahead an entry is prefetched, and then the state that it names."""

TABLE, SIZE, LISTS = Pointer("%table"), Ref("%size"), Pointer("%lists")
FRESH, DIRECTORY = Pointer("%fresh"), Pointer("%directory")


def multipliers(seed: int, count: int) -> tuple[int, ...]:
    """Random numbers of 128 bits."""
    random = Random(seed)
    return tuple(random.getrandbits(128) for _ in range(count))


def hash_words(code: Code, words: Sequence[Number], seed: int) -> Number:
    """The upper half of a sum of products of 128 bits. Two different keys have equal hashes with a
    probability of at most 2**-64 over the random multipliers (multilinear hashing: Lemire and
    Kaser, Strongly universal string hashing is fast, 2014)."""
    total, *factors = multipliers(seed, len(words) + 1)
    found: Number = total
    for word, factor in zip(words, factors, strict=True):
        wide = code.cast(word, "i64", "i128")
        found = code.binary("add", code.binary("mul", wide, factor, "i128"), found, "i128")
    return code.cast(code.binary("lshr", found, 64, "i128"), "i128", "i64")


def home(code: Code, spread: Number, size: Number) -> Number:
    """The first slot of a hash table to probe for a hash."""
    wide = code.cast(code.binary("shl", spread, PARTITION_BITS), "i64", "i128")
    product = code.binary("mul", wide, code.cast(size, "i64", "i128"), "i128")
    return code.cast(code.binary("lshr", product, 64, "i128"), "i128", "i64")


def row_of(code: Code, number: Number, width: int, directory: Pointer = DIRECTORY) -> Pointer:
    """The row of a state in the list of states."""
    block = code.load_pointer(directory, code.binary("lshr", number, BLOCK_BITS))
    inside = code.binary("and", number, (1 << BLOCK_BITS) - 1)
    return code.row(block, inside, width)


@dataclass(slots=True)
class TablePrinter:
    """Prints the functions; `seed` chooses the hash function."""

    unit: Unit
    context: MachineContext
    seed: int

    def print(self) -> None:
        """Prints all functions."""
        self.print_insert()
        self.print_grow()
        self.print_merge()

    def entry(self, code: Code, table: Pointer, probe: Number) -> Pointer:
        """The address of an entry."""
        return code.row(table, probe, self.context.entry)

    @contextmanager
    def probing(
        self, code: Code, table: Pointer, spread: Number, size: Number
    ) -> Iterator[tuple[Pointer, Label]]:
        """Prints a loop over the entries from a hash's first slot on. Yields the entry and the
        label of the next iteration; the caller's body must end in a jump."""
        probe, look, onward = code.memory(1), code.label(), code.label()
        code.store(home(code, spread, size), probe)
        code.jump(look)
        code.start(look)
        yield self.entry(code, table, code.load(probe)), onward
        code.start(onward)
        on = code.add(code.load(probe), 1)
        code.store(code.select(code.compare("eq", on, size), 0, on), probe)
        code.jump(look)

    # --- insert ----------------------------------------------------------------------------------

    def print_insert(self) -> None:
        """Prints `insert`. `lists` has a pointer and a count for each of `count` buffers, each
        sorted by tag, and is modified. The table must have room for all records. The rows of new
        states are written to `fresh`; for `numbers`, each is followed by the position of its
        entry."""
        code = Code.of(fn.INSERT, TABLE, SIZE, LISTS, COUNT, FRESH, DIRECTORY)
        context = self.context
        record = context.record
        fresh = code.memory(1)
        code.store(0, fresh)
        pick, take, after, done, compare, new = (code.label() for _ in range(6))
        code.jump(pick)
        code.start(pick)
        left, lowest, limit = self.pick(code)
        code.fork(code.compare("ne", lowest, -1), take, done)
        code.start(take)
        source = code.load_pointer(left)
        code.store(code.at(source, record), left)
        code.store(code.sub(code.load(left, 1), 1), left, 1)
        self.prefetch(code, source)
        spread = code.load(source, record - 2)
        keys = [code.load(source, i) for i in range(context.words)]
        if context.memory == "keys":
            marked = [code.binary("or", keys[0], TAKEN_BIT), *keys[1:]]
        else:
            marked = [code.binary("or", spread, TAKEN_BIT)]
        with self.probing(code, TABLE, spread, SIZE) as (entry, onward):
            first = code.load(entry)
            code.fork(code.compare("eq", first, 0), new, compare)
            code.start(compare)
            equal = code.compare("eq", first, marked[0])
            for i, ref in enumerate(marked[1:], 1):
                equal = code.both(equal, code.compare("eq", code.load(entry, i), ref))
            if context.memory == "numbers":
                deeper = code.label()
                code.fork(equal, deeper, onward)
                code.start(deeper)
                equal = self.same_key(code, entry, keys)
            code.fork(equal, after, onward)
        code.start(new)
        for i, ref in enumerate(marked):
            code.store(ref, entry, i)
        self.keep(code, source, entry, code.bump(fresh))
        code.jump(after)
        code.start(after)
        more = code.nonzero(code.load(left, 1))
        before = code.compare("ult", code.load(code.load_pointer(left), record - 1), limit)
        code.fork(code.both(more, before), take, pick)
        code.start(done)
        code.give(code.load(fresh))
        self.unit.add(code)

    def keep(self, code: Code, source: Pointer, entry: Pointer, number: Number) -> None:
        """Prints code that copies the row of a new state to row `number` of `fresh`."""
        context = self.context
        row = code.row(FRESH, number, context.fresh)
        start = context.words if context.raw else 0
        code.copy(row, code.at(source, start), context.words)
        if context.memory == "numbers":
            code.store(code.binary("or", number, FRESH_BIT), entry, 1)
            code.store(entry, row, context.width)
            if context.raw:
                code.copy(code.at(row, context.words), source, context.words)
        code.store(code.load(source, context.record - 1), row, context.width - 1)

    def pick(self, code: Code) -> tuple[Pointer, Number, Number]:
        """Prints the choice of the next record. Returns the list whose first record has the lowest
        tag, that tag (-1 if all lists are empty), and the lowest tag of the other lists, up to
        which records can be taken from this list."""
        best, limit, where = (code.memory(1) for _ in range(3))
        for cell, first in ((best, -1), (limit, -1), (where, 0)):
            code.store(first, cell)
        with code.counting(COUNT) as i:
            place = code.row(LISTS, i, 2)
            some = code.nonzero(code.load(place, 1))
            first_tag = code.load(code.load_pointer(place), self.context.record - 1)
            tag, old = code.select(some, first_tag, -1), code.load(best)
            less = code.compare("ult", tag, old)
            other, second = code.select(less, old, tag), code.load(limit)
            closer = code.compare("ult", other, second)
            code.store(code.select(closer, other, second), limit)
            code.store(code.select(less, tag, old), best)
            code.store(code.select(less, i, code.load(where)), where)
        place = code.row(LISTS, code.load(where), 2)
        return place, code.load(best), code.load(limit)

    def prefetch(self, code: Code, source: Pointer) -> None:
        """Prints a prefetch of what records a little further on will need; may read past a buffer's
        end."""
        record = self.context.record
        spread = code.load(source, PREFETCH_ENTRY * record + record - 2)
        prefetch(code, self.entry(code, TABLE, home(code, spread, SIZE)))
        if self.context.memory != "numbers":
            return
        spread = code.load(source, PREFETCH_STATE * record + record - 2)
        entry = self.entry(code, TABLE, home(code, spread, SIZE))
        number = code.load(entry, 1)
        same = code.compare("eq", code.load(entry), code.binary("or", spread, TAKEN_BIT))
        with code.when(code.both(same, code.compare("ge", number, 0))):
            row = row_of(code, number, self.context.width)
            prefetch(code, code.at(row, self.context.key_at))

    def same_key(self, code: Code, entry: Pointer, keys: list[Ref]) -> Truth:
        """Whether the state of an entry has this key."""
        context, place, number = self.context, code.memory(1), code.load(entry, 1)
        is_fresh = code.compare("lt", number, 0)
        with code.when(is_fresh):
            index = code.binary("and", number, FRESH_BIT - 1)
            row = code.row(FRESH, index, context.fresh)
            code.store(row, place)
        with code.unless(is_fresh):
            code.store(row_of(code, number, context.width), place)
        row, equal = code.load_pointer(place), TRUE
        for i, ref in enumerate(keys, context.key_at):
            equal = code.both(equal, code.compare("eq", code.load(row, i), ref))
        return equal

    # --- growing and merging ---------------------------------------------------------------------

    def print_grow(self) -> None:
        """Prints `grow`, which copies all entries into a larger table."""
        old, more = Pointer("%old"), Ref("%more")
        code, context = Code.of(fn.GROW, old, SIZE, TABLE, more), self.context
        with code.counting(SIZE) as i:
            words = [code.load(self.entry(code, old, i), w) for w in range(context.entry)]
            with code.unless(code.compare("eq", words[0], 0)):
                spread: Number = words[0]
                put = code.label()
                if context.memory == "keys":
                    free = code.binary("and", words[0], TAKEN_BIT - 1)
                    spread = hash_words(code, [free, *words[1:]], self.seed)
                with self.probing(code, TABLE, spread, more) as (place, onward):
                    code.fork(code.compare("eq", code.load(place), 0), put, onward)
                code.start(put)
                for w, ref in enumerate(words):
                    code.store(ref, place, w)
        code.give()
        self.unit.add(code)

    def print_merge(self) -> None:
        """Prints `merge`. `lists` has a pointer and a count for the new rows of each partition. The
        states are numbered from `first` on and their rows copied into the list of states."""
        first = Ref("%first")
        code = Code.of(fn.MERGE, LISTS, DIRECTORY, first)
        context = self.context
        width, number = context.width, code.memory(1)
        code.store(first, number)
        head, take, done = code.label(), code.label(), code.label()
        code.jump(head)
        code.start(head)
        best: Number = -1
        where: Number = 0
        for p in range(PARTITIONS):
            some = code.nonzero(code.load(LISTS, 2 * p + 1))
            pointer = code.load_pointer(LISTS, 2 * p)
            tag = code.select(some, code.load(pointer, width - 1), -1)
            less = code.compare("ult", tag, best)
            best, where = code.select(less, tag, best), code.select(less, 2 * p, where)
        code.fork(code.compare("ne", best, -1), take, done)
        code.start(take)
        place = code.at(LISTS, where)
        source, own = code.load_pointer(place), code.bump(number)
        code.copy(row_of(code, own, width), source, width)
        if context.memory == "numbers":
            code.store(own, code.load_pointer(source, width), 1)
        code.store(code.at(source, context.fresh), place)
        code.store(code.sub(code.load(place, 1), 1), place, 1)
        code.jump(head)
        code.start(done)
        code.give()
        self.unit.add(code)


def prefetch(code: Code, place: Pointer) -> None:
    """Prints a prefetch of memory that will be written."""
    code.call(fn.PREFETCH, place, 1, 3, 1)
