"""Lays out values in memory: slots (numbers in memory), and words (packed states).

A slot never holds a negative number if its type has a range: the range's low end is taken off.
Unused slots (behind `none`, past the end of a sequence, of another case of a union) are zero, so
equal values have equal slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from charter.core import types as t
from charter.core.nodes import Param, Value
from charter.core.show import show_type
from charter.diagnostics import NOWHERE, Span
from charter.explore.model_checker import EngineUnsupported
from charter.semantics.values import NotFinite, TooManyValues, Universe, list_parts

MOST_COUNTER = 63
FAR = 1 << 61
LARGEST_DOMAIN = 4096
"""The most values of what a set holds, or of the keys of a map: the bits of a mask."""
WORD = 64
"""Bits of a number."""


class CannotCompile(EngineUnsupported):
    """The engine does not support something in the charter; the message is a phrase, with the place
    in the charter if that is known."""

    def __init__(self, phrase: str, place: str = "") -> None:
        super().__init__(f"{phrase} ({place})" if place else phrase)
        self.phrase = phrase
        self.place = place

    def at(self, span: Span) -> CannotCompile:
        """The same with this place, unless it has one."""
        return self if self.place or span == NOWHERE else CannotCompile(self.phrase, span.where())


def _without_bounds(kind: t.Type) -> str:
    """The phrase for a set of values that cannot be listed (a key of a map always can be)."""
    counter = next((part for part in t.inside(kind) if isinstance(part, t.Counter)), None)
    if counter is None:
        return "a set of values that hold numbers without a range"
    names, leaf = _way(kind)
    verb = "is" if leaf == counter else "holds"
    called = "a counter" if kind == counter else f"which holds the counter {counter.name}"
    if names:
        what = "field" if isinstance(kind, t.Record) else "parameter"
        called = f"whose {what} {'.'.join(names)} {verb} the counter {counter.name}"
    # An opaque value is never computed, so that elements with names can stand for it.
    other = "a `sort`" if counter.opaque else "a bounded `int`"
    return (
        f"a set of {show_type(kind)}, {called}, which has no bounds; {other} in its place makes it"
        " native"
    )


def _way(kind: t.Type) -> tuple[tuple[str, ...], t.Type]:
    """The names that lead into records and unions towards the first counter, and the type of what
    they lead to."""
    parts: list[tuple[tuple[str, ...], t.Type]] = []
    match kind:
        case t.Record(fields=fields):
            parts = [((name,), part) for name, part in fields]
        case t.Union(cases=cases):
            parts = [((tag, name), part) for tag, params in cases for name, part in params]
        case _:
            return (), kind
    names, part = next((names, part) for names, part in parts if t.holds(part, t.Counter))
    more, leaf = _way(part)
    return (*names, *more), leaf


@dataclass(frozen=True, slots=True)
class Layout:
    """Slots of values in one universe. `counters`: of some counters, the largest number that is
    packed."""

    universe: Universe
    counters: Mapping[str, int] = field(default_factory=dict)
    _slots: dict[int, tuple[t.Type, int]] = field(default_factory=dict, repr=False)
    """By the identity of the type, which is held: its hash is computed from all of it."""

    def slots(self, kind: t.Type) -> int:
        """The number of slots of a type."""
        known = self._slots.get(id(kind))
        if known is None:
            known = self._slots[id(kind)] = kind, self._count(kind)
        return known[1]

    def _count(self, kind: t.Type) -> int:
        match kind:
            case t.Option(inner=inner):
                return 1 + self.slots(inner)
            case t.Record(fields=fields):
                return sum(self.slots(part) for _, part in fields)
            case t.Union(cases=cases):
                return 1 + max(sum(self.slots(p) for _, p in params) for _, params in cases)
            case t.Set(inner=inner):
                return (self.size(inner) + 63) // 64 or 1
            case t.Map(key=key, value=value):
                return self.size(key) * self.slots(value)
            case t.Seq() | t.Ranking():
                return 1 + self.most(kind) * self.slots(kind.inner)
            case t.Bool() | t.Int() | t.Sort() | t.Counter() | t.Enum():
                return 1

    def most(self, kind: t.Seq | t.Ranking) -> int:
        """The largest length of a list."""
        if isinstance(kind, t.Ranking):
            return self.size(kind.inner)
        return self.universe.limit(kind.limit)

    def domain(self, kind: t.Type) -> tuple[Value, ...]:
        """All values of a type. Raises CannotCompile if there are too many."""
        try:
            found = self.universe.domain(kind)
        except NotFinite:
            raise CannotCompile(_without_bounds(kind)) from None
        except TooManyValues as error:
            raise CannotCompile(str(error)) from None
        if len(found) > LARGEST_DOMAIN:
            raise CannotCompile(
                f"a set or a map over {show_type(kind)}, which has {len(found):,} values here: the"
                f" native engine holds at most {LARGEST_DOMAIN:,}"
            )
        return found

    def refuse_many(self, params: Sequence[Param]) -> None:
        """Raises CannotCompile if parameters have too many lists of values."""
        try:
            self.universe.refuse_many(params)
        except TooManyValues as error:
            raise CannotCompile(str(error)) from None

    def size(self, kind: t.Type) -> int:
        """The number of values of a type."""
        return len(self.domain(kind))

    def span(self, kind: t.Type) -> tuple[int, int]:
        """The least and the largest number of a type of numbers."""
        match kind:
            case t.Int(low=low, high=high) if low is not None and high is not None:
                return self.universe.limit(low), self.universe.limit(high)
            case t.Sort(name=name):
                return 0, max(0, len(self.universe.sorts[name]) - 1)
            case t.Enum(members=members):
                return 0, len(members) - 1
            case t.Counter():
                return 0, MOST_COUNTER
            case t.Bool():
                return 0, 1
            case _:
                return -FAR, FAR

    def low(self, kind: t.Type) -> int:
        """The offset that is subtracted from a number before it is packed."""
        low, _ = self.span(kind)
        return 0 if low == -FAR else low

    def offset(self, kind: t.Record, field_index: int) -> int:
        """The first slot of a field."""
        return sum(self.slots(part) for _, part in kind.fields[:field_index])

    def alike(self, a: t.Type, b: t.Type) -> bool:
        """Whether values of both types have the same memory layout."""
        if a == b:
            return True
        match a, b:
            case t.Int(), t.Int():
                return self.low(a) == self.low(b)
            case (t.Option(inner=x), t.Option(inner=y)) | (t.Set(inner=x), t.Set(inner=y)):
                return self.alike(x, y)
            case t.Map(key=k, value=x), t.Map(key=j, value=y):
                return k == j and self.alike(x, y)
            case t.Seq(), t.Seq():
                return self.most(a) == self.most(b) and self.alike(a.inner, b.inner)
            case _:
                return False

    def is_open(self, kind: t.Type) -> bool:
        """Whether a type is that of numbers without a range."""
        return isinstance(kind, t.Int) and self.span(kind)[0] == -FAR

    def register(self, kind: t.Type) -> tuple[str, int, int]:
        """The LLVM type in which a value is passed, with the least and the greatest of numbers, and
        what the first and the last bit of a set stand for. Others are passed by their address."""
        match kind:
            case t.Set(inner=inner) if self.is_open(inner):
                return "i64", 0, 63
            case t.Set(inner=inner):
                number = isinstance(inner, t.Int | t.Counter)
                low, high = self.span(inner) if number else (0, self.size(inner) - 1)
                return mask_type(high - low + 1), low, high
            case t.Bool():
                return "i1", 0, 1
            case t.Int() | t.Sort() | t.Counter() | t.Enum():
                return "i64", *self.span(kind)
            case t.Option() | t.Record() | t.Union() | t.Map() | t.Seq() | t.Ranking():
                return "ptr", 0, 0

    # --- values as slots -------------------------------------------------------------------------

    def encode(self, kind: t.Type, value: Value) -> list[int]:
        """A value as slots."""
        match kind, value:
            case t.Enum(members=members), str():
                return [members.index(value)]
            case t.Option(inner=inner), _:
                if value is None:
                    return [0] * self.slots(kind)
                return [1, *self.encode(inner, value)]
            case ((t.Record() | t.Map()), tuple()):
                return self._encode_parts(kind, value)
            case t.Union(cases=cases), (str() as tag, *_):
                number = [name for name, _ in cases].index(tag)
                inside = self._encode_parts(kind, value)
                return [number, *inside, *[0] * (self.slots(kind) - 1 - len(inside))]
            case t.Set(inner=inner), frozenset():
                mask = sum(1 << self.position(inner, item) for item in value)
                return [(mask >> (64 * i)) % (1 << 64) for i in range(self.slots(kind))]
            case ((t.Seq() | t.Ranking()), tuple()):
                inside = self._encode_parts(kind, value)
                return [len(value), *inside, *[0] * (self.slots(kind) - 1 - len(inside))]
            case _:
                return [int(cast(int, value)) - self.low(kind)]

    def _encode_parts(self, kind: t.Type, value: Value) -> list[int]:
        return [slot for part, v in list_parts(kind, value) for slot in self.encode(part, v)]

    def position(self, kind: t.Type, value: Value) -> int:
        """The bit of a member of a set."""
        return self.universe.position(kind, value)

    def decode(self, kind: t.Type, slots: Sequence[int]) -> Value:
        """The inverse of `encode`; more slots may follow."""
        match kind:
            case t.Bool():
                return bool(slots[0])
            case t.Enum(members=members):
                return members[slots[0]]
            case t.Option(inner=inner):
                return self.decode(inner, slots[1:]) if slots[0] else None
            case t.Record(fields=fields):
                return self._several([part for _, part in fields], slots)
            case t.Union(cases=cases):
                tag, params = cases[slots[0]]
                return (tag, *self._several([part for _, part in params], slots[1:]))
            case t.Set(inner=inner):
                mask = sum(slots[i] << (64 * i) for i in range(self.slots(kind)))
                return frozenset(v for i, v in enumerate(self.domain(inner)) if mask >> i & 1)
            case t.Map(key=key, value=value):
                return self._several([value] * self.size(key), slots)
            case t.Seq() | t.Ranking():
                return self._several([kind.inner] * slots[0], slots[1:])
            case t.Int() | t.Sort() | t.Counter():
                return slots[0] + self.low(kind)

    def _several(self, kinds: Sequence[t.Type], slots: Sequence[int]) -> tuple[Value, ...]:
        found: list[Value] = []
        at = 0
        for kind in kinds:
            found.append(self.decode(kind, slots[at:]))
            at += self.slots(kind)
        return tuple(found)

    def count_held(self, kind: t.Type, counter: str) -> int:
        """The most values of a counter in a value."""
        match kind:
            case t.Counter(name=name):
                return int(name == counter)
            case t.Option(inner=inner):
                return self.count_held(inner, counter)
            case t.Record(fields=fields):
                return sum(self.count_held(part, counter) for _, part in fields)
            case t.Union(cases=cases):
                return max(
                    sum(self.count_held(p, counter) for _, p in params) for _, params in cases
                )
            case t.Map(key=key, value=value):
                return self.size(key) * self.count_held(value, counter)
            case t.Seq() | t.Ranking():
                return self.most(kind) * self.count_held(kind.inner, counter)
            case t.Bool() | t.Int() | t.Sort() | t.Enum() | t.Set():
                return 0

    # --- widths ----------------------------------------------------------------------------------

    def bits(self, kind: t.Type) -> list[int]:
        """The number of bits of each slot."""
        match kind:
            case t.Counter(name=name):
                return [self.counters.get(name, MOST_COUNTER).bit_length()]
            case t.Option(inner=inner):
                return [1, *self.bits(inner)]
            case t.Record(fields=fields):
                return [bits for _, part in fields for bits in self.bits(part)]
            case t.Union(cases=cases):
                widest = [0] * (self.slots(kind) - 1)
                for _, params in cases:
                    here = [bits for _, part in params for bits in self.bits(part)]
                    widest = [
                        max(pair) for pair in zip(widest, pad(here, len(widest)), strict=True)
                    ]
                return [(len(cases) - 1).bit_length(), *widest]
            case t.Set(inner=inner):
                size = self.size(inner)
                return [min(64, size - at) for at in range(0, size, 64)] or [0]
            case t.Map(key=key, value=value):
                return self.bits(value) * self.size(key)
            case t.Seq() | t.Ranking():
                most = self.most(kind)
                return [most.bit_length(), *self.bits(kind.inner) * most]
            case t.Bool() | t.Int() | t.Sort() | t.Enum():
                low, high = self.span(kind)
                if low == -FAR:
                    raise CannotCompile("state that holds a number without a range")
                return [(high - low).bit_length()]


def pad(row: list[int], length: int) -> list[int]:
    """`row` with zeros behind."""
    return row + [0] * (length - len(row))


def mask_type(size: int) -> str:
    """The LLVM type of a mask with so many bits."""
    return f"i{64 * max(1, (size + 63) // 64)}"


@dataclass(frozen=True, slots=True)
class Packing:
    """The position of each slot in a packed state: word, lowest bit, width. The highest bit of word
    0 is unused: it marks used entries of the visited set."""

    places: tuple[tuple[int, int, int], ...]
    words: int
    used: int

    @staticmethod
    def of(bits: Sequence[int]) -> Packing:
        """Each slot in the first word with room for it."""
        free = [63]
        places: list[tuple[int, int, int]] = []
        for width in bits:
            word = next((i for i, room in enumerate(free) if room >= width), len(free))
            if word == len(free):
                free.append(64)
            top = 63 if word == 0 else 64
            places.append((word, top - free[word], width))
            free[word] -= width
        return Packing(tuple(places), len(free), sum(bits))

    def pack(self, slots: Sequence[int]) -> list[int]:
        """Slots as words."""
        words = [0] * self.words
        for slot, (word, low, _) in zip(slots, self.places, strict=True):
            words[word] |= slot << low
        return words

    def unpack(self, words: Sequence[int]) -> list[int]:
        """Words as slots."""
        return [words[word] >> low & ((1 << width) - 1) for word, low, width in self.places]
