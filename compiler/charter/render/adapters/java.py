"""Prints the types of a component in Java; each has a codec."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, assert_never

from charter.core import types as t
from charter.render.adapters import docs
from charter.render.adapters.interface import Fields, Named, SeenOperation
from charter.render.adapters.line_breaks import Bracketed, LineBreaker, apply, call
from charter.render.adapters.names import avoid, camel, snake
from charter.render.adapters.page import METHODS, CodecPage
from charter.render.text import wrap

_TAKEN = (
    "Adapter", "Boolean", "Codec", "Component", "Consts", "Driver", "Exception", "Given", "Integer",
    "Json", "List", "Main", "Map", "Object", "Observation", "Optional", "Override", "Protocol",
    "Question", "Sdk", "Set", "Sorts", "String", "Supplier",
)  # fmt: skip
_KEYWORDS = frozenset({
    "abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const",
    "continue", "default", "do", "double", "else", "enum", "extends", "false", "final", "finally",
    "float", "for", "goto", "if", "implements", "import", "instanceof", "int", "interface", "long",
    "native", "new", "null", "package", "private", "protected", "public", "return", "short",
    "static", "strictfp", "super", "switch", "synchronized", "this", "throw", "throws",
    "transient", "true", "try", "void", "volatile", "while",
    # methods of every object
    "clone", "finalize", "getClass", "hashCode", "notify", "notifyAll", "toString", "wait",
})  # fmt: skip
_UNBOXED = {"Boolean": "boolean", "Integer": "int"}
_LINES = LineBreaker("    ", 100, last="")


def attribute(name: str) -> str:
    """A component of a record, a parameter or a method."""
    return avoid(camel(name), _KEYWORDS)


@dataclass(slots=True)
class JavaPage(CodecPage):
    """The parts of the file."""

    TAKEN: ClassVar = _TAKEN
    FORMS: ClassVar = {
        "bool": "Boolean",
        "int": "Integer",
        "option": "Optional<{}>",
        "set": "Set<{}>",
        "list": "List<{}>",
        "bool_map": "Map<{}, {}>",
        "map": "Map<{}, {}>",
        "pairs": "Map<{}, {}>",
    }
    CODECS: ClassVar = {
        "bool": "Codec.BOOL",
        "int": "Codec.INT",
        "option": "Codec.option",
        "set": "Codec.set",
        "list": "Codec.list",
        "bool_map": "Codec.map",
        "map": "Codec.map",
        "pairs": "Codec.pairs",
    }
    ZEROS: ClassVar = {
        t.Bool: "false",
        t.Option: "Optional.empty()",
        t.Set: "Set.of()",
        t.Seq: "List.of()",
        t.Ranking: "List.of()",
        t.Map: "Map.of()",
    }
    NEW: ClassVar = "new "

    def method(self, operation: SeenOperation) -> str:
        """The name of the method of an operation."""
        return avoid(attribute(operation.name), METHODS)

    def member(self, name: str) -> str:
        """A member of an enum."""
        return avoid(name, _KEYWORDS)

    def unbox(self, kind: t.Type) -> str:
        """A type that is not inside another one."""
        boxed = self.type(kind)
        return _UNBOXED.get(boxed, boxed)

    def name_codec(self, named: Named) -> str:
        """The expression that reads and writes a type with a name."""
        return constant(self.types[named.name])

    # --- declarations ----------------------------------------------------------------------------

    def comment(self, text: str, depth: int = 1) -> str:
        """A comment of documentation; "" for no text."""
        start = "    " * depth
        rows = wrap(text.replace("*/", "* /"), 93 - 4 * depth) if text else []
        if len(rows) == 1:
            return f"{start}/** {rows[0]} */\n"
        lines = "".join(f"{start} * {row}".rstrip() + "\n" for row in rows)
        return f"{start}/**\n{lines}{start} */\n" if rows else ""

    def doc(self, named: Named) -> str:
        """The comment of a type."""
        return self.comment(docs.type_doc(self.seen, named))

    def record(self, name: str, owner: str, fields: Fields, after: str = "") -> str:
        """The declaration of a record; comments on its fields stand above them."""
        rows = [f"{self.unbox(kind)} {attribute(part)}" for part, kind in fields]
        made = Bracketed("(", tuple(("", row) for row in rows), ")")
        documented = [(part, self.seen.doc_of(owner, part)) for part, _ in fields]
        if not any(text for _, text in documented):
            return _LINES.text(made, 1, f"public record {name}", f"{after} {{}}")
        ends = [*("," for _ in rows[1:]), ""]
        lines = "".join(
            self.comment(text, 2) + f"        {row}{end}\n"
            for (_, text), row, end in zip(documented, rows, ends, strict=True)
        )
        return f"    public record {name}(\n{lines}    ){after} {{}}\n"

    def record_codec(self, name: str, fields: Fields) -> str:
        """The statement that defines the codec of a record."""
        if not fields:
            made = call("new Codec<>", "value -> Json.object()", f"json -> new {name}()")
            return self.constant(name, made)
        read = tuple(
            ("", apply(self.codec(kind), "decode", f'fields.get("{part}")'))
            for part, kind in fields
        )
        written = tuple(
            (f'"{part}", ', apply(self.codec(kind), "encode", f"value.{attribute(part)}()"))
            for part, kind in fields
        )
        decoder = Bracketed(f"new {name}(", read, ")")
        encoder = Bracketed("Json.object(", written, ")")
        return "".join([
            f"    static final Codec<{name}> {constant(name)} = new Codec<>(\n",
            _LINES.text(encoder, 2, "value -> ", ","),
            "        json -> {\n            Map<String, Object> fields = Json.fields(json);\n",
            _LINES.text(decoder, 3, "return ", ";"),
            "        });\n",
        ])  # fmt: skip

    def simple(self, kind: t.Sort | t.Counter) -> str:
        """The declaration of a sort or a counter, and its codec."""
        name = self.types[kind.name]
        match kind:
            case t.Sort():
                part, made = "String name", "name"
            case t.Counter(opaque=False):
                part, made = "long value", "counter"
            case t.Counter(ordered=True):
                part, made = "long value", "opaqueCounter"
            case t.Counter():
                part, made = "String text", "opaque"
            case _:
                assert_never(kind)
        accessor = f"{name}::{part.split()[1]}"
        codec = call(f"Codec.{made}", f"{name}::new", accessor)
        return f"    public record {name}({part}) {{}}\n\n" + self.constant(name, codec)

    def constant(self, name: str, codec: str | Bracketed) -> str:
        """The statement that defines the codec of a type."""
        return _LINES.text(codec, 1, f"static final Codec<{name}> {constant(name)} = ", ";")

    def enum(self, kind: t.Enum) -> str:
        """The declaration of an enum, and its codec."""
        name = self.types[kind.name]
        constants = [self.member(each) for each in kind.members]
        rows = ",\n".join(f"        {each}" for each in constants)
        texts = [f'"{m}"' for m in kind.members] if {*constants} != {*kind.members} else []
        codec = call("Codec.members", f"{name}.class", *texts)
        return f"    public enum {name} {{\n{rows}\n    }}\n\n" + self.constant(name, codec)

    def union(self, kind: t.Union) -> str:
        """The declaration of a union and its cases, and their codecs."""
        name = self.types[kind.name]
        cases = [(self.cases[tag], tag, params) for tag, params in kind.cases]
        permitted = ", ".join(case for case, _, _ in cases)
        head = f"    public sealed interface {name} permits {permitted} {{}}\n"
        texts = [head]
        for case, tag, params in cases:
            doc = self.comment(self.seen.doc_of(kind.name, tag))
            texts += [
                doc + self.record(case, "", params, f" implements {name}"),
                self.record_codec(case, params),
            ]
        rows = tuple(
            ("", call("new Codec.Case<>", f'"{tag}"', f"{case}.class", constant(case)))
            for case, tag, _ in cases
        )
        texts.append(self.constant(name, Bracketed("Codec.union(", rows, ")")))
        return "\n".join(texts)

    def signature(self, operation: SeenOperation, end: str) -> str:
        """The lines of the head of a method."""
        rows = tuple(
            ("", f"{self.unbox(kind)} {attribute(name)}") for name, kind in operation.args.fields
        )
        prefix = f"{self.unbox(operation.reply)} {self.method(operation)}"
        depth, start = (2, "") if end == ";" else (1, "public ")
        throws = " throws Exception" if end == ";" else ""
        return _LINES.text(Bracketed("(", rows, ")"), depth, start + prefix, throws + end)

    def perform(self, operation: SeenOperation) -> str:
        """The case of an operation."""
        args = tuple(
            ("", apply(self.codec(kind), "decode", f'args.get("{name}")'))
            for name, kind in operation.args.fields
        )
        asked = Bracketed(f"adapter.{self.method(operation)}(", args, ")")
        whole = apply(self.codec(operation.reply), "encode", asked)
        return _LINES.text(whole, 4, f'case "{operation.name}" -> ', ";")

    def strings(self, names: Iterable[str]) -> str:
        """A list of strings, in lines."""
        made = Bracketed("List.of(", tuple(("", f'"{name}"') for name in names), ")")
        return _LINES.text(made, 3, "", ",").rstrip("\n")

    # --- skeleton --------------------------------------------------------------------------------

    def zero_observation(self) -> str:
        """The statement that returns an observation of nothing."""
        made = call("new Observation", *(self.zero(k) for _, k in self.seen.observation.fields))
        return _LINES.text(made, 2, "return ", ";")


def constant(name: str) -> str:
    """`TopicId` as `TOPIC_ID`; underscores that tell names apart stay at the end."""
    return snake(name).upper() + "_" * (len(name) - len(name.rstrip("_")))
