"""Emits, for each element of a sort, a number that does not depend on the elements' names, so that
a canonical form need only try the permutations that put these numbers in order.

Parts of a state may be left out of a signature: then only more permutations have to be tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from charter.core import types as t
from charter.core.nodes import StateVar
from charter.explore.native.emit.code import TRUE, Code, Number, Truth
from charter.explore.native.emit.functions import STATE
from charter.explore.native.memory.layout import Layout
from charter.explore.native.program.set_members import MIXER, SetMembers

ENOUGH = 48
"""After so many parts, no further variables are included."""


@dataclass(slots=True)
class Signatures:
    """Prints the signatures of the elements of `sort` for the state at `%s`. `opaque` are counters
    without order; `fixed` tells whether permutations do not change a type."""

    code: Code
    sets: SetMembers
    sort: str
    opaque: frozenset[str]
    fixed: Callable[[t.Type], bool]
    seen: int = field(default=0)

    @property
    def layout(self) -> Layout:
        """The layout of values in memory."""
        return self.sets.unit.layout

    def of(self, variables: tuple[StateVar, ...], element: int) -> Number:
        """The signature of one element."""
        places: list[tuple[StateVar, int]] = []
        at = 0
        for variable in variables:
            places.append((variable, at))
            at += self.layout.slots(variable.type)
        places.sort(key=lambda place: not self.has_sort_keys(place[0].type))
        self.seen = 0
        total: Number = 0
        for variable, at in places:
            if self.seen < ENOUGH:
                total = self.mix(total, self.signature(variable.type, (at, TRUE), element, False))
        return total

    def has_sort_keys(self, kind: t.Type) -> bool:
        """Whether a map has the elements of the sort as its keys."""
        return isinstance(kind, t.Map) and kind.key == t.Sort(self.sort)

    def mix(self, total: Number, part: Number | None) -> Number:
        """Mix another part into a hash; the order matters."""
        if part is None:
            return total
        return self.code.add(self.code.mul(total, MIXER), part)

    def signature(
        self, kind: t.Type, where: tuple[int, Truth], element: int, owned: bool
    ) -> Number | None:
        """The signature of an element in a value: who it names or, if the value is the element's
        own, everything. None: nothing. A value that is not there (`where`) says zero."""
        code, (at, there) = self.code, where
        match kind:
            case t.Bool() | t.Int() | t.Enum():
                if not owned:
                    return None
                self.seen += 1
                return code.load(STATE, at)
            case t.Counter(name=name):
                return code.load(STATE, at) if owned and name not in self.opaque else None
            case t.Sort(name=name):
                if name != self.sort:
                    return code.load(STATE, at) if owned and self.fixed(kind) else None
                self.seen += 1
                same = code.compare("eq", code.load(STATE, at), element)
                return code.widen(code.both(there, same))
            case t.Set():
                return self.members(kind, where, element, owned)
            case t.Map():
                return self.entries(kind, where, element, owned)
            case t.Record(fields=fields):
                return self.several([part for _, part in fields], where, element, owned)
            case t.Option(inner=inner):
                tag = code.load(STATE, at)
                inside = code.both(there, code.nonzero(tag))
                found = self.signature(inner, (at + 1, inside), element, owned)
                return self.mix(found or 0, tag) if owned else found
            case t.Union():
                return self.case(kind, where, element, owned)
            case t.Seq() | t.Ranking():
                return self.items(kind, where, element, owned)

    def members(
        self, kind: t.Set, where: tuple[int, Truth], element: int, owned: bool
    ) -> Number | None:
        """Of a set whether the element is in it and, of its own, how large it is; of a set of other
        values what its members say of the element."""
        code, inner, (at, there) = self.code, kind.inner, where
        place = code.at(STATE, at)
        if self.fixed(inner):
            if not owned:
                return None
            self.seen += 1
            words = [code.load(place, i) for i in range(self.layout.slots(kind))]
            total: Number = 0
            for word in words:
                total = self.mix(total, word)
            return total
        self.seen += 1
        if inner != t.Sort(self.sort):
            return self.sets.emit_signature(code, kind, (place, there), (self.sort, element))
        mask = code.load(place)
        return self.mix(code.bits(mask) if owned else 0, code.bit(mask, element))

    def several(
        self, kinds: list[t.Type], where: tuple[int, Truth], element: int, owned: bool
    ) -> Number | None:
        """Parts that stand one behind the other."""
        at, there = where
        found: Number | None = None
        for kind in kinds:
            part = self.signature(kind, (at, there), element, owned)
            found = part if found is None else self.mix(found, part)
            at += self.layout.slots(kind)
        return found

    def entries(
        self, kind: t.Map, where: tuple[int, Truth], element: int, owned: bool
    ) -> Number | None:
        """Of a map over the sort the element's own entry, and the sum of what the others say; of
        another map its entries in their order, where nobody renames its keys."""
        at, there = where
        size, count = self.layout.slots(kind.value), self.layout.size(kind.key)
        if kind.key == t.Sort(self.sort):
            mine = self.signature(kind.value, (at + element * size, there), element, True)
            total: Number | None = None
            for i in range(count):
                if i != element:
                    part = self.signature(kind.value, (at + i * size, there), element, owned)
                    if part is not None:
                        total = self.code.add(total or 0, part)
            return self.mix(mine or 0, total)
        if not self.fixed(kind.key):
            return None
        return self.several([kind.value] * count, where, element, owned)

    def case(
        self, kind: t.Union, where: tuple[int, Truth], element: int, owned: bool
    ) -> Number | None:
        """The case that is there."""
        code, (at, there) = self.code, where
        tag = code.load(STATE, at)
        total: Number | None = None
        for number, (_, params) in enumerate(kind.cases):
            inside = code.both(there, code.compare("eq", tag, number))
            kinds = [part for _, part in params]
            part = self.several(kinds, (at + 1, inside), element, owned)
            if part is not None:
                total = code.add(total or 0, code.select(inside, part, 0))
        return self.mix(total or 0, tag) if owned else total

    def items(
        self, kind: t.Seq | t.Ranking, where: tuple[int, Truth], element: int, owned: bool
    ) -> Number | None:
        """The items of a list in their order."""
        code, (at, there) = self.code, where
        count, size = code.load(STATE, at), self.layout.slots(kind.inner)
        found: Number | None = count if owned else None
        for i in range(self.layout.most(kind)):
            inside = code.both(there, code.compare("lt", i, count))
            part = self.signature(kind.inner, (at + 1 + i * size, inside), element, owned)
            if part is not None:
                found = self.mix(found or 0, code.select(inside, part, 0))
        return found
