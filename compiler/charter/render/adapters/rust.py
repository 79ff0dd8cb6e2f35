"""Prints the types of a component in Rust; serde derives how they are read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, assert_never

from charter.core import types as t
from charter.render.adapters import docs
from charter.render.adapters.interface import Fields, Named, SeenOperation
from charter.render.adapters.line_breaks import Bracketed, LineBreaker
from charter.render.adapters.names import avoid, snake, words
from charter.render.adapters.page import METHODS, LanguagePage
from charter.render.text import wrap

_TAKEN = (
    "About", "Adapter", "Any", "Asked", "AssertUnwindSafe", "BTreeMap", "BTreeSet", "Batch",
    "BufRead", "Call", "Component", "Consts", "Default", "Deserialize", "DeserializeOwned",
    "Driver", "Err", "Error", "Execution", "Failed", "Fault", "FnMut", "FnOnce", "From", "Given",
    "HashMap", "Hello", "History", "Map", "None", "NotLoadable", "Observation", "Ok", "Option",
    "Pairs", "Protocol", "Question", "Result", "Self", "Send", "Serialize", "Server", "Set",
    "Shared", "Shown", "Some", "Sorts", "Step", "String", "Unresolved", "Unsupported", "Value",
    "Vec", "Write",
)  # fmt: skip
_KEYWORDS = frozenset({
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
})  # fmt: skip
_UNRAW = frozenset({"self", "super", "crate"})
_LINES = LineBreaker("    ", 100)
# What rustfmt writes on one line: arrays, and struct variants of enums.
_ARRAY_WIDTH = 60
_SHORT_ITEM = 10
_VARIANT_WIDTH = 35


def attribute(name: str) -> str:
    """A field or a method."""
    made = snake(name)
    if made in _UNRAW:
        return f"{made}_"
    return f"r#{made}" if made in _KEYWORDS else made


@dataclass(slots=True)
class RustPage(LanguagePage):
    """The parts of the file."""

    TAKEN: ClassVar = _TAKEN
    FORMS: ClassVar = {
        "bool": "bool",
        "int": "i64",
        "option": "Option<{}>",
        "set": "Set<{}>",
        "list": "Vec<{}>",
        "bool_map": "BTreeMap<{}, {}>",
        "map": "BTreeMap<{}, {}>",
        "pairs": "Pairs<{}, {}>",
    }

    def __post_init__(self) -> None:
        names = self.name_types()
        for operation in self.seen.operations:
            args = f"{_camel_case(operation.name)}Args"
            self.types[operation.args.name] = names.take(args)

    def method(self, operation: SeenOperation) -> str:
        """The name of the method of an operation."""
        return avoid(attribute(operation.name), METHODS)

    # --- declarations ----------------------------------------------------------------------------

    def comment(self, text: str, depth: int = 0) -> str:
        """A comment of documentation; "" for no text."""
        rows = wrap(text, 96 - 4 * depth) if text else []
        return "".join("    " * depth + f"/// {row}".rstrip() + "\n" for row in rows)

    def doc(self, named: Named) -> str:
        """The comment of a type."""
        return self.comment(docs.type_doc(self.seen, named))

    def derive(self, *more: str) -> str:
        """The attribute with what is derived for a type."""
        common = ("Clone", *more, "Debug", "PartialEq", "Eq", "PartialOrd", "Ord")
        return f"#[derive({', '.join((*common, 'Serialize', 'Deserialize'))})]\n"

    def newtype(self, kind: t.Sort | t.Counter) -> str:
        """The declaration of a sort or a counter."""
        name = self.types[kind.name]
        match kind:
            case t.Sort():
                return f"{self.derive('Default')}pub struct {name}(pub String);\n"
            case t.Counter(opaque=False):
                codec, inner = "counter", "i64"
            case t.Counter(ordered=True):
                codec, inner = "opaque_counter", "i64"
            case t.Counter():
                codec, inner = "opaque", "String"
            case _:
                assert_never(kind)
        derived = self.derive(*(("Copy", "Default") if inner == "i64" else ("Default",)))
        return f'{derived}pub struct {name}(#[serde(with = "{codec}")] pub {inner});\n'

    def struct(self, name: str, owner: str, fields: Fields) -> str:
        """The declaration of a struct."""
        default = "#[serde(default)]\n" if name in ("Consts", "Sorts") else ""
        head = f"{self.derive('Default')}{default}pub struct {name} "
        if not fields:
            return f"{head}{{}}\n"
        rows = "".join(self.field(owner, named, kind, "pub ") for named, kind in fields)
        return f"{head}{{\n{rows}}}\n"

    def field(self, owner: str, name: str, kind: t.Type, visible: str) -> str:
        """The lines of a field."""
        rust = attribute(name)
        renamed = "" if rust.removeprefix("r#") == name else f'    #[serde(rename = "{name}")]\n'
        doc = self.comment(self.seen.doc_of(owner, name), 1)
        return f"{doc}{renamed}    {visible}{rust}: {self.type(kind)},\n"

    def enum(self, kind: t.Enum) -> str:
        """The declaration of an enum."""
        rows = "".join(
            ("    #[default]\n" if not i else "")
            + f'    #[serde(rename = "{member}")]\n    {_camel_case(member)},\n'
            for i, member in enumerate(kind.members)
        )
        head = f"{self.derive('Copy', 'Default')}pub enum {self.types[kind.name]} "
        return f"{head}{{\n{rows}}}\n"

    def union(self, kind: t.Union) -> str:
        """The declaration of a union, and its default."""
        name = self.types[kind.name]
        rows = "".join(self.variant(kind, tag, params) for tag, params in kind.cases)
        head = f'{self.derive()}#[serde(tag = "case")]\npub enum {name} {{\n{rows}}}\n'
        tag, params = kind.cases[0]
        value = f"{name}::{_camel_case(tag)}"
        body = f"        {value}\n"
        if params:
            filled = "".join(
                f"            {attribute(param)}: Default::default(),\n" for param, _ in params
            )
            body = f"        {value} {{\n{filled}        }}\n"
        default = f"impl Default for {name} {{\n    fn default() -> Self {{\n{body}    }}\n}}\n"
        return f"{head}\n{default}"

    def variant(self, kind: t.Union, tag: str, params: Fields) -> str:
        """The lines of a case."""
        doc = self.comment(self.seen.doc_of(kind.name, tag), 1)
        head = f'{doc}    #[serde(rename = "{tag}")]\n    {_camel_case(tag)}'
        if not params:
            return f"{head},\n"
        fields = "".join(self.field("", name, part, "") for name, part in params)
        flat = ", ".join(line.strip().rstrip(",") for line in fields.splitlines())
        if len(flat) <= _VARIANT_WIDTH and "#[" not in flat:
            return f"{head} {{ {flat} }},\n"
        deeper = "".join(f"    {line}\n" for line in fields.splitlines())
        return f"{head} {{\n{deeper}    }},\n"

    def strings(self, name: str, names: Sequence[str]) -> str:
        """A constant array of strings, in lines as rustfmt has them."""
        items = [f'"{each}"' for each in names]
        start, flat = f"pub const {name}: &[&str] = &[", ", ".join(items)
        if len(flat) <= _ARRAY_WIDTH:
            return f"{start}{flat}];\n"
        rows = items
        if all(len(item) <= _SHORT_ITEM for item in items):
            rows = [row.rstrip(",") for row in wrap(", ".join(items), 95)]
        return "\n".join([start, *(f"    {row}," for row in rows), "];\n"])

    def signature(self, operation: SeenOperation, end: str) -> str:
        """The lines of the head of a method."""
        args = self.types[operation.args.name]
        params = ["&mut self", *([f"args: {args}"] if operation.args.fields else [])]
        made = Bracketed("(", tuple(("", param) for param in params), ")")
        result = f" -> Result<{self.type(operation.reply)}, Error>{end}"
        return _LINES.text(made, 1, f"fn {self.method(operation)}", result)


def _camel_case(name: str) -> str:
    """`UNKNOWN_TOPIC` as `UnknownTopic`."""
    made = "".join(word.capitalize() for word in words(name))
    return f"{made}_" if made == "Self" else made
