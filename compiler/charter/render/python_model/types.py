"""Writes types of core as Python annotations, domains, and conversions from and to JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from charter.core import nodes as n
from charter.core import types as t
from charter.render.python_model.names import Names, snake


@dataclass(frozen=True, slots=True)
class TypePrinter:
    """Prints annotations, domains and conversions of types; `names` are those of the page."""

    names: Names

    def annotation(self, kind: t.Type) -> str:
        """The type hint."""
        match kind:
            case t.Bool():
                return "bool"
            case t.Int():
                return "int"
            case t.Sort(name) | t.Counter(name) | t.Enum(name) | t.Record(name) | t.Union(name):
                return self.names.types[name]
            case t.Option(inner):
                return f"{self.annotation(inner)} | None"
            case t.Set(inner):
                return f"frozenset[{self.annotation(inner)}]"
            case t.Map(key, value):
                return f"Map[{self.annotation(key)}, {self.annotation(value)}]"
            case t.Seq(inner) | t.Ranking(inner):
                return f"tuple[{self.annotation(inner)}, ...]"
            case _:
                assert_never(kind)

    def limit(self, limit: t.Limit, world: str) -> str:
        """The end of a range."""
        if not limit.const:
            return str(limit.plus)
        const = f"{world}.{self.names.consts[limit.const]}"
        return const if not limit.plus else f"{const} + {limit.plus}"

    def loop(self, kind: t.Type, world: str) -> str:
        """All values of a finite type, for a loop."""
        match kind:
            case t.Bool():
                return "(False, True)"
            case t.Int(low, high):
                assert low is not None and high is not None
                top = t.Limit(high.const, high.plus + 1)
                return f"range({self.limit(low, world)}, {self.limit(top, world)})"
            case t.Sort(name):
                return f"{world}.{self.names.sorts[name]}"
            case t.Enum(name):
                return self.names.types[name]
            case t.Option(inner):
                return f"(None, *{self.loop(inner, world)})"
            case t.Record(name, fields):
                inside = ", ".join(self.loop(part, world) for _, part in fields)
                return f"[{self.names.types[name]}(*parts) for parts in product({inside})]"
            case t.Union(cases=cases):
                rows = []
                for tag, params in cases:
                    inside = ", ".join(self.loop(part, world) for _, part in params)
                    rows.append(
                        f"*({self.names.cases[tag]}(*parts) for parts in product({inside}))"
                    )
                return f"({', '.join(rows)},)"
            case t.Set(inner):
                return f"subsets({self.loop(inner, world)})"
            case t.Ranking(inner):
                return f"rankings({self.loop(inner, world)})"
            case t.Seq(inner, limit):
                return f"sequences({self.loop(inner, world)}, {self.limit(limit, world)})"
            case t.Map(key, value):
                return f"maps({self.loop(key, world)}, {self.loop(value, world)})"
            case t.Counter():
                raise TypeError("a counter has no domain")
            case _:
                assert_never(kind)

    def domain(self, kind: t.Type, world: str) -> str:
        """All values of a finite type, as a set."""
        if isinstance(kind, t.Sort):
            return self.loop(kind, world)
        return f"frozenset({self.loop(kind, world)})"

    def literal(self, e: n.Literal, world: str) -> str:
        """A constant, in the type that it is used as."""
        match e.type, e.value:
            case _, None:
                return "None"
            case t.Enum(name), member:
                return f"{self.names.types[name]}.{member}"
            case t.Sort(), position:
                return f"element({self.loop(e.type, world)}, {position})"
            case t.Counter(name, ordered=ordered), number:
                text = str(number) if ordered else f'"{number}"'
                return f"{self.names.types[name]}({text})"
            case _, value:
                return repr(value).replace("'", '"')

    # --- JSON ------------------------------------------------------------------------------------

    def writer(self, name: str) -> str:
        """The function that writes a record or union."""
        return f"_{snake(name)}_json"

    def reader(self, name: str) -> str:
        """The function that reads a record or union."""
        return f"_{snake(name)}_from"

    def write(self, kind: t.Type, x: str, depth: int = 0) -> str:
        """`x` as JSON."""
        item = f"entry{depth or ''}"
        match kind:
            case t.Bool() | t.Int() | t.Sort() | t.Counter(opaque=False):
                return x
            case t.Counter(ordered=ordered):
                return f'f"{"@" if ordered else "~"}{{{x}}}"'
            case t.Enum():
                return f"{x}.name"
            case t.Record(name) | t.Union(name):
                return f"{self.writer(name)}({x})"
            case t.Option(inner):
                text = self.write(inner, x, depth)
                return x if text == x else f"None if {x} is None else {text}"
            case t.Set(t.Sort()):
                return f"sorted({x})"
            case t.Set(inner):
                inside = f"{self.write(inner, item, depth + 1)} for {item} in {x}"
                texts = isinstance(inner, t.Enum | t.Sort) or (
                    isinstance(inner, t.Counter) and inner.opaque
                )
                return f"{'sorted' if texts else 'by_text'}({inside})"
            case t.Seq(inner) | t.Ranking(inner):
                text = self.write(inner, item, depth + 1)
                return f"list({x})" if text == item else f"[{text} for {item} in {x}]"
            case t.Map(key, value):
                name = f"key{depth or ''}"
                inside = self.write(value, item, depth + 1)
                loop = f"for {name}, {item} in {x}.items()"
                match key:
                    case t.Sort() if inside == item:
                        return f"dict({x})"
                    case t.Sort():
                        return f"{{{name}: {inside} {loop}}}"
                    case t.Enum():
                        return f"{{{name}.name: {inside} {loop}}}"
                    case t.Bool():
                        return f"{{str({name}).lower(): {inside} {loop}}}"
                    case _:
                        return f"by_text([{self.write(key, name, depth + 1)}, {inside}] {loop})"
            case _:
                assert_never(kind)

    def read(self, kind: t.Type, x: str, depth: int = 0) -> str:
        """The value that the JSON `x` encodes; the code raises ValueError for other JSON."""
        item = f"entry{depth or ''}"
        match kind:
            case t.Bool():
                return f"truth({x})"
            case t.Int():
                return f"number({x})"
            case t.Sort(name) | t.Counter(name, opaque=True, ordered=False):
                read = "text_of" if isinstance(kind, t.Sort) else "opaque_text"
                return f"{self.names.types[name]}({read}({x}))"
            case t.Counter(name, opaque=opaque):
                return f"{self.names.types[name]}({'opaque_' if opaque else ''}number({x}))"
            case t.Enum(name):
                return f"{self.names.types[name]}[text_of({x})]"
            case t.Record(name) | t.Union(name):
                return f"{self.reader(name)}({x})"
            case t.Option(inner):
                return f"None if {x} is None else {self.read(inner, x, depth)}"
            case t.Set(inner):
                inside = self.read(inner, item, depth + 1)
                return f"frozenset({inside} for {item} in items_of({x}))"
            case t.Seq(inner) | t.Ranking(inner):
                inside = self.read(inner, item, depth + 1)
                return f"tuple({inside} for {item} in items_of({x}))"
            case t.Map(key, value):
                name = f"key{depth or ''}"
                inside = self.read(value, item, depth + 1)
                loop = f"for {name}, {item} in fields_of({x}).items()"
                match key:
                    case t.Sort(sort):
                        return f"Map({{{self.names.types[sort]}({name}): {inside} {loop}}})"
                    case t.Enum(enum):
                        return f"Map({{{self.names.types[enum]}[{name}]: {inside} {loop}}})"
                    case t.Bool():
                        return f'Map({{{name} == "true": {inside} {loop}}})'
                    case _:
                        read_key = self.read(key, name, depth + 1)
                        return f"Map({{{read_key}: {inside} for {name}, {item} in pairs_of({x})}})"
            case _:
                assert_never(kind)
