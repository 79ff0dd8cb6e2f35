"""Prints the types of a component in Go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from charter.core import types as t
from charter.render.adapters import docs
from charter.render.adapters.interface import Fields, Named, SeenOperation
from charter.render.adapters.names import TakenNames, pascal, words
from charter.render.adapters.page import LanguagePage
from charter.render.text import wrap

_SDK = (
    "About", "Adapter", "Bool", "Consts", "Fault", "Given", "Greeter", "Hello", "Imager", "List",
    "MarshalJSON", "NeverIssued", "NeverIssuedText", "NotLoadable", "Observation", "Pair", "Pairs",
    "Present", "Question", "Serve", "ServeSessions", "Set", "Sorts", "UnmarshalJSON",
    "Unsupported",
)  # fmt: skip
_INITIALISMS = {"id": "ID", "ttl": "TTL", "url": "URL", "ip": "IP", "api": "API", "uuid": "UUID"}
_WIDTH = 100


def export(name: str) -> str:
    """`topic_id` as `TopicID`."""
    return "".join(_INITIALISMS.get(word, word.capitalize()) for word in words(name))


@dataclass(slots=True)
class GoPage(LanguagePage):
    """The parts of the file."""

    TAKEN: ClassVar = _SDK
    FORMS: ClassVar = {
        "bool": "bool",
        "int": "int",
        "option": "*{}",
        "set": "Set[{}]",
        "list": "List[{}]",
        "bool_map": "map[Bool]{1}",
        "map": "map[{}]{}",
        "pairs": "Pairs[{}, {}]",
    }

    members: dict[str, str] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scope = self.name_types()
        for named in self.seen.types:
            match named:
                case t.Union(cases=cases):
                    self.cases |= {tag: scope.take(export(tag)) for tag, _ in cases}
                case t.Enum(name, members):
                    start = self.types[name]
                    self.members |= {m: scope.take(start + pascal(m)) for m in members}
                case t.Sort() | t.Counter() | t.Record():
                    pass
        methods = TakenNames({"Hello", "Image", "Observe", "Start"})
        for operation in self.seen.operations:
            self.methods[operation.name] = methods.take(export(operation.name))
            args = f"{export(operation.name)}Args"
            self.types[operation.args.name] = scope.take(args)

    # --- types -----------------------------------------------------------------------------------

    def name_of(self, named: Named) -> str:
        """A type with a name, inside another one."""
        return self.types[named.name] + ("Value" if isinstance(named, t.Union) else "")

    def reply(self, operation: SeenOperation, package: str = "") -> str:
        """The type of a reply, seen from a package."""
        match operation.reply:
            case t.Union(name):
                return package + self.types[name]
            case t.Bool() | t.Int():
                return self.type(operation.reply)
            case t.Option(inner=t.Bool() | t.Int()):
                return self.type(operation.reply)
            case _:
                return _qualify(self.type(operation.reply), package)

    def signature(self, operation: SeenOperation, package: str = "") -> str:
        """The parameters and results of the method of an operation."""
        args = f"args {package}{self.types[operation.args.name]}" if operation.args.fields else ""
        return f"{self.methods[operation.name]}({args}) ({self.reply(operation, package)}, error)"

    def list_nested(self) -> list[t.Union]:
        """The unions inside other types, which need a type that reads and writes them."""
        held: list[t.Type] = [
            *(o.args for o in self.seen.operations),
            self.seen.observation,
            self.seen.given,
        ]
        held += [o.reply for o in self.seen.operations if not isinstance(o.reply, t.Union)]
        inside = {part for kind in held for part in t.inside(kind)}
        for kind in self.seen.types:
            if isinstance(kind, t.Union):
                inside |= {part for _, ps in kind.cases for _, p in ps for part in t.inside(p)}
        return [kind for kind in self.seen.types if isinstance(kind, t.Union) and kind in inside]

    # --- lines -----------------------------------------------------------------------------------

    def comment(self, text: str, depth: int = 0) -> str:
        """A comment, with its line end; "" for no text."""
        rows = wrap(text, _WIDTH - 4 * depth - 3) if text else []
        return "".join("\t" * depth + f"// {row}".rstrip() + "\n" for row in rows)

    def type_comment(self, named: t.Sort | t.Counter | t.Enum | t.Record | t.Union) -> str:
        """The comment of a type."""
        return self.comment(docs.type_doc(self.seen, named, self.types[named.name]))

    def fields(self, owner: str, fields: Fields) -> str:
        """The fields of a struct, in columns between comments as gofmt has them."""
        rows: list[str] = []
        block: list[tuple[str, str, str]] = []
        for name, kind in fields:
            doc = self.seen.doc_of(owner, name)
            if doc:
                rows += [*_columns(block), self.comment(doc, 1).rstrip("\n")]
                block = []
            block.append((export(name), self.type(kind), f'`json:"{name}"`'))
        return "".join(f"{row}\n" for row in [*rows, *_columns(block)])

    def struct(self, name: str, owner: str, fields: Fields) -> str:
        """The declaration of a struct."""
        if not fields:
            return f"type {name} struct{{}}\n"
        return f"type {name} struct {{\n{self.fields(owner, fields)}}}\n"

    def sorts(self) -> str:
        """The struct with the ids of elements."""
        rows = [
            (pascal(s.name), f"map[{self.types[s.name]}]int", f'`json:"{s.name}"`')
            for s in self.seen.sorts
        ]
        if not rows:
            return "type Sorts struct{}\n"
        return "type Sorts struct {\n" + "".join(f"{row}\n" for row in _columns(rows)) + "}\n"

    def enum(self, kind: t.Enum) -> str:
        """The constants of an enum."""
        name = self.types[kind.name]
        rows = [(self.members[m], name, f'= "{m}"') for m in kind.members]
        return "".join(f"{row}\n" for row in _columns(rows))

    def strings(self, names: Sequence[str]) -> str:
        """A slice of strings, one a line."""
        if not names:
            return "[]string{}"
        return "[]string{\n" + "".join(f'\t"{name}",\n' for name in names) + "}"


def _columns(rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Rows of three cells, aligned as gofmt aligns them."""
    first = max((len(row[0]) for row in rows), default=0)
    second = max((len(row[1]) for row in rows), default=0)
    for name, kind, tag in rows:
        yield f"\t{name:<{first}} {kind:<{second}} {tag}"


def _qualify(text: str, package: str) -> str:
    """A type with its package; the names of types begin with capitals."""
    out = ""
    for i, char in enumerate(text):
        starts = char.isupper() and not (i and (text[i - 1].isalnum() or text[i - 1] == "_"))
        out += package + char if starts else char
    return out
