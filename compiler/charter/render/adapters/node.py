"""Prints the types of a component in JavaScript, with JSDoc; codecs.js reads and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from charter.core import types as t
from charter.render.adapters import docs
from charter.render.adapters.fill import fill
from charter.render.adapters.interface import Interface, SeenOperation
from charter.render.adapters.line_breaks import Bracketed, LineBreaker, call
from charter.render.adapters.names import TakenNames, camel, pascal
from charter.render.text import wrap

_TAKEN = (
    "About", "Adapter", "Array", "Consts", "Fault", "Given", "Map", "NotLoadable", "Object",
    "Observation", "Promise", "Question", "Set", "Sorts", "Unsupported",
)  # fmt: skip
_METHODS = frozenset({"hello", "start", "observe", "image", "constructor"})
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


def node_files(seen: Interface) -> dict[str, str]:
    """The file with the types, by its path in the adapter's folder."""
    return {"charter/protocol.js": fill("protocol.js.j2", NodePage(seen), seen)}


def node_skeleton(seen: Interface) -> dict[str, str]:
    """The adapter to be completed, by its path in the adapter's folder."""
    return {"adapter.js": fill("adapter.js.j2", NodePage(seen), seen)}


def attribute(name: str) -> str:
    """A property or a parameter."""
    made = camel(name)
    return f"{made}_" if made in _KEYWORDS else made


def strings(names: Iterable[str]) -> Bracketed:
    """An array of strings."""
    return Bracketed("[", tuple(("", f'"{name}"') for name in names), "]")


@dataclass(slots=True)
class NodePage:
    """The parts of the file."""

    seen: Interface
    types: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = TakenNames(set(_TAKEN))
        for named in self.seen.types:
            self.types[named.name] = names.take(pascal(named.name))

    def method(self, operation: SeenOperation) -> str:
        """The name of the method of an operation."""
        name = camel(operation.name)
        return f"{name}_" if name in _METHODS else name

    def type(self, kind: t.Type) -> str:
        """A type in JSDoc."""
        match kind:
            case t.Bool():
                return "boolean"
            case t.Int():
                return "number"
            case t.Sort(name) | t.Counter(name) | t.Enum(name) | t.Record(name) | t.Union(name):
                return self.types[name]
            case t.Option(inner):
                return f"{self.type(inner)} | null"
            case t.Set(inner):
                return f"Set<{self.type(inner)}>"
            case t.Seq(inner) | t.Ranking(inner):
                return f"Array<{self.type(inner)}>"
            case t.Map(key, value):
                return f"Map<{self.type(key)}, {self.type(value)}>"
            case _:
                assert_never(kind)

    def codec(self, kind: t.Type) -> str | Bracketed:
        """The expression that reads and writes a type."""
        match kind:
            case t.Bool():
                return "codecs.bool"
            case t.Int():
                return "codecs.int"
            case t.Sort() | t.Enum():
                return "codecs.name"
            case t.Counter(opaque=False):
                return "codecs.counter"
            case t.Counter(ordered=ordered):
                return "codecs.opaqueCounter" if ordered else "codecs.opaque"
            case t.Record(name) | t.Union(name):
                return f"{camel(self.types[name])}Codec"
            case t.Option(inner):
                return call("codecs.option", self.codec(inner))
            case t.Set(inner):
                return call("codecs.set", self.codec(inner))
            case t.Seq(inner) | t.Ranking(inner):
                return call("codecs.list", self.codec(inner))
            case t.Map(t.Bool(), value):
                return call("codecs.boolMap", self.codec(value))
            case t.Map(t.Sort() | t.Enum(), value):
                return call("codecs.map", self.codec(value))
            case t.Map(key, value):
                return call("codecs.pairs", self.codec(key), self.codec(value))
            case _:
                assert_never(kind)

    def record(self, fields: Sequence[tuple[str, t.Type]]) -> Bracketed:
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
        ids = tuple((sort.name, t.Map(sort, t.Int())) for sort in seen.sorts)
        empty = tuple((f"{sort.name}: ", "{}") for sort in seen.sorts)
        rows = (
            ("name: ", f'"{seen.component}"'),
            ("operations: ", Bracketed("{", operations, "}", open=True)),
            ("observes: ", strings(name for name, _ in seen.observation.fields)),
            ("constNames: ", strings(name for name, _ in seen.consts.fields)),
            ("noSorts: ", Bracketed("{ ", empty, " }")),
            ("sorts: ", self.record(ids)),
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

    def properties(self, owner: str, fields: Sequence[tuple[str, t.Type]]) -> list[str]:
        """The lines of an object's properties."""
        rows = []
        for name, kind in fields:
            doc = " ".join(self.seen.doc_of(owner, name).split())
            about = f" - {doc}" if doc else ""
            rows.append(f"@property {{{self.type(kind)}}} {attribute(name)}{about}")
        return rows

    def object(self, name: str, doc: str, owner: str, fields: Sequence[tuple[str, t.Type]]) -> str:
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

    def sorts(self) -> list[tuple[str, t.Type]]:
        """The properties of `Sorts`."""
        return [(sort.name, t.Map(sort, t.Int())) for sort in self.seen.sorts]

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

    def zero(self, kind: t.Type) -> str | Bracketed:
        """A value for the skeleton of an adapter."""
        match kind:
            case t.Bool():
                return "false"
            case t.Int(low=low):
                return str(low.plus if low else 0)
            case t.Counter(ordered=True):
                return "0"
            case t.Sort() | t.Counter():
                return '""'
            case t.Enum(members=members):
                return f'"{members[0]}"'
            case t.Option():
                return "null"
            case t.Record(fields=fields):
                rows = tuple((f"{attribute(name)}: ", self.zero(part)) for name, part in fields)
                return Bracketed("{ ", rows, " }")
            case t.Union(cases=cases):
                tag, params = cases[0]
                rows = tuple((f"{attribute(name)}: ", self.zero(part)) for name, part in params)
                return Bracketed("{ ", (("case: ", f'"{tag}"'), *rows), " }")
            case t.Set():
                return "new Set()"
            case t.Seq() | t.Ranking():
                return "[]"
            case t.Map():
                return "new Map()"
            case _:
                assert_never(kind)

    def zero_observation(self) -> str:
        """The statement that returns an observation of nothing."""
        rows = tuple((f"{attribute(n)}: ", self.zero(k)) for n, k in self.seen.observation.fields)
        return _LAYOUT.text(Bracketed("{", rows, "}", open=True), 2, "return ", ";")
