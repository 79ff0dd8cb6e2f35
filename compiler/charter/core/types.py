"""Defines the types of core. All are finite in an instance, apart from counters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MOST_ELEMENTS = 512
"""Elements of a sort in an instance: the native engine holds no larger set of them in one value."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound of an integer range or of a length: a constant of the protocol ("" for none) plus a
    number."""

    const: str = ""
    plus: int = 0


@dataclass(frozen=True, slots=True)
class Bool:
    """Truth values."""


@dataclass(frozen=True, slots=True)
class Int:
    """Integers from `low` to `high`, both included. Without a range (None): the type of a literal
    or of arithmetic before it is stored; a state variable or a parameter always has a range."""

    low: Limit | None = None
    high: Limit | None = None


@dataclass(frozen=True, slots=True)
class Sort:
    """A set of interchangeable ids; an instance gives its size, and may name the elements."""

    name: str


@dataclass(frozen=True, slots=True)
class Counter:
    """Unbounded in the protocol; compared and bumped. `opaque` values are chosen by an
    implementation: they are only compared for equality, and for order if `ordered`."""

    name: str
    opaque: bool = False
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Enum:
    """Named constants, in the order of the declaration."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """`none` or a value. Never an option of an option (diagnostic `type/nested-option`)."""

    inner: Type


@dataclass(frozen=True, slots=True)
class Record:
    """Named fields, in the order of the declaration."""

    name: str
    fields: tuple[tuple[str, Type], ...]

    def index(self, field: str) -> int:
        """The position of `field`; KeyError if the record has none of that name."""
        for position, (name, _) in enumerate(self.fields):
            if name == field:
                return position
        raise KeyError(field)

    def field_type(self, field: str) -> Type:
        """The type of `field`; KeyError if the record has none of that name."""
        return self.fields[self.index(field)][1]


@dataclass(frozen=True, slots=True)
class Union:
    """Tagged cases with positional parameters, whose names are used in models and JSON."""

    name: str
    cases: tuple[tuple[str, tuple[tuple[str, Type], ...]], ...]

    def params(self, tag: str) -> tuple[tuple[str, Type], ...]:
        """The parameters of case `tag`; KeyError if there is no such case."""
        return dict(self.cases)[tag]


@dataclass(frozen=True, slots=True)
class Set:
    """A finite set."""

    inner: Type


@dataclass(frozen=True, slots=True)
class Map:
    """A total map over a finite key type."""

    key: Type
    value: Type


@dataclass(frozen=True, slots=True)
class Seq:
    """A sequence of at most `limit` items; positions count from 0."""

    inner: Type
    limit: Limit


@dataclass(frozen=True, slots=True)
class Ranking:
    """An ordered list without repeats, over a finite type."""

    inner: Type


Type = Bool | Int | Sort | Counter | Enum | Option | Record | Union | Set | Map | Seq | Ranking


def inside(kind: Type) -> Iterator[Type]:
    """A type and everything inside it; keys of maps too. A record or union that several parts share
    comes once: otherwise there would be 2^n parts where n records hold the next one twice."""
    todo: list[Type] = [kind]
    seen: set[int] = set()
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        yield part
        match part:
            case Option(inner) | Set(inner) | Seq(inner) | Ranking(inner):
                todo.append(inner)
            case Record(fields=fields):
                seen.add(id(part))
                todo += [held for _, held in reversed(fields)]
            case Union(cases=cases):
                seen.add(id(part))
                todo += [held for _, params in reversed(cases) for _, held in reversed(params)]
            case Map(key, value):
                todo += [value, key]
            case Bool() | Int() | Sort() | Counter() | Enum():
                pass


def counters_in(kind: Type) -> frozenset[str]:
    """The names of the counters inside of a type."""
    return frozenset(part.name for part in inside(kind) if isinstance(part, Counter))


def holds(kind: Type, wanted: type[Sort | Counter | Seq]) -> bool:
    """Whether a type is or contains a type of the class `wanted`, also as key of a map."""
    return any(isinstance(part, wanted) for part in inside(kind))


def may_miss(key: Type) -> bool:
    """Whether a map may lack a key of its key type. Keys that contain numbers or lists may be out
    of range; sort elements, truth values and enum members cannot."""
    return any(isinstance(part, Int | Counter | Seq | Ranking) for part in inside(key))


def record_of(kind: Type) -> Record:
    """`kind`, which must be a record."""
    assert isinstance(kind, Record)
    return kind


def union_of(kind: Type) -> Union:
    """The type, which is a union."""
    assert isinstance(kind, Union)
    return kind


def map_of(kind: Type) -> Map:
    """`kind`, which must be a map."""
    assert isinstance(kind, Map)
    return kind


def inner_of(kind: Type) -> Type:
    """The element type of a set, an option, a sequence or a ranking."""
    assert isinstance(kind, Set | Option | Seq | Ranking)
    return kind.inner


def tags_of(kind: Type) -> tuple[str, ...]:
    """The cases of a union, an enum or an option, named as in a match."""
    match kind:
        case Union(cases=cases):
            return tuple(tag for tag, _ in cases)
        case Enum(members=members):
            return members
        case _:
            assert isinstance(kind, Option)
            return ("none", "present")
