"""Emits the canonical form `@key` of a state under renaming of sort elements and counters; and
`@pack`, `@unpack`.

Counters whose order matters become their rank, others the order of their first occurrence; numbers
that the charter mentions are not changed (`analysis.symmetry`). Then the elements of the sorts are
permuted. A state with the values of the anchor (`anchor.py`) is not changed; a state for which a
permutation produces these values is permuted so; for all others the permutation with the least
words is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import factorial

from charter.analysis.symmetry import Quotient, Renaming, permute
from charter.core import types as t
from charter.core.nodes import StateVar
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.code import FALSE, TRUE, Code, Number, Pointer, Ref, Truth, array
from charter.explore.native.emit.functions import OUT, STATE
from charter.explore.native.emit.unit import Unit
from charter.explore.native.memory.layout import MOST_COUNTER, CannotCompile, Packing
from charter.explore.native.program.orbit_signature import Signatures
from charter.explore.native.program.set_members import SetMembers

MOST_PAIRS = 32
"""The most slots of an anchor."""
RENAMING = Ref("%r")
PAIRS = Pointer("@anchor_pairs")


@dataclass(slots=True)
class KeyPrinter:
    """Prints the functions of one quotient. Unused slots stay zero."""

    unit: Unit
    quotient: Quotient
    variables: tuple[StateVar, ...]
    packing: Packing
    code: Code = field(init=False)
    sets: SetMembers = field(init=False)
    renamings: tuple[Renaming, ...] = ()
    opaque: frozenset[str] = frozenset()

    @property
    def slots(self) -> int:
        """Slots of a state."""
        return len(self.packing.places)

    # --- packing ---------------------------------------------------------------------------------

    def pack(self, slots: list[Number], target: Pointer) -> None:
        """Write slots as words."""
        words: list[Number] = [0] * self.packing.words
        for slot, (word, low, width) in zip(slots, self.packing.places, strict=True):
            if width:
                moved = self.code.binary("shl", slot, low)
                words[word] = self.code.binary("or", words[word], moved)
        for i, word_ in enumerate(words):
            self.code.store(word_, target, i)

    def print_pack(self) -> None:
        """`@pack(slots, words)`: a state as it is. `@unpack(words, slots)`."""
        self.code = Code.of(fn.PACK, STATE, OUT)
        self.pack([self.code.load(STATE, i) for i in range(len(self.packing.places))], OUT)
        self.code.give()
        self.unit.add(self.code)
        self.code = code = Code.of(fn.UNPACK, STATE, OUT)
        words = [code.load(STATE, i) for i in range(self.packing.words)]
        for i, (word, low, width) in enumerate(self.packing.places):
            moved = code.binary("lshr", words[word], low)
            mask = (1 << width) - 1
            code.store(0 if not width else code.binary("and", moved, mask), OUT, i)
        code.give()
        self.unit.add(code)

    # --- keys ------------------------------------------------------------------------------------

    def print_key(self) -> None:
        """`@key(slots, words)`, `@anchor(pairs)`, and what they need."""
        self.renamings = self.quotient.renamings(self.unit.layout.universe)
        self.sets = SetMembers(self.unit, self.quotient)
        ranked = sorted(self.quotient.ranked & self.quotient.counters)
        self.opaque = self.quotient.counters - set(ranked)
        if ranked:
            self.print_ranked(ranked)
        if self.opaque:
            self.print_in_order()
            self.print_named()
        self.print_anchor()
        if len(self.renamings) > 1:
            self.print_permuted()
            self.print_least()
        self.code = code = Code.of(fn.KEY, STATE, OUT)
        place = code.memory(1)
        code.store(STATE, place)
        if ranked:
            self._rank(ranked, place)
        state = code.load_pointer(place)
        if len(self.renamings) == 1:
            self._name_and_pack(state)
        else:
            anchored = code.call(fn.ANCHORED, state)
            with code.when(anchored):
                self._name_and_pack(state)
            with code.unless(anchored):
                code.call(fn.LEAST, state, OUT)
        code.give()
        self.unit.add(code)

    def _copy(self, state: Pointer) -> Pointer:
        """A copy of a state."""
        own = self.code.memory(self.slots)
        self.code.copy(own, state, self.slots)
        return own

    def _name_and_pack(self, state: Pointer) -> None:
        """Number the counters of a state whose sorts are permuted, and pack it."""
        code = self.code
        if not self.opaque:
            code.call(fn.PACK, state, OUT)
            return
        in_order = code.call(fn.IN_ORDER, state)
        with code.when(in_order):
            code.call(fn.PACK, state, OUT)
        with code.unless(in_order):
            own = self._copy(state)
            code.call(fn.NAMED, own)
            code.call(fn.PACK, own, OUT)

    # --- counters --------------------------------------------------------------------------------

    def _rank(self, names: list[str], place: Pointer) -> None:
        """Store at `place` the address of a state with ranks for counters: the state itself if its
        counters are already ranks."""
        code = self.code
        low = {name: self.quotient.fixed.get(name, -1) for name in names}
        cells = {name: code.memory(1) for name in names}
        for name, cell in cells.items():
            # The engine stops where a counter exceeds 63, so higher bits are not asked for.
            code.store((1 << min(low[name] + 1, MOST_COUNTER + 1)) - 1, cell)
        # Unused slots are 0. Where 0 is not a rank they may be counted too.
        for name, at, there in self.counters(cells, exact=min(low.values()) < 0):
            bit = code.select(there, code.binary("shl", 1, code.load(at)), 0)
            code.store(code.binary("or", code.load(cells[name]), bit), cells[name])
        masks = {name: code.load(cell) for name, cell in cells.items()}
        gaps: Number = 0
        for mask in masks.values():
            gaps = code.binary("or", gaps, code.binary("and", mask, code.add(mask, 1)))
        with code.unless(code.compare("eq", gaps, 0)):
            own = self._copy(STATE)
            code.call(fn.rank(len(names)), own, *[masks[name] for name in names])
            code.store(own, place)

    def print_ranked(self, names: list[str]) -> None:
        """`@ranked(slots, mask, ...)`: each counter becomes its rank in the mask of its type."""
        masks = {name: Ref(f"%m_{name}") for name in names}
        self.code = code = Code.of(fn.rank(len(names)), STATE, *masks.values())
        for name, at, there in self.counters(names, exact=False):
            value = code.load(at)
            below = code.sub(code.binary("shl", 1, value), 1)
            rank = code.bits(code.binary("and", masks[name], below))
            code.store(code.select(there, rank, value), at)
        code.give()
        self.unit.add(code)

    def print_in_order(self) -> None:
        """`@in_order(slots)`: whether `@named` would change nothing."""
        self.code = code = Code.of(fn.IN_ORDER, STATE)
        count: dict[str, Number] = dict.fromkeys(self.opaque, 0)
        fine = TRUE
        for name, at, there in self.counters(self.opaque, exact=True):
            value = code.load(at)
            known = code.compare("ule", value, count[name])
            fine = code.both(fine, code.either(code.negation(there), known))
            new = code.both(there, code.compare("eq", value, count[name]))
            count[name] = code.add(count[name], code.widen(new))
        code.give(fine)
        self.unit.add(code)

    def print_named(self) -> None:
        """`@named(slots)`: numbers counters without order by their first occurrence."""
        self.code = code = Code.of(fn.NAMED, STATE)
        known = {name: code.memory(64) for name in self.opaque}
        count = {name: code.memory(1) for name in self.opaque}
        for name in self.opaque:
            code.clear(known[name], 64)
            code.store(0, count[name])
        for name, at, there in self.counters(self.opaque, exact=True):
            with code.when(there):
                entry = code.at(known[name], code.load(at))
                with code.when(code.compare("eq", code.load(entry), 0)):
                    code.bump(count[name])
                    code.store(code.load(count[name]), entry)
                code.store(code.sub(code.load(entry), 1), at)
        code.give()
        self.unit.add(code)

    def counters(
        self, names: Collection[str], *, exact: bool
    ) -> Iterator[tuple[str, Pointer, Truth]]:
        """The counters of some types in the state: the type, the address, and whether it is
        present; unless `exact`, an absent one whose slot is 0 may be reported as present."""
        place = STATE
        for variable in self.variables:
            yield from self._inside(variable.type, (place, TRUE), names, exact)
            place = self.code.at(place, self.unit.layout.slots(variable.type))

    def _inside(
        self, kind: t.Type, where: tuple[Pointer, Truth], names: Collection[str], exact: bool
    ) -> Iterator[tuple[str, Pointer, Truth]]:
        place, there = where
        held = t.counters_in(kind)
        if held.isdisjoint(names):
            return
        match kind:
            case t.Counter(name=name):
                yield name, place, there
            case t.Set():
                raise CannotCompile("state with a set of counters")
            case _:
                lax = not exact and not isinstance(kind, t.Union)
                for part, inner, inside in self.parts(kind, place, there):
                    yield from self._inside(part, (inner, there if lax else inside), names, exact)

    # --- sorts -----------------------------------------------------------------------------------

    def print_anchor(self) -> None:
        """`@anchor(pairs)` sets the anchor: the number of pairs (-1: no anchor), and for each the
        number of a slot and its value. `@anchored(slots)`: whether a state has these values."""
        size = 1 + 2 * MOST_PAIRS
        self.unit.functions.append(array(PAIRS, [-1] + [0] * (size - 1), writable=True) + "\n")
        given = Pointer("%pairs")
        code = Code.of(fn.ANCHOR, given)
        code.copy(PAIRS, given, size)
        code.give()
        self.unit.add(code)
        code = Code.of(fn.ANCHORED, STATE)
        count, found = code.load(PAIRS), code.memory(1)
        code.store(code.widen(code.compare("ge", count, 0)), found)
        with code.counting(count) as i:
            pair = code.at(PAIRS, code.add(code.binary("shl", i, 1), 1))
            same = code.compare("eq", code.load(STATE, code.load(pair)), code.load(pair, 1))
            code.store(code.binary("and", code.load(found), code.widen(same)), found)
        code.give(code.nonzero(code.load(found)))
        self.unit.add(code)

    def print_permuted(self) -> None:
        """`@permuted(slots, out, number)`: the state after one of the renamings."""
        self.code = code = Code.of(fn.PERMUTED, STATE, OUT, RENAMING)
        place, at = STATE, 0
        for variable in self.variables:
            for i, slot in enumerate(self.rename(variable.type, place, TRUE), at):
                code.store(slot, OUT, i)
            at += self.unit.layout.slots(variable.type)
            place = code.at(STATE, at)
        code.give()
        self.unit.add(code)

    def print_least(self) -> None:
        """`@least(slots, words)`: the words under the permutation that produces the anchor's
        values; if there is none, the least words of all permutations that sort the orbit
        signatures."""
        self.code = code = Code.of(fn.LEAST, STATE, OUT)
        own = code.memory(self.slots)
        has_anchor = code.compare("ge", code.load(PAIRS), 0)
        tries = code.select(has_anchor, len(self.renamings), 0)
        with code.counting(tries, 1) as i:
            code.call(fn.PERMUTED, STATE, own, i)
            with code.when(code.call(fn.ANCHORED, own)):
                self._words(own, OUT)
                code.give()
                code.start(code.label())
        signatures = {sort: self.signatures(sort) for sort in self.quotient.sorts}
        distinct, number = self._find_order(signatures)
        with code.when(distinct):
            code.call(fn.PERMUTED, STATE, own, number)
            self._words(own, OUT)
        with code.unless(distinct):
            self._least(own, signatures)
        code.give()
        self.unit.add(code)

    def _words(self, own: Pointer, out: Pointer) -> None:
        """The words of a permuted state, in memory of this function."""
        if self.opaque:
            self.code.call(fn.NAMED, own)
        self.code.call(fn.PACK, own, out)

    def _find_order(self, signatures: Mapping[str, Pointer]) -> tuple[Truth, Number]:
        """Whether all signatures are distinct, and the number of the permutation that then sorts
        them: `permutations` lists them in lexicographic order, so it follows from how many later
        signatures are less."""
        code, distinct = self.code, TRUE
        number: Number = 0
        for sort, place in signatures.items():
            size = self.unit.layout.size(t.Sort(sort))
            refs = [code.load(place, i) for i in range(size)]
            number = code.mul(number, factorial(size))
            for i, signature in enumerate(refs):
                later: Number = 0
                for other in refs[i + 1 :]:
                    distinct = code.both(distinct, code.compare("ne", signature, other))
                    later = code.add(later, code.widen(code.compare("ult", other, signature)))
                weight = factorial(size - 1 - i)
                number = code.add(number, code.mul(later, weight))
        return distinct, number

    def _least(self, own: Pointer, signatures: Mapping[str, Pointer]) -> None:
        """The least words of all permutations that sort the signatures."""
        code, words = self.code, self.packing.words
        other, some = code.memory(words), code.memory(1)
        code.store(0, some)
        with code.counting(len(self.renamings)) as i:
            ordered = TRUE
            for sort, place in signatures.items():
                rows = [renaming[sort] for renaming in self.renamings]
                size = len(rows[0])
                back = self.unit.table(row.index(new) for row in rows for new in range(size))
                old = code.row(back, i, size)
                for a, b in pairwise(code.load(old, new) for new in range(size)):
                    test = code.compare("ule", code.load(place, a), code.load(place, b))
                    ordered = code.both(ordered, test)
            with code.when(ordered):
                code.call(fn.PERMUTED, STATE, own, i)
                self._words(own, other)
                less = code.compare("eq", code.load(some), 0)
                earlier = FALSE
                for word in range(words):
                    x, y = code.load(other, word), code.load(OUT, word)
                    same = code.both(code.compare("eq", x, y), earlier)
                    earlier = code.either(code.compare("ult", x, y), same)
                with code.when(code.either(less, earlier)):
                    code.copy(OUT, other, words)
                    code.store(1, some)

    def signatures(self, sort: str) -> Pointer:
        """The orbit signatures of the elements of a sort, in memory."""
        layout = self.unit.layout
        signatures = Signatures(
            self.code, self.sets, sort, self.opaque, lambda kind: not self.quotient.permutes(kind)
        )
        size = layout.size(t.Sort(sort))
        place = self.code.memory(size)
        for i in range(size):
            self.code.store(signatures.of(self.variables, i), place, i)
        return place

    def parts(
        self, kind: t.Type, place: Pointer, there: Truth
    ) -> Iterator[tuple[t.Type, Pointer, Truth]]:
        """The parts of a value in memory with their addresses, and whether they are present."""
        code, layout = self.code, self.unit.layout
        match kind:
            case t.Option(inner=inner):
                tag = code.nonzero(code.load(place))
                yield inner, code.at(place, 1), code.both(there, tag)
            case t.Record(fields=fields):
                for _, part in fields:
                    yield part, place, there
                    place = code.at(place, layout.slots(part))
            case t.Union(cases=cases):
                for number, (_, params) in enumerate(cases):
                    tag = code.compare("eq", code.load(place), number)
                    here = code.at(place, 1)
                    for _, part in params:
                        yield part, here, code.both(there, tag)
                        here = code.at(here, layout.slots(part))
            case t.Map(key=key, value=value):
                for i in range(layout.size(key)):
                    yield value, code.at(place, i * layout.slots(value)), there
            case t.Seq() | t.Ranking():
                count = code.load(place)
                for i in range(layout.most(kind)):
                    inside = code.both(there, code.compare("lt", i, count))
                    yield kind.inner, code.at(place, 1 + i * layout.slots(kind.inner)), inside
            case t.Bool() | t.Int() | t.Sort() | t.Counter() | t.Enum() | t.Set():
                pass

    def rename(self, kind: t.Type, place: Pointer, there: Truth) -> list[Number]:
        """The slots of a value after the renaming `%r`."""
        code, layout = self.code, self.unit.layout
        if not self.quotient.permutes(kind):
            return [code.load(place, i) for i in range(layout.slots(kind))]
        match kind:
            case t.Sort(name=name):
                row = self.row([list(renaming[name]) for renaming in self.renamings])
                return [code.select(there, code.load(row, code.load(place)), 0)]
            case t.Set(inner=t.Sort() as inner):
                return [self.mask(inner, place)]
            case t.Set():
                table, length = self.sets.ways(self.renamings)
                way = code.row(table, RENAMING, length)
                return self.sets.rename(
                    code, kind, (place, there), (code.at(way, 1), code.load(way))
                )
            case t.Map(key=key, value=value):
                return self.entries(key, value, place, there)
            case t.Union():
                return self.union(kind, place, there)
            case _:
                head: list[Number] = [] if isinstance(kind, t.Record) else [code.load(place)]
                for part, at, inside in self.parts(kind, place, there):
                    head += self.rename(part, at, inside)
                return head

    def row(self, rows: list[list[int]]) -> Pointer:
        """The row of a constant table that belongs to the renaming `%r`."""
        table = self.unit.table(number for row in rows for number in row)
        return self.code.row(table, RENAMING, len(rows[0]))

    def list_moves(self, kind: t.Type) -> list[list[int]]:
        """For each renaming, the new place of each value of a small type."""
        layout = self.unit.layout
        return [
            [
                layout.position(kind, permute(kind, value, renaming, layout.universe))
                for value in layout.domain(kind)
            ]
            for renaming in self.renamings
        ]

    def entries(self, key: t.Type, value: t.Type, place: Pointer, there: Truth) -> list[Number]:
        """The entries of a map in the order of their new keys."""
        code, size = self.code, self.unit.layout.slots(value)
        count = self.unit.layout.size(key)
        row: Pointer | None = None
        if self.quotient.permutes(key):
            row = self.row([[new.index(k) for k in range(count)] for new in self.list_moves(key)])
        found: list[Number] = []
        for k in range(count):
            old = k if row is None else code.load(row, k)
            found += self.rename(value, code.row(place, old, size), there)
        return found

    def union(self, kind: t.Union, place: Pointer, there: Truth) -> list[Number]:
        """The parameters of the present case, renamed."""
        code, layout = self.code, self.unit.layout
        tag = code.load(place)
        rest: list[Number] = [0] * (layout.slots(kind) - 1)
        for number, (_, params) in enumerate(kind.cases):
            inside = code.both(there, code.compare("eq", tag, number))
            at = 1
            for _, part in params:
                slots = self.rename(part, code.at(place, at), inside)
                for i, slot in enumerate(slots, at - 1):
                    rest[i] = code.binary("or", rest[i], code.select(inside, slot, 0))
                at += layout.slots(part)
        return [tag, *rest]

    def mask(self, inner: t.Sort, place: Pointer) -> Number:
        """A set of elements, renamed."""
        code, row, whole = self.code, self.row(self.list_moves(inner)), self.code.load(place)
        found: Number = 0
        for old in range(self.unit.layout.size(inner)):
            moved = code.binary("shl", code.bit(whole, old), code.load(row, old))
            found = code.binary("or", found, moved)
        return found
