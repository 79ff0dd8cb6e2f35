"""Holds what the pages of several languages have in common: names, and one walk over types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeVar, assert_never

from charter.core import types as t
from charter.render.adapters import docs
from charter.render.adapters.interface import Fields, Interface, Named
from charter.render.adapters.line_breaks import Bracketed, call
from charter.render.adapters.names import TakenNames, pascal

Shape = Literal["bool", "int", "option", "set", "list", "bool_map", "map", "pairs"]
"""The kinds of types without a name. JSON writes a `map` as an object, and `pairs` as a list."""
T = TypeVar("T")

METHODS = frozenset({"hello", "start", "observe", "image"})
"""The methods of an adapter that are no operations."""


def fold(kind: t.Type, named: Callable[[Named], T], made: Callable[[Shape, list[T]], T]) -> T:
    """What `named` gives for a type with a name, else what `made` gives for the results of its
    parts: the type of keys before that of values."""

    def combine(shape: Shape, *parts: t.Type) -> T:
        return made(shape, [fold(part, named, made) for part in parts])

    match kind:
        case t.Bool():
            return combine("bool")
        case t.Int():
            return combine("int")
        case t.Option(inner):
            return combine("option", inner)
        case t.Set(inner):
            return combine("set", inner)
        case t.Seq(inner) | t.Ranking(inner):
            return combine("list", inner)
        case t.Map(t.Bool() as key, value):
            return combine("bool_map", key, value)
        case t.Map(t.Sort() | t.Enum() as key, value):
            return combine("map", key, value)
        case t.Map(key, value):
            return combine("pairs", key, value)
        case t.Sort() | t.Counter() | t.Enum() | t.Record() | t.Union():
            return named(kind)
        case _:
            assert_never(kind)


@dataclass(slots=True)
class LanguagePage:
    """The parts of a file. `types` and `cases` are their names in its language, each after the
    `package` of the types. `TAKEN` are names that they must not have, and `FORMS` the types without
    a name, with those of their parts at `{}`. `ZEROS` are their values in a skeleton, and `NEW` is
    before the name of what is built."""

    TAKEN: ClassVar[tuple[str, ...]] = ()
    FORMS: ClassVar[Mapping[Shape, str]] = {}
    ZEROS: ClassVar[Mapping[type[t.Type], str]] = {}
    NEW: ClassVar[str] = ""

    seen: Interface
    package: str = ""
    types: dict[str, str] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.name_types()
        for named in self.seen.types:
            if isinstance(named, t.Union):
                self.cases |= {
                    tag: self.package + names.take(pascal(tag)) for tag, _ in named.cases
                }

    def name_types(self) -> TakenNames:
        """Chooses the names of the types, and gives all that are taken then."""
        names = TakenNames(set(self.TAKEN))
        for named in self.seen.types:
            self.types[named.name] = self.package + names.take(pascal(named.name))
        return names

    def name_of(self, named: Named) -> str:
        """A type with a name, inside another one."""
        return self.types[named.name]

    def type(self, kind: t.Type) -> str:
        """The type of a field or an item."""
        return fold(kind, self.name_of, lambda shape, parts: self.FORMS[shape].format(*parts))

    def states(self) -> list[tuple[str, str, t.Record]]:
        """What is neither a type of the charter nor arguments: the name, a comment, the fields."""
        seen = self.seen
        return [
            ("Sorts", docs.SORTS, t.Record("Sorts", seen.sort_ids)),
            ("Consts", docs.CONSTS, seen.consts),
            ("Given", docs.GIVEN, seen.given),
            ("Observation", docs.OBSERVATION, seen.observation),
        ]

    # --- skeleton --------------------------------------------------------------------------------

    def zero(self, kind: t.Type) -> str | Bracketed:
        """A value for the skeleton of an adapter."""
        match kind:
            case t.Int(low=low):
                return str(low.plus if low else 0)
            case t.Sort(name):
                return self.wrap(name, '""')
            case t.Counter(name, ordered=ordered):
                return self.wrap(name, "0" if ordered else '""')
            case t.Enum(members=members):
                return self.choose(kind, members[0])
            case t.Record(name, fields):
                return self.build(self.types[name], "", fields)
            case t.Union(cases=cases):
                tag, params = cases[0]
                return self.build(self.cases[tag], tag, params)
            case t.Bool() | t.Option() | t.Set() | t.Seq() | t.Ranking() | t.Map():
                return self.ZEROS[type(kind)]
            case _:
                assert_never(kind)

    def wrap(self, name: str, value: str) -> str | Bracketed:
        """An element of a sort, or a value of a counter."""
        return call(self.NEW + self.types[name], value)

    def choose(self, kind: t.Enum, member: str) -> str:
        """A member of an enum."""
        return f"{self.types[kind.name]}.{self.member(member)}"

    def member(self, name: str) -> str:
        """The name of a member of an enum."""
        return name

    def build(self, name: str, tag: str, fields: Fields) -> Bracketed:
        """A record, or the case `tag` of a union."""
        return call(self.NEW + name, *(self.zero(part) for _, part in fields))


@dataclass(slots=True)
class CodecPage(LanguagePage, ABC):
    """A page of a language in which expressions read and write values. `CODECS` are those of types
    without a name."""

    CODECS: ClassVar[Mapping[Shape, str]] = {}

    @abstractmethod
    def name_codec(self, named: Named) -> str:
        """The expression that reads and writes a type with a name."""

    def codec(self, kind: t.Type) -> str | Bracketed:
        """The expression that reads and writes a type."""
        return fold(kind, self.name_codec, self.combine_codecs)

    def combine_codecs(self, shape: Shape, parts: list[str | Bracketed]) -> str | Bracketed:
        """The expression that reads and writes a type without a name."""
        return call(self.CODECS[shape], *parts) if parts else self.CODECS[shape]
