"""Prints the types of a component in JavaScript, with JSDoc; codecs.js reads and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, assert_never

from charter.core import types as t
from charter.render.adapters import docs
from charter.render.adapters.interface import Fields, Named, SeenOperation
from charter.render.adapters.line_breaks import Bracketed, Item, LineBreaker, call
from charter.render.adapters.names import avoid, camel
from charter.render.adapters.page import METHODS, CodecPage, Shape
from charter.render.text import wrap

_TAKEN = (
    "About", "Adapter", "Array", "Consts", "Fault", "Given", "Map", "NotLoadable", "Object",
    "Observation", "Promise", "Question", "Set", "Sorts", "Unsupported",
)  # fmt: skip
_KEYWORDS = frozenset({
    "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
    "delete", "do", "else", "enum", "export", "extends", "false", "finally", "for", "function",
    "if", "import", "in", "instanceof", "let", "new", "null", "return", "static", "super",
    "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield",
    # in modules
    "arguments", "eval", "implements", "interface", "package", "private", "protected", "public",
})  # fmt: skip
_LAYOUT = LineBreaker("  ", 80)
_WIDTH = 96


def attribute(name: str) -> str:
    """A property or a parameter."""
    return avoid(camel(name), _KEYWORDS)


def strings(names: Iterable[str]) -> Bracketed:
    """An array of strings."""
    return Bracketed("[", tuple(("", f'"{name}"') for name in names), "]")


@dataclass(slots=True)
class NodePage(CodecPage):
    """The parts of the file."""

    TAKEN: ClassVar = _TAKEN
    FORMS: ClassVar = {
        "bool": "boolean",
        "int": "number",
        "option": "{} | null",
        "set": "Set<{}>",
        "list": "Array<{}>",
        "bool_map": "Map<{}, {}>",
        "map": "Map<{}, {}>",
        "pairs": "Map<{}, {}>",
    }
    CODECS: ClassVar = {
        "bool": "codecs.bool",
        "int": "codecs.int",
        "option": "codecs.option",
        "set": "codecs.set",
        "list": "codecs.list",
        "bool_map": "codecs.boolMap",
        "map": "codecs.map",
        "pairs": "codecs.pairs",
    }
    ZEROS: ClassVar = {
        t.Bool: "false",
        t.Option: "null",
        t.Set: "new Set()",
        t.Seq: "[]",
        t.Ranking: "[]",
        t.Map: "new Map()",
    }

    def method(self, operation: SeenOperation) -> str:
        """The name of the method of an operation."""
        return avoid(camel(operation.name), METHODS | {"constructor"})

    def name_codec(self, named: Named) -> str:
        """The expression that reads and writes a type with a name."""
        match named:
            case t.Sort() | t.Enum():
                return "codecs.name"
            case t.Counter(opaque=False):
                return "codecs.counter"
            case t.Counter(ordered=ordered):
                return "codecs.opaqueCounter" if ordered else "codecs.opaque"
            case t.Record(name) | t.Union(name):
                return f"{camel(self.types[name])}Codec"
            case _:
                assert_never(named)

    def combine_codecs(self, shape: Shape, parts: list[str | Bracketed]) -> str | Bracketed:
        """The expression that reads and writes a type without a name; keys of objects are texts."""
        used = parts[1:] if shape in ("bool_map", "map") else parts
        return call(self.CODECS[shape], *used) if used else self.CODECS[shape]

    def record(self, fields: Fields) -> Bracketed:
        """The codec of an object."""
        rows = tuple(
            (
                f"{attribute(name)}: ",
                Bracketed("[", (("", f'"{name}"'), ("", self.codec(kind))), "]"),
            )
            for name, kind in fields
        )
        return Bracketed("codecs.record({", rows, "})", open=True)

    def codecs(self) -> str:
        """The statements that define the codecs of records and unions."""
        texts = []
        for named in self.seen.types:
            match named:
                case t.Record(fields=fields):
                    made = self.record(fields)
                case t.Union(cases=cases):
                    rows = tuple((f"{tag}: ", self.record(params)) for tag, params in cases)
                    made = Bracketed("codecs.union({", rows, "})", open=True)
                case t.Sort() | t.Counter() | t.Enum():
                    continue
            texts.append(_LAYOUT.text(made, 0, f"const {self.codec(named)} = ", ";"))
        return "\n".join(texts)

    def component(self) -> str:
        """The statement that defines what the SDK knows of the component."""
        seen = self.seen
        operations = tuple((f"{o.name}: ", self.operation(o)) for o in seen.operations)
        empty = tuple((f"{sort.name}: ", "{}") for sort in seen.sorts)
        rows = (
            ("name: ", f'"{seen.component}"'),
            ("operations: ", Bracketed("{", operations, "}", open=True)),
            ("observes: ", strings(name for name, _ in seen.observation.fields)),
            ("constNames: ", strings(name for name, _ in seen.consts.fields)),
            ("noSorts: ", Bracketed("{ ", empty, " }")),
            ("sorts: ", self.record(seen.sort_ids)),
            ("consts: ", self.record(seen.consts.fields)),
            ("given: ", self.record(seen.given.fields)),
            ("observation: ", self.record(seen.observation.fields)),
        )
        return _LAYOUT.text(Bracketed("{", rows, "}", open=True), 0, "const component = ", ";")

    def operation(self, operation: SeenOperation) -> Bracketed:
        """An entry of the table of operations."""
        rows = (
            ("method: ", f'"{self.method(operation)}"'),
            ("args: ", self.record(operation.args.fields)),
            ("reply: ", self.codec(operation.reply)),
        )
        return Bracketed("{", rows, "}", open=True)

    # --- comments --------------------------------------------------------------------------------

    def comment(self, text: str, *rows: str, depth: int = 0) -> str:
        """A comment of JSDoc, with rows that are not wrapped."""
        start = "  " * depth
        body = [*(wrap(text, _WIDTH) if text else ()), *rows]
        if len(body) == 1:
            return f"{start}/** {body[0]} */\n"
        lines = "".join(f"{start} * {row}".rstrip() + "\n" for row in body)
        return f"{start}/**\n{lines}{start} */\n"

    def properties(self, owner: str, fields: Fields) -> list[str]:
        """The lines of an object's properties."""
        rows = []
        for name, kind in fields:
            doc = " ".join(self.seen.doc_of(owner, name).split())
            about = f" - {doc}" if doc else ""
            rows.append(f"@property {{{self.type(kind)}}} {attribute(name)}{about}")
        return rows

    def object(self, name: str, doc: str, owner: str, fields: Fields) -> str:
        """The comment that declares the type of an object."""
        return self.comment(doc, f"@typedef {{object}} {name}", *self.properties(owner, fields))

    def union(self, kind: t.Union) -> str:
        """The comment that declares a union; each case has a line."""
        name = self.types[kind.name]
        cases = []
        for tag, params in kind.cases:
            parts = [f'case: "{tag}"', *(f"{attribute(n)}: {self.type(p)}" for n, p in params)]
            cases.append(f"{{ {', '.join(parts)} }}")
        told = {tag: self.seen.doc_of(kind.name, tag) for tag, _ in kind.cases}
        notes = [f"`{tag}`: {text}" for tag, text in told.items() if text]
        doc = docs.join(docs.type_doc(self.seen, kind), *notes)
        return self.comment(doc, f"@typedef {{{' | '.join(cases)}}} {name}")

    def members(self, kind: t.Enum) -> str:
        """The type of the members of an enum."""
        return " | ".join(f'"{member}"' for member in kind.members)

    def adapter(self) -> str:
        """The comment that declares what the author writes."""
        doc = docs.join(docs.sentence(docs.ADAPTER.format(self.seen.component)), self.seen.doc)
        return self.comment(
            doc,
            "@typedef {object} Adapter",
            f"@property {{(question: Question) => void | Promise<void>}} start - {docs.START}",
            "@property {() => Observation | Promise<Observation>} observe",
            "@property {() => Observation | Promise<Observation>} [image]",
            "@property {(hello: object) => void | Promise<void>} [hello]",
            *self.methods(),
        )

    def methods(self) -> list[str]:
        """The lines of the methods of operations."""
        rows = []
        for operation in self.seen.operations:
            args = ", ".join(
                f"{attribute(n)}: {self.type(kind)}" for n, kind in operation.args.fields
            )
            given = f"(args: {{ {args} }})" if args else "()"
            reply = self.type(operation.reply)
            doc = " ".join(operation.doc.split())
            rows.append(
                f"@property {{{given} => {reply} | Promise<{reply}>}} {self.method(operation)}"
                + (f" - {doc}" if doc else "")
            )
        return rows

    # --- skeleton --------------------------------------------------------------------------------

    def stub(self, operation: SeenOperation) -> str:
        """The first line of a method of the skeleton."""
        names = Bracketed("({ ", tuple(("", attribute(n)) for n, _ in operation.args.fields), " })")
        params = names if operation.args.fields else "()"
        return _LAYOUT.text(params, 1, self.method(operation), " {")

    def wrap(self, name: str, value: str) -> str:
        """An element of a sort, or a value of a counter."""
        return value

    def choose(self, kind: t.Enum, member: str) -> str:
        """A member of an enum."""
        return f'"{member}"'

    def build(self, name: str, tag: str, fields: Fields) -> Bracketed:
        """A record, or the case `tag` of a union."""
        case = (("case: ", f'"{tag}"'),) if tag else ()
        return Bracketed("{ ", (*case, *self.zeros(fields)), " }")

    def zeros(self, fields: Fields) -> Iterator[Item]:
        """The values of properties."""
        return ((f"{attribute(name)}: ", self.zero(part)) for name, part in fields)

    def zero_observation(self) -> str:
        """The statement that returns an observation of nothing."""
        rows = tuple(self.zeros(self.seen.observation.fields))
        return _LAYOUT.text(Bracketed("{", rows, "}", open=True), 2, "return ", ";")
