"""Represents values during code generation: in a register, in memory, or composed of parts."""

from __future__ import annotations

from dataclasses import dataclass

from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.code import FALSE, TRUE, Code, Number, Operand, Pointer, Truth
from charter.explore.native.memory.layout import CannotCompile, Layout, mask_type
from charter.semantics.values import list_parts

SCALARS = (t.Bool, t.Int, t.Sort, t.Counter, t.Enum, t.Set)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number from `low` to `high`, or a set as a mask whose bits are the members from `low` to
    `high`. `place`: where in memory the mask stands, if it was read there."""

    ref: Number
    low: int
    high: int
    place: Pointer | None = None

    @property
    def ty(self) -> str:
        """The LLVM type of a mask."""
        return mask_type(self.high - self.low + 1)


@dataclass(frozen=True, slots=True)
class InMemory:
    """A value in memory that does not change while it is in use."""

    kind: t.Type
    pointer: Pointer
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Composite:
    """A value as its parts. Option: presence and value; record: fields; map: values; union: the tag
    and that case's parameters; list: items (their number is known)."""

    kind: t.Type
    parts: tuple[Held, ...]


Held = Truth | Scalar | InMemory | Composite


@dataclass(frozen=True, slots=True)
class Keeper:
    """Reads parts of values and writes values to memory, in one function."""

    code: Code
    layout: Layout

    # --- taking apart ----------------------------------------------------------------------------

    def part(self, kind: t.Type, pointer: Pointer, offset: int) -> Held:
        """The value of type `kind` in memory; a scalar is loaded at once."""
        if not isinstance(kind, SCALARS):
            return InMemory(kind, pointer, offset)
        ty, low, high = self.layout.register(kind)
        if isinstance(kind, t.Set):
            place = self.code.at(pointer, offset)
            return Scalar(self.code.load(place, 0, ty), low, high, place)
        raw = self.code.load(pointer, offset)
        if isinstance(kind, t.Bool):
            return self.code.nonzero(raw)
        return Scalar(self.code.add(raw, self.layout.low(kind)), low, high)

    def address(self, place: InMemory) -> Pointer:
        """The address of a value in memory."""
        return self.code.at(place.pointer, place.offset)

    def is_present(self, value: Held) -> Truth:
        """Whether an option holds something."""
        if isinstance(value, Composite):
            return truth(value.parts[0])
        assert isinstance(value, InMemory)
        return self.code.nonzero(self.code.load(value.pointer, value.offset))

    def inner(self, value: Held) -> Held:
        """The value inside an option."""
        if isinstance(value, Composite):
            return value.parts[1]
        assert isinstance(value, InMemory) and isinstance(value.kind, t.Option)
        return self.part(value.kind.inner, value.pointer, value.offset + 1)

    def field(self, value: Held, index: int) -> Held:
        """Field number `index` of a record."""
        if isinstance(value, Composite):
            return value.parts[index]
        assert isinstance(value, InMemory) and isinstance(value.kind, t.Record)
        at = value.offset + self.layout.offset(value.kind, index)
        return self.part(value.kind.fields[index][1], value.pointer, at)

    def tag(self, value: Held) -> Number:
        """The number of a union's case."""
        if isinstance(value, Composite):
            return scalar(value.parts[0]).ref
        assert isinstance(value, InMemory)
        return self.code.load(value.pointer, value.offset)

    def argument(self, value: Held, tag: int, index: int) -> Held:
        """A parameter of a union whose case is `tag`."""
        if isinstance(value, Composite):
            if scalar(value.parts[0]).ref == tag:
                return value.parts[1 + index]
            value = self.place(value)
        assert isinstance(value, InMemory) and isinstance(value.kind, t.Union)
        params = value.kind.cases[tag][1]
        before = sum(self.layout.slots(part) for _, part in params[:index])
        return self.part(params[index][1], value.pointer, value.offset + 1 + before)

    def entry(self, value: Held, at: Number) -> Held:
        """The value at a position of a map; the position must be valid."""
        if isinstance(value, Composite) and isinstance(at, int):
            return value.parts[at]
        place = self.place(value)
        assert isinstance(place.kind, t.Map)
        return self._index(place, place.kind.value, place.offset, at)

    def item(self, value: Held, at: Number) -> Held:
        """The item at a position of a list, which must be below its capacity."""
        if isinstance(value, Composite) and isinstance(at, int) and at < len(value.parts):
            return value.parts[at]
        place = self.place(value)
        assert isinstance(place.kind, t.Seq | t.Ranking)
        return self._index(place, place.kind.inner, place.offset + 1, at)

    def _index(self, place: InMemory, kind: t.Type, offset: int, at: Number) -> Held:
        size = self.layout.slots(kind)
        if isinstance(at, int):
            return self.part(kind, place.pointer, offset + at * size)
        return self.part(kind, self.code.row(place.pointer, at, size), offset)

    def length(self, value: Held) -> Number:
        """The number of items of a list."""
        if isinstance(value, Composite):
            return len(value.parts)
        assert isinstance(value, InMemory)
        return self.code.load(value.pointer, value.offset)

    # --- memory ----------------------------------------------------------------------------------

    def place(self, value: Held, kind: t.Type | None = None) -> InMemory:
        """The value in memory, laid out as `kind` (its own type if None)."""
        if isinstance(value, InMemory) and (kind is None or self.layout.alike(value.kind, kind)):
            return value
        if kind is None:
            assert isinstance(value, Composite)
            kind = value.kind
        room = self.code.memory(self.layout.slots(kind))
        self.put(value, kind, room, 0)
        return InMemory(kind, room)

    def put(self, value: Held, kind: t.Type, pointer: Pointer, offset: int) -> None:
        """Write a value to memory, laid out as `kind`."""
        code, layout = self.code, self.layout
        if isinstance(value, Truth | Scalar):
            self._put_scalar(value, kind, pointer, offset)
            return
        if isinstance(value, InMemory) and layout.alike(value.kind, kind):
            code.copy(code.at(pointer, offset), self.address(value), layout.slots(kind))
            return
        match kind:
            case t.Option(inner=inner):
                here = self.is_present(value)
                if here == FALSE:
                    code.clear(code.at(pointer, offset), layout.slots(kind))
                    return
                code.store(code.widen(here), pointer, offset)
                self.put(self.inner(value), inner, pointer, offset + 1)
                if here != TRUE:
                    with code.unless(here):
                        code.clear(code.at(pointer, offset + 1), layout.slots(inner))
            case t.Record(fields=fields):
                for i, (_, part) in enumerate(fields):
                    at = offset + layout.offset(kind, i)
                    self.put(self.field(value, i), part, pointer, at)
            case t.Map(key=key, value=inner):
                for i in range(layout.size(key)):
                    at = offset + i * layout.slots(inner)
                    self.put(self.entry(value, i), inner, pointer, at)
            case t.Union() if isinstance(value, Composite):
                self._put_union(value, kind, pointer, offset)
            case t.Seq() | t.Ranking():
                self._put_list(value, kind, pointer, offset)
            case _:
                raise CannotCompile(f"a {type(kind).__name__.lower()} whose layout changes")

    def _put_scalar(
        self, value: Truth | Scalar, kind: t.Type, pointer: Pointer, offset: int
    ) -> None:
        code = self.code
        if isinstance(value, Truth):
            code.store(code.widen(value), pointer, offset)
        elif isinstance(kind, t.Set):
            ty, low, high = self.layout.register(kind)
            code.store(self.rebase(value, low, high), pointer, offset, ty)
        else:
            low = self.layout.low(kind)
            code.store(code.sub(value.ref, low), pointer, offset)

    def _put_union(self, value: Composite, kind: t.Union, pointer: Pointer, offset: int) -> None:
        number = scalar(value.parts[0]).ref
        assert isinstance(number, int)
        self.code.store(number, pointer, offset)
        at = 1
        for part, (_, inner) in zip(value.parts[1:], kind.cases[number][1], strict=True):
            self.put(part, inner, pointer, offset + at)
            at += self.layout.slots(inner)
        if rest := self.layout.slots(kind) - at:
            self.code.clear(self.code.at(pointer, offset + at), rest)

    def _put_list(
        self, value: InMemory | Composite, kind: t.Seq | t.Ranking, pointer: Pointer, offset: int
    ) -> None:
        code, size = self.code, self.layout.slots(kind.inner)
        if isinstance(value, InMemory):
            assert isinstance(value.kind, t.Seq | t.Ranking)
            if not self.layout.alike(value.kind.inner, kind.inner):
                raise CannotCompile("a list whose layout changes")
            code.clear(code.at(pointer, offset), self.layout.slots(kind))
            most = min(self.layout.most(value.kind), self.layout.most(kind))
            code.copy(code.at(pointer, offset), self.address(value), 1 + most * size)
            return
        code.clear(code.at(pointer, offset), self.layout.slots(kind))
        code.store(len(value.parts), pointer, offset)
        for i, part in enumerate(value.parts[: self.layout.most(kind)]):
            self.put(part, kind.inner, pointer, offset + 1 + i * size)

    def rebase(self, mask: Scalar, low: int, high: int) -> Number:
        """The mask with bits for `low` to `high` instead. Raises CannotCompile if a member may be
        outside."""
        code = self.code
        if (mask.low < low or mask.high > high) and mask.ref != 0:
            raise CannotCompile("a set of numbers that may be outside of its range")
        old, new = mask.ty, mask_type(high - low + 1)
        wide = old if int(old[1:]) > int(new[1:]) else new
        ref = code.cast(mask.ref, old, wide)
        if mask.low > low:
            ref = code.binary("shl", ref, mask.low - low, wide)
        elif mask.low < low:
            ref = code.binary("lshr", ref, low - mask.low, wide)
        return code.cast(ref, wide, new)

    # --- comparing -------------------------------------------------------------------------------

    def equal(self, a: Held, b: Held, kind: t.Type) -> Truth:
        """Whether two values of a type are equal."""
        code = self.code
        if a == b:
            return TRUE
        match kind:
            case t.Bool():
                return code.negation(code.differ(truth(a), truth(b)))
            case t.Set():
                low, high = min(scalar(a).low, scalar(b).low), max(scalar(a).high, scalar(b).high)
                pair = (self.rebase(scalar(a), low, high), self.rebase(scalar(b), low, high))
                return code.compare("eq", *pair, mask_type(high - low + 1))
            case t.Int() | t.Sort() | t.Counter() | t.Enum():
                return code.compare("eq", scalar(a).ref, scalar(b).ref)
            case _:
                return self._parts_equal(a, b, kind)

    def _parts_equal(
        self,
        a: Held,
        b: Held,
        kind: t.Option | t.Record | t.Union | t.Map | t.Seq | t.Ranking,
    ) -> Truth:
        code, layout = self.code, self.layout
        if isinstance(a, InMemory) and isinstance(b, InMemory) and layout.alike(a.kind, b.kind):
            return self._same_memory(self.address(a), self.address(b), layout.slots(a.kind))
        match kind:
            case t.Option(inner=inner):
                x, y = self.is_present(a), self.is_present(b)
                if FALSE in (x, y):
                    return code.negation(code.either(x, y))
                same = code.negation(code.differ(x, y))
                return code.both(same, self._inner_equal(a, b, inner, code.both(x, y)))
            case t.Record(fields=fields):
                result = TRUE
                for i, (_, part) in enumerate(fields):
                    result = code.both(result, self.equal(self.field(a, i), self.field(b, i), part))
                return result
            case t.Map(key=key, value=inner):
                result = TRUE
                for i in range(layout.size(key)):
                    pair_ = (self.entry(a, i), self.entry(b, i))
                    result = code.both(result, self.equal(*pair_, inner))
                return result
            case t.Union() | t.Seq() | t.Ranking():
                model = (
                    a.kind
                    if isinstance(a, InMemory)
                    else b.kind
                    if isinstance(b, InMemory)
                    else kind
                )
                places = [self.address(self.place(v, model)) for v in (a, b)]
                return self._same_memory(places[0], places[1], layout.slots(model))

    def _inner_equal(self, a: Held, b: Held, inner: t.Type, there: Truth) -> Truth:
        same = self.equal(self.inner(a), self.inner(b), inner)
        return self.code.either(self.code.negation(there), same)

    def _same_memory(self, x: Pointer, y: Pointer, slots: int) -> Truth:
        code = self.code
        if slots > 12:
            return code.call(fn.SAME, x, y, slots)
        total: Number = 0
        for i in range(slots):
            total = code.binary("or", total, code.binary("xor", code.load(x, i), code.load(y, i)))
        return code.compare("eq", total, 0)

    # --- constants -------------------------------------------------------------------------------

    def constant(self, kind: t.Type, value: Value) -> Held:
        """A constant."""
        match kind, value:
            case t.Bool(), bool():
                return TRUE if value else FALSE
            case t.Enum(members=members), str():
                return self.number(members.index(value))
            case t.Option(inner=inner), None:
                return Composite(kind, (FALSE, self.blank(inner)))
            case t.Option(inner=inner), _:
                return Composite(kind, (TRUE, self.constant(inner, value)))
            case t.Union(cases=cases), (str() as tag, *_):
                number = [name for name, _ in cases].index(tag)
                parts = (self.constant(part, v) for part, v in list_parts(kind, value))
                return Composite(kind, (self.number(number), *parts))
            case t.Set(inner=inner), frozenset():
                _, low, high = self.layout.register(kind)
                mask = sum(1 << self.layout.position(inner, item) for item in value)
                return Scalar(mask, low, high)
            case ((t.Record() | t.Map() | t.Seq() | t.Ranking()), tuple()):
                parts = (self.constant(part, v) for part, v in list_parts(kind, value))
                return Composite(kind, tuple(parts))
            case _, int():
                return self.number(value)
            case _:
                raise AssertionError(kind)

    @staticmethod
    def number(value: int) -> Scalar:
        """A constant number."""
        return Scalar(value, value, value)

    def blank(self, kind: t.Type) -> Held:
        """The value whose slots are all zero."""
        return self.constant(kind, self.layout.universe.least(kind))


def scalar(value: Held) -> Scalar:
    """The value, asserted to be a scalar."""
    assert isinstance(value, Scalar)
    return value


def truth(value: Held) -> Truth:
    """The value, asserted to be a truth."""
    assert isinstance(value, Truth)
    return value


def receive(kind: t.Type, operand: Operand, low: int, high: int) -> Held:
    """The value that a register holds; of a number or set the least and the greatest."""
    match operand:
        case Truth():
            return operand
        case Pointer():
            return InMemory(kind, operand)
        case _:
            return Scalar(operand, low, high)
