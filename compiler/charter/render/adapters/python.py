"""Prints the types of a component in Python; they are read and written by `conform.sdk`."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from charter.core import types as t
from charter.render.adapters import docs
from charter.render.adapters.fill import fill
from charter.render.adapters.interface import Interface, Named, SeenOperation
from charter.render.adapters.line_breaks import Bracketed, LineBreaker, call
from charter.render.adapters.names import TakenNames, pascal, snake
from charter.render.text import wrap

_TAKEN = (
    "ABC", "Adapter", "COMPONENT", "CONSTS", "Consts", "Enum", "False", "Given", "Mapping",
    "NewType", "None", "OBSERVES", "OPERATIONS", "Observation", "Question", "SORTS", "Sorts",
    "True",
)  # fmt: skip
_METHODS = frozenset({"hello", "start", "observe", "image"})
_OF_ENUMS = frozenset({"mro", "name", "value"})
_LAYOUT = LineBreaker("    ", 100)


def python_files(seen: Interface) -> dict[str, str]:
    """The file with the types, by its path in the adapter's folder."""
    return {"protocol.py": fill("protocol.py.j2", PythonPage(seen), seen)}


def python_skeleton(seen: Interface) -> dict[str, str]:
    """The adapter to be completed, by its path in the adapter's folder."""
    return {"adapter.py": fill("adapter.py.j2", PythonPage(seen, "protocol."), seen)}


def attribute(name: str) -> str:
    """A field, a parameter or a method."""
    lower = snake(name)
    return f"{lower}_" if keyword.iskeyword(lower) or lower == "self" else lower


@dataclass(slots=True)
class PythonPage:
    """The parts of the file."""

    seen: Interface
    package: str = ""
    types: dict[str, str] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = TakenNames(set(_TAKEN))
        for named in self.seen.types:
            self.types[named.name] = self.package + names.take(pascal(named.name))
        for named in self.seen.types:
            if isinstance(named, t.Union):
                for tag, _ in named.cases:
                    self.cases[tag] = self.package + names.take(pascal(tag))

    def has(self, kind: str) -> bool:
        """Whether there is a type of a kind."""
        return any(type(named).__name__ == kind for named in self.seen.types)

    def takes_maps(self) -> bool:
        """Whether an operation takes or returns a map."""
        return any("Mapping[" in self.signature(operation) for operation in self.seen.operations)

    def method(self, operation: SeenOperation) -> str:
        """The name of the method of an operation."""
        name = attribute(operation.name)
        return f"{name}_" if name in _METHODS else name

    def member(self, name: str) -> str:
        """A member of an enum, which has attributes of its own."""
        return f"{name}_" if keyword.iskeyword(name) or name in _OF_ENUMS else name

    def annotation(self, kind: t.Type) -> str:
        """A type hint."""
        match kind:
            case t.Bool():
                return "bool"
            case t.Int():
                return "int"
            case t.Sort(name) | t.Counter(name) | t.Enum(name) | t.Record(name) | t.Union(name):
                return self.types[name]
            case t.Option(inner):
                return f"{self.annotation(inner)} | None"
            case t.Set(inner):
                return f"frozenset[{self.annotation(inner)}]"
            case t.Seq(inner) | t.Ranking(inner):
                return f"tuple[{self.annotation(inner)}, ...]"
            case t.Map(key, value):
                return f"Mapping[{self.annotation(key)}, {self.annotation(value)}]"
            case _:
                assert_never(kind)

    def codec(self, kind: t.Type) -> str | Bracketed:
        """The expression that reads and writes a type."""
        match kind:
            case t.Bool():
                return "sdk.BOOL"
            case t.Int():
                return "sdk.INT"
            case t.Sort(name) | t.Counter(name) | t.Enum(name) | t.Record(name) | t.Union(name):
                return f"_{snake(self.types[name]).upper()}"
            case t.Option(inner):
                return call("sdk.option", self.codec(inner))
            case t.Set(inner):
                return call("sdk.set_of", self.codec(inner))
            case t.Seq(inner) | t.Ranking(inner):
                return call("sdk.sequence", self.codec(inner))
            case t.Map(t.Sort() | t.Enum() | t.Bool() as key, value):
                return call("sdk.mapping", self.codec(key), self.codec(value))
            case t.Map(key, value):
                return call("sdk.pairs", self.codec(key), self.codec(value))
            case _:
                assert_never(kind)

    def own_codec(self, named: Named) -> str:
        """The statement that defines the codec of a named type."""
        name = self.types[named.name]
        match named:
            case t.Sort():
                made = call("sdk.name", name)
            case t.Counter(opaque=False):
                made = call("sdk.counter", name)
            case t.Counter(ordered=True):
                made = call("sdk.opaque_counter", name)
            case t.Counter():
                made = call("sdk.opaque", name)
            case t.Enum():
                made = call("sdk.enum", name)
            case t.Record(fields=fields):
                made = call("sdk.record", name, self.parts(fields))
            case t.Union(cases=cases):
                rows = tuple(
                    (f'"{tag}": ', Bracketed("(", (("", self.cases[tag]), ("", parts)), ")"))
                    for tag, params in cases
                    for parts in [self.parts(params)]
                )
                made = call("sdk.union", Bracketed("{", rows, "}"))
            case _:
                assert_never(named)
        hint = f": sdk.Codec[{name}]" if isinstance(named, t.Union) else ""
        return _LAYOUT.text(made, 0, f"{self.codec(named)}{hint} = ", "")

    def states(self) -> list[tuple[str, t.Record]]:
        """What is neither a type of the charter nor arguments: the name and the fields."""
        seen = self.seen
        ids = tuple((sort.name, t.Map(sort, t.Int())) for sort in seen.sorts)
        return [
            ("Sorts", t.Record("Sorts", ids)),
            ("Consts", seen.consts),
            ("Given", seen.given),
            ("Observation", seen.observation),
        ]

    def state_codec(self, name: str, record: t.Record) -> str:
        """The statement that defines the codec of one of `states`."""
        made = call("sdk.record", name, self.parts(record.fields))
        return _LAYOUT.text(made, 0, f"_{name.upper()} = ", "")

    def alias(self, kind: t.Union) -> str:
        """The statement that names the cases of a union."""
        cases = [self.cases[tag] for tag, _ in kind.cases]
        whole = f"{self.types[kind.name]} = {' | '.join(cases)}\n"
        if len(whole) <= _LAYOUT.width + 1:
            return whole
        rows = [f"    {cases[0]}", *(f"    | {case}" for case in cases[1:])]
        return "\n".join([f"{self.types[kind.name]} = (", *rows, ")\n"])

    def zero(self, kind: t.Type) -> str | Bracketed:
        """A value for the skeleton of an adapter."""
        match kind:
            case t.Bool():
                return "False"
            case t.Int(low=low):
                return str(low.plus if low else 0)
            case t.Sort(name):
                return call(self.types[name], '""')
            case t.Counter(name, ordered=ordered):
                return call(self.types[name], "0" if ordered else '""')
            case t.Enum(name, members):
                return f"{self.types[name]}.{self.member(members[0])}"
            case t.Option():
                return "None"
            case t.Record(name, fields):
                return call(self.types[name], *(self.zero(part) for _, part in fields))
            case t.Union(cases=cases):
                tag, params = cases[0]
                return call(self.cases[tag], *(self.zero(part) for _, part in params))
            case t.Set():
                return "frozenset()"
            case t.Seq() | t.Ranking():
                return "()"
            case t.Map():
                return "{}"
            case _:
                assert_never(kind)

    def zero_observation(self) -> str:
        """The statement that returns an observation of nothing."""
        fields = tuple(
            (f"{attribute(name)}=", self.zero(kind)) for name, kind in self.seen.observation.fields
        )
        made = Bracketed(f"{self.package}Observation(", fields, ")")
        return _LAYOUT.text(made, 2, "return ", "")

    def parts(self, fields: Sequence[tuple[str, t.Type]]) -> Bracketed:
        """The codecs of fields, by name."""
        return Bracketed("{", tuple((f'"{n}": ', self.codec(kind)) for n, kind in fields), "}")

    def sorts_fields(self) -> list[tuple[str, t.Type]]:
        """The fields of `Sorts`."""
        return [*self.states()[0][1].fields]

    def sorts_hint(self) -> str:
        """A comment that shows how an adapter reads the elements of a sort; "" without sorts."""
        for name, _ in self.sorts_fields():
            place = f"question.sorts.{attribute(name)}"
            return f"        # {place} has the elements of the sort by name, each with its id.\n"
        return ""

    def fields(self, owner: str, fields: Sequence[tuple[str, t.Type]]) -> str:
        """The fields of a dataclass."""
        rows: list[str] = []
        for name, kind in fields:
            doc = self.seen.doc_of(owner, name)
            rows += [f"    # {row}".rstrip() for row in (wrap(doc, 94) if doc else ())]
            rows.append(f"    {attribute(name)}: {self.annotation(kind)}")
        return "".join(f"{row}\n" for row in rows)

    def dataclass(
        self, name: str, doc: str, owner: str, fields: Sequence[tuple[str, t.Type]]
    ) -> str:
        """The declaration of a dataclass."""
        body = f"\n{self.fields(owner, fields)}" if fields else ""
        head = f"@dataclass(frozen=True, slots=True)\nclass {name}:\n"
        return f"{head}{self.docstring(doc, 1)}{body}"

    def signature(self, operation: SeenOperation) -> str:
        """`def acquire(self, client: Client) -> Acquired:`."""
        params = [("", "self")]
        params += [
            ("", f"{attribute(name)}: {self.annotation(kind)}")
            for name, kind in operation.args.fields
        ]
        made = Bracketed("(", tuple(params), ")")
        result = f" -> {self.annotation(operation.reply)}:"
        return _LAYOUT.text(made, 1, f"def {self.method(operation)}", result)

    def perform(self, operation: SeenOperation) -> str:
        """The statement that calls the method of an operation."""
        args = [
            call_of(f'args["{name}"]', self.codec(kind)) for name, kind in operation.args.fields
        ]
        asked = call(f"self.adapter.{self.method(operation)}", *args)
        reply = self.codec(operation.reply)
        return _LAYOUT.text(apply(reply, "encode", asked), 4, "return ", "")

    def docstring(self, text: str, depth: int) -> str:
        """A docstring with its line ends."""
        rows = wrap(text.replace("\\", "\\\\").replace('"""', "'''"), 94 - 4 * depth)
        start = "    " * depth
        if len(rows) == 1:
            return f'{start}"""{rows[0]}"""\n'
        lines = [f'"""{rows[0]}', *rows[1:], '"""']
        return "".join(f"{start}{line}".rstrip() + "\n" for line in lines)

    def doc(self, named: Named) -> str:
        """The docstring of a named type."""
        return docs.type_doc(self.seen, named)

    def case_doc(self, kind: t.Union, tag: str) -> str:
        """The docstring of a case."""
        return self.seen.doc_of(kind.name, tag) or f"A case of {self.types[kind.name]}."

    def strings(self, name: str, names: Sequence[str]) -> str:
        """A tuple of strings."""
        items = tuple(("", f'"{each}"') for each in names)
        close = ",)" if len(items) == 1 else ")"
        rows = _LAYOUT.lines(Bracketed("(", items, close), 0, f"{name}: tuple[str, ...] = ", "")
        return "".join(f"{')' if row == ',)' else row}\n" for row in rows)


def call_of(value: str, codec: str | Bracketed) -> Bracketed:
    """A value, decoded."""
    return apply(codec, "decode", value)


def apply(codec: str | Bracketed, method: str, value: str | Bracketed) -> Bracketed:
    """A method of a codec applied to a value."""
    if isinstance(codec, str):
        return call(f"{codec}.{method}", value)
    head = LineBreaker("", 10_000).lines(codec, 0, "", "")[0]
    return call(f"{head}.{method}", value)
