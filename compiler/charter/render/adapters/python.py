"""Prints the types of a component in Python; they are read and written by `conform.sdk`."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, assert_never

from charter.core import types as t
from charter.render.adapters import docs
from charter.render.adapters.interface import Fields, Named, SeenOperation
from charter.render.adapters.line_breaks import Bracketed, LineBreaker, apply, call, flat
from charter.render.adapters.names import avoid, snake
from charter.render.adapters.page import METHODS, CodecPage
from charter.render.text import wrap

_TAKEN = (
    "ABC", "Adapter", "COMPONENT", "CONSTS", "Callable", "Consts", "Enum", "False", "Given",
    "Mapping", "NewType", "None", "OBSERVES", "OPERATIONS", "Observation", "Question", "SORTS",
    "Sorts", "True",
)  # fmt: skip
_OF_ENUMS = frozenset({"mro", "name", "value", *keyword.kwlist})
_LAYOUT = LineBreaker("    ", 100)


def attribute(name: str) -> str:
    """A field, a parameter or a method."""
    return avoid(snake(name), {"self", *keyword.kwlist})


@dataclass(slots=True)
class PythonPage(CodecPage):
    """The parts of the file."""

    TAKEN: ClassVar = _TAKEN
    FORMS: ClassVar = {
        "bool": "bool",
        "int": "int",
        "option": "{} | None",
        "set": "frozenset[{}]",
        "list": "tuple[{}, ...]",
        "bool_map": "Mapping[{}, {}]",
        "map": "Mapping[{}, {}]",
        "pairs": "Mapping[{}, {}]",
    }
    CODECS: ClassVar = {
        "bool": "sdk.BOOL",
        "int": "sdk.INT",
        "option": "sdk.option",
        "set": "sdk.set_of",
        "list": "sdk.sequence",
        "bool_map": "sdk.mapping",
        "map": "sdk.mapping",
        "pairs": "sdk.pairs",
    }
    ZEROS: ClassVar = {
        t.Bool: "False",
        t.Option: "None",
        t.Set: "frozenset()",
        t.Seq: "()",
        t.Ranking: "()",
        t.Map: "{}",
    }

    def has(self, kind: str) -> bool:
        """Whether there is a type of a kind."""
        return any(type(named).__name__ == kind for named in self.seen.types)

    def takes_maps(self) -> bool:
        """Whether an operation takes or returns a map."""
        return any("Mapping[" in self.signature(operation) for operation in self.seen.operations)

    def method(self, operation: SeenOperation) -> str:
        """The name of the method of an operation."""
        return avoid(attribute(operation.name), METHODS)

    def member(self, name: str) -> str:
        """A member of an enum, which has attributes of its own."""
        return avoid(name, _OF_ENUMS)

    def name_codec(self, named: Named) -> str:
        """The expression that reads and writes a type with a name."""
        return f"_{snake(self.types[named.name]).upper()}"

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

    def zero_observation(self) -> str:
        """The statement that returns an observation of nothing."""
        fields = tuple(
            (f"{attribute(name)}=", self._zero_variable(kind))
            for name, kind in self.seen.observation.fields
        )
        made = Bracketed(f"{self.package}Observation(", fields, ")")
        return _LAYOUT.text(made, 2, "return ", "")

    def _zero_variable(self, kind: t.Type) -> str | Bracketed:
        """The value of a variable; a map has one for each element of its sort or enum."""
        match kind:
            case t.Map(key=t.Sort(name) | t.Enum(name) as key, value=value):
                is_sort = isinstance(key, t.Sort)
                names = f"self.question.sorts.{attribute(name)}" if is_sort else self.types[name]
                held = flat(self._zero_variable(value))
                return f"dict.fromkeys({names}{'' if held == 'None' else f', {held}'})"
            case t.Map(key=t.Bool(), value=value):
                held = flat(self._zero_variable(value))
                return f"{{False: {held}, True: {held}}}"
            case _:
                return self.zero(kind)

    def parts(self, fields: Fields) -> Bracketed:
        """The codecs of fields, by name."""
        return Bracketed("{", tuple((f'"{n}": ', self.codec(kind)) for n, kind in fields), "}")

    def sorts_hint(self) -> str:
        """A comment that shows how an adapter reads the elements of a sort; "" without sorts."""
        for name, _ in self.seen.sort_ids:
            place = f"question.sorts.{attribute(name)}"
            return f"        # {place} has the elements of the sort by name, each with its id.\n"
        return ""

    def consts_hint(self) -> str:
        """A comment that shows how an adapter reads a constant; "" without constants."""
        for name, _ in self.seen.consts.fields:
            place = f"question.consts.{attribute(name)}"
            return f"        # {place} is the value of a constant in this question.\n"
        return ""

    def call_hint(self, operation: SeenOperation) -> str:
        """A comment that shows an operation as it is written at last, with its `Fault`."""
        args = ", ".join(attribute(name) for name, _ in operation.args.fields)
        lines = (
            "try:",
            f"    self.client.{self.method(operation)}({args})",
            "except Exception as error:  # only those that the charter does not name",
            "    raise sdk.Fault(type(error).__name__, str(error)) from error",
            f"return {flat(self.zero(operation.reply))}",
        )
        return "".join(f"        # {line}\n" for line in lines)

    def fields(self, owner: str, fields: Fields) -> str:
        """The fields of a dataclass."""
        rows: list[str] = []
        for name, kind in fields:
            doc = self.seen.doc_of(owner, name)
            rows += [f"    # {row}".rstrip() for row in (wrap(doc, 94) if doc else ())]
            rows.append(f"    {attribute(name)}: {self.type(kind)}")
        return "".join(f"{row}\n" for row in rows)

    def dataclass(self, name: str, doc: str, owner: str, fields: Fields) -> str:
        """The declaration of a dataclass."""
        body = f"\n{self.fields(owner, fields)}" if fields else ""
        head = f"@dataclass(frozen=True, slots=True)\nclass {name}:\n"
        return f"{head}{self.docstring(doc, 1)}{body}"

    def signature(self, operation: SeenOperation) -> str:
        """`def acquire(self, client: Client) -> Acquired:`."""
        params = [("", "self")]
        params += [
            ("", f"{attribute(name)}: {self.type(kind)}") for name, kind in operation.args.fields
        ]
        made = Bracketed("(", tuple(params), ")")
        result = f" -> {self.type(operation.reply)}:"
        return _LAYOUT.text(made, 1, f"def {self.method(operation)}", result)

    def perform(self, operation: SeenOperation) -> str:
        """The statement that calls the method of an operation."""
        args = [
            apply(self.codec(kind), "decode", f'args["{name}"]')
            for name, kind in operation.args.fields
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
