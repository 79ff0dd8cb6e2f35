"""Emits the canonical form `@key` of a state under renaming of sort elements and counters; and
`@pack`, `@unpack`, `@outside`.

Counters whose order the charter looks at become their rank, others the order of their first
occurrence; of all permutations of the sorts the one with the smallest words is taken. Numbers that
the charter itself mentions for a counter keep their distance from all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from charter.core import types as t
from charter.core.nodes import StateVar
from charter.explore.native.code import Code, Ref
from charter.explore.native.layout import Packing, Unsupported, mask_type
from charter.explore.native.orbit_signature import Signs
from charter.explore.native.unit import Unit
from charter.semantics.quotient import Quotient, Renaming, permute


@dataclass(slots=True)
class KeyPrinter:
    """Prints the functions of one quotient. A slot that is not there is left as it is: zero."""

    unit: Unit
    quotient: Quotient
    variables: tuple[StateVar, ...]
    packing: Packing
    code: Code = field(init=False)
    renamings: tuple[Renaming, ...] = ()
    masks: dict[str, Ref] = field(default_factory=dict)
    seen: dict[str, tuple[Ref, Ref, Ref]] = field(default_factory=dict)

    # --- packing ---------------------------------------------------------------------------------

    def packed(self, slots: list[Ref], target: Ref) -> None:
        """Write slots as words."""
        words = ["0"] * self.packing.words
        for slot, (word, low, width) in zip(slots, self.packing.places, strict=True):
            if width:
                moved = self.code.binary("shl", slot, str(low))
                words[word] = self.code.binary("or", words[word], moved)
        for i, word_ in enumerate(words):
            self.code.store(word_, target, i)

    def print_pack(self) -> None:
        """`@pack(slots, words)`: a state as it is. `@unpack(words, slots)`."""
        self.code = Code("void @pack(ptr noalias readonly %s, ptr noalias %out)", "nounwind")
        self.packed([self.code.load("%s", i) for i in range(len(self.packing.places))], "%out")
        self.code.do("ret void")
        self.unit.add(self.code)
        self.code = code = Code(
            "void @unpack(ptr noalias readonly %s, ptr noalias %out)", "nounwind"
        )
        words = [code.load("%s", i) for i in range(self.packing.words)]
        for i, (word, low, width) in enumerate(self.packing.places):
            moved = code.binary("lshr", words[word], str(low))
            mask = (1 << width) - 1
            code.store("0" if not width else code.binary("and", moved, str(mask)), "%out", i)
        code.do("ret void")
        self.unit.add(code)

    def print_outside(self) -> None:
        """`@outside(slots)`: whether a number or a length has left its range."""
        self.code = Code("internal i1 @outside(ptr noalias readonly %s)", "nounwind")
        found, at = "false", 0
        for variable in self.variables:
            for test in self.outside(variable.type, at, "true"):
                found = self.code.either(found, test)
            at += self.unit.layout.slots(variable.type)
        self.code.do(f"ret i1 {found}")
        self.unit.add(self.code)

    def outside(self, kind: t.Type, at: int, there: Ref) -> Iterator[Ref]:
        """Truths, one for each way in which a value can be out of range."""
        code, layout = self.code, self.unit.layout
        match kind:
            case t.Int():
                low, high = layout.span(kind)
                test = code.compare("ugt", code.load("%s", at), str(high - low))
                yield code.both(there, test)
            case t.Option(inner=inner):
                yield from self.outside(inner, at + 1, there)
            case t.Record(fields=fields):
                for _, part in fields:
                    yield from self.outside(part, at, there)
                    at += layout.slots(part)
            case t.Union(cases=cases):
                for number, (_, params) in enumerate(cases):
                    here = at + 1
                    for _, part in params:
                        if ranged(part):
                            tag = code.compare("eq", code.load("%s", at), str(number))
                            yield from self.outside(part, here, code.both(there, tag))
                        here += layout.slots(part)
            case t.Map(key=key, value=value):
                for i in range(layout.size(key)):
                    yield from self.outside(value, at + i * layout.slots(value), there)
            case t.Seq() | t.Ranking():
                most = layout.most(kind)
                yield code.both(there, code.compare("ugt", code.load("%s", at), str(most)))
                for i in range(most):
                    yield from self.outside(
                        kind.inner, at + 1 + i * layout.slots(kind.inner), there
                    )
            case _:
                pass

    # --- keys ------------------------------------------------------------------------------------

    def print_key(self) -> None:
        """`@key(slots, words)`."""
        self.renamings = self.quotient.renamings(self.unit.layout.universe)
        names = sorted(self.quotient.ranked & self.quotient.counters)
        params = "".join(f", i64 %r_{name}" for name in names)
        head = f"internal void @renamed(ptr noalias readonly %s, ptr noalias %out, i64 %r{params})"
        self.code = Code(head, "nounwind")
        self.masks = {name: f"%r_{name}" for name in names}
        self.seen = {
            name: (self.code.memory(1), self.code.memory(1), self.code.memory(64))
            for name in sorted(self.quotient.counters - self.quotient.ranked)
        }
        for seen, count, _ in self.seen.values():
            self.code.store("0", seen)
            self.code.store("0", count)
        slots: list[Ref] = []
        place = "%s"
        for variable in self.variables:
            slots += self.renamed(variable.type, place, "true")
            place = self.code.at(place, self.unit.layout.slots(variable.type))
        self.packed(slots, "%out")
        self.code.do("ret void")
        self.unit.add(self.code)
        self._choose(names)

    def _choose(self, names: list[str]) -> None:
        self.code = code = Code("void @key(ptr noalias readonly %s, ptr noalias %out)", "nounwind")
        self.masks = {}
        for name in names:
            room = code.memory(1)
            code.store("0", room)
            self.masks[name] = room
        place = "%s"
        for variable in self.variables:
            self.collect(variable.type, place, "true")
            place = code.at(place, self.unit.layout.slots(variable.type))
        self.masks = {name: code.load(room) for name, room in self.masks.items()}
        texts = "".join(f", i64 {self.masks[name]}" for name in names)
        if len(self.renamings) == 1:
            code.do(f"call void @renamed(ptr %s, ptr %out, i64 0{texts})")
        else:
            self._least(texts)
        code.do("ret void")
        self.unit.add(code)

    def _least(self, texts: str) -> None:
        """The least words of all permutations that put the signs in order; the first one is taken
        as it is."""
        code, words = self.code, self.packing.words
        other, some = code.memory(words), code.memory(1)
        code.store("0", some)
        signs = {sort: self.signs(sort) for sort in self.quotient.sorts}
        with code.counting(str(len(self.renamings))) as i:
            ordered = "true"
            for sort, place in signs.items():
                rows = [renaming[sort] for renaming in self.renamings]
                size = len(rows[0])
                back = self.unit.table(row.index(new) for row in rows for new in range(size))
                old = code.at(back, code.binary("mul", i, str(size)))
                for a, b in pairwise(code.load(old, new) for new in range(size)):
                    test = code.compare("ule", code.load(place, a), code.load(place, b))
                    ordered = code.both(ordered, test)
            with code.when(ordered):
                code.do(f"call void @renamed(ptr %s, ptr {other}, i64 {i}{texts})")
                less = code.compare("eq", code.load(some), "0")
                earlier = "false"
                for word in range(words):
                    x, y = code.load(other, word), code.load("%out", word)
                    same = code.both(code.compare("eq", x, y), earlier)
                    earlier = code.either(code.compare("ult", x, y), same)
                with code.when(code.either(less, earlier)):
                    code.copy("%out", other, words)
                    code.store("1", some)

    def signs(self, sort: str) -> Ref:
        """The signs of the elements of a sort, in memory."""
        layout = self.unit.layout

        def rank(name: str, value: Ref, there: Ref) -> Ref | None:
            if name not in self.quotient.counters:
                return value
            return self.counter(name, value, there) if name in self.masks else None

        signs = Signs(self.code, layout, sort, rank, lambda kind: not self.quotient.touches(kind))
        size = layout.size(t.Sort(sort))
        place = self.code.memory(size)
        for i in range(size):
            self.code.store(signs.of(self.variables, i), place, i)
        return place

    def collect(self, kind: t.Type, place: Ref, there: Ref) -> None:
        """Add every ranked counter inside to the mask of its type."""
        code = self.code
        held = {part.name for part in t.inside(kind) if isinstance(part, t.Counter)}
        if held.isdisjoint(self.masks):
            return
        match kind:
            case t.Counter(name=name):
                bit = code.binary("shl", "1", code.load(place))
                old = code.load(self.masks[name])
                code.store(code.binary("or", old, code.select(there, bit, "0")), self.masks[name])
            case t.Set():
                raise Unsupported("state with a set of counters")
            case _:
                for part, inner, inside in self.parts(kind, place, there):
                    self.collect(part, inner, inside)

    def parts(self, kind: t.Type, place: Ref, there: Ref) -> Iterator[tuple[t.Type, Ref, Ref]]:
        """The parts of a value in memory, where they stand, and whether they are there."""
        code, layout = self.code, self.unit.layout
        match kind:
            case t.Option(inner=inner):
                tag = code.compare("ne", code.load(place), "0")
                yield inner, code.at(place, 1), code.both(there, tag)
            case t.Record(fields=fields):
                for _, part in fields:
                    yield part, place, there
                    place = code.at(place, layout.slots(part))
            case t.Union(cases=cases):
                for number, (_, params) in enumerate(cases):
                    tag = code.compare("eq", code.load(place), str(number))
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
                    inside = code.both(there, code.compare("slt", str(i), count))
                    yield kind.inner, code.at(place, 1 + i * layout.slots(kind.inner)), inside
            case _:
                pass

    def renamed(self, kind: t.Type, place: Ref, there: Ref) -> list[Ref]:
        """The slots of a value after the renaming `%r`."""
        code, layout = self.code, self.unit.layout
        if not self.quotient.touches(kind):
            return [code.load(place, i) for i in range(layout.slots(kind))]
        match kind:
            case t.Sort(name=name):
                row = self.row([list(renaming[name]) for renaming in self.renamings])
                return [code.select(there, code.load(row, code.load(place)), "0")]
            case t.Counter(name=name):
                return [self.counter(name, code.load(place), there)]
            case t.Set(inner=inner):
                return self.mask(kind, inner, place)
            case t.Map(key=key, value=value):
                return self.entries(key, value, place, there)
            case t.Union():
                return self.union(kind, place, there)
            case _:
                head = [] if isinstance(kind, t.Record) else [code.load(place)]
                for part, at, inside in self.parts(kind, place, there):
                    head += self.renamed(part, at, inside)
                return head

    def row(self, rows: list[list[int]]) -> Ref:
        """The row of a constant table that belongs to the renaming `%r`."""
        table = self.unit.table(number for row in rows for number in row)
        return self.code.at(table, self.code.binary("mul", "%r", str(len(rows[0]))))

    def moved(self, kind: t.Type) -> list[list[int]]:
        """For each renaming, the new place of each value of a small type."""
        layout = self.unit.layout
        return [
            [
                layout.position(kind, permute(kind, value, renaming, layout.universe))
                for value in layout.domain(kind)
            ]
            for renaming in self.renamings
        ]

    def entries(self, key: t.Type, value: t.Type, place: Ref, there: Ref) -> list[Ref]:
        """The entries of a map in the order of their new keys."""
        code, size = self.code, self.unit.layout.slots(value)
        count = self.unit.layout.size(key)
        row: Ref | None = None
        if self.quotient.touches(key):
            row = self.row([[new.index(k) for k in range(count)] for new in self.moved(key)])
        found: list[Ref] = []
        for k in range(count):
            old = str(k) if row is None else code.load(row, k)
            found += self.renamed(value, code.at(place, code.binary("mul", old, str(size))), there)
        return found

    def union(self, kind: t.Union, place: Ref, there: Ref) -> list[Ref]:
        """Each case renamed where it is the one that is there."""
        code, layout = self.code, self.unit.layout
        tag = code.load(place)
        rest = ["0"] * (layout.slots(kind) - 1)
        for number, (_, params) in enumerate(kind.cases):
            inside = code.both(there, code.compare("eq", tag, str(number)))
            at = 1
            for _, part in params:
                slots = self.renamed(part, code.at(place, at), inside)
                for i, slot in enumerate(slots, at - 1):
                    rest[i] = code.binary("or", rest[i], code.select(inside, slot, "0"))
                at += layout.slots(part)
        return [tag, *rest]

    def mask(self, kind: t.Set, inner: t.Type, place: Ref) -> list[Ref]:
        """A set with its members renamed."""
        code, layout = self.code, self.unit.layout
        if t.holds(inner, t.Counter):
            raise Unsupported("state with a set of counters")
        size, slots = layout.size(inner), layout.slots(kind)
        row, ty = self.row(self.moved(inner)), mask_type(size)
        whole, found = code.load(place, 0, ty), "0"
        for old in range(size):
            bit = code.binary("and", code.binary("lshr", whole, str(old), ty), "1", ty)
            new = code.cast(code.load(row, old), "i64", ty)
            found = code.binary("or", found, code.binary("shl", bit, new, ty), ty)
        return [
            code.cast(code.binary("lshr", found, str(64 * i), ty), ty, "i64") for i in range(slots)
        ]

    def counter(self, name: str, value: Ref, there: Ref) -> Ref:
        """A counter's new number."""
        code, low = self.code, self.quotient.fixed.get(name, -1)
        if name in self.masks:
            below = code.binary("sub", code.binary("shl", "1", value), "1")
            others = code.binary("and", self.masks[name], below)
            kept = ~((1 << (low + 1)) - 1)
            rank = code.bits(code.binary("and", others, str(kept)))
            rank = code.add(rank, str(low + 1))
            stays = code.compare("sle", value, str(low))
            return code.select(there, code.select(stays, value, rank), "0")
        seen, count, table = self.seen[name]
        room = code.memory(1)
        code.store("0", room)
        with code.when(there):
            bit = code.binary("shl", "1", value)
            known = code.binary("and", code.load(seen), bit)
            with code.when(code.compare("eq", known, "0")):
                code.store(code.bump(count), table, value)
                code.store(code.binary("or", code.load(seen), bit), seen)
            code.store(code.load(table, value), room)
        return code.load(room)


def ranged(kind: t.Type) -> bool:
    """Whether a value of a type can be out of range."""
    match kind:
        case t.Int() | t.Seq() | t.Ranking():
            return True
        case t.Option(inner=inner):
            return ranged(inner)
        case t.Record(fields=fields):
            return any(ranged(part) for _, part in fields)
        case t.Union(cases=cases):
            return any(ranged(part) for _, params in cases for _, part in params)
        case t.Map(value=value):
            return ranged(value)
        case _:
            return False
