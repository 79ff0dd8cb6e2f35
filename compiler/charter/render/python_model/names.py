"""Makes Python names for the names of a charter."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files as resources

from charter.core import nodes as n
from charter.render.text import plural


def _list_defined(template: str) -> frozenset[str]:
    """The functions, classes and types that a template defines; the template must be a valid
    module."""
    file = resources("charter.render.python_model") / "templates" / template
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


PRELUDE = _list_defined("prelude.py.j2") | {"dataclass", "replace"}
"""The names in the module that all models share. Built-in functions that Python lacks are defined
there, and what makes records."""
USED = frozenset({
    "Enum", "Json", "NewType", "Protocol", "Sorts", "World", "dataclass", "field", "product",
    "replace", "self", "world", "initial", "outcomes", "encode", "decode", "observe", "given",
    "in_json", "never_issued", "allowed", "subject", "after", "sorts", "consts", "Changed", "begin",
    "instead_of", "fails", "faults", "images",
    # Python's built-ins: hiding one of them would mislead readers.
    "abs", "all", "any", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "dir",
    "divmod", "enumerate", "eval", "exec", "filter", "float", "format", "frozenset", "hash", "help",
    "hex", "id", "input", "int", "iter", "len", "list", "map", "max", "min", "next", "object",
    "oct", "open", "ord", "pow", "print", "property", "range", "repr", "reversed", "round", "set",
    "slice", "sorted", "str", "sum", "super", "tuple", "type", "vars", "zip",
})  # fmt: skip
"""Names that a generated page uses for itself."""


def camel(name: str) -> str:
    """`stale_epoch` as `StaleEpoch`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(name: str) -> str:
    """`BrokerEpoch` as `broker_epoch`."""
    out = ""
    for i, char in enumerate(name):
        starts_word = char.isupper() and i > 0 and not name[i - 1].isupper()
        out += ("_" if starts_word and out[-1:] != "_" else "") + char.lower()
    return out


def safe(name: str, taken: Iterable[str] = ()) -> str:
    """`name`, followed by underscores until it is neither a keyword nor `taken`."""
    forbidden = frozenset(taken)
    while keyword.iskeyword(name) or name in forbidden or name in ("l", "O", "I", "_"):
        name += "_"
    return name


def is_path(text: str) -> bool:
    """Whether a text is a name, or names with dots between them."""
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in text.split("."))


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one page. `types` are by name of the charter; `cases` by tag. No local has one
    that is `hidden`, as it would hide what the page uses."""

    types: dict[str, str] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    sorts: dict[str, str] = field(default_factory=dict)
    consts: dict[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        hidden = PRELUDE | USED | {*self.functions.values(), *self.types.values()}
        object.__setattr__(self, "hidden", hidden)

    @staticmethod
    def of(model: n.Model, component: n.Component) -> Names:
        """Names without clashes; deterministic."""
        taken = set(PRELUDE | USED) | {camel(component.name)}

        def claim(name: str) -> str:
            chosen = safe(name, taken)
            taken.add(chosen)
            return chosen

        declared = [*(s.name for s in model.sorts), *(c.name for c in model.counters)]
        declared += [*(e.name for e in model.enums), *(r.name for r in model.records)]
        types = {name: claim(name) for name in (*declared, *(u.name for u in model.unions))}
        cases = {tag: claim(camel(tag)) for union in model.unions for tag, _ in union.cases}
        functions = {function.name: claim(function.name) for function in model.functions}
        sorts = {sort.name: safe(plural(snake(sort.name))) for sort in model.sorts}
        consts = {const: safe(const, sorts.values()) for const, _ in model.consts}
        return Names(types, cases, functions, sorts, consts)

    def local(self, name: str) -> str:
        """The name of a parameter or another local; it hides no name that the page uses."""
        return safe(name, self.hidden)

    def agrees(self, other: Names) -> bool:
        """Whether what both pages name has the same name on both."""
        pairs = (
            (self.types, other.types),
            (self.cases, other.cases),
            (self.functions, other.functions),
            (self.sorts, other.sorts),
            (self.consts, other.consts),
        )
        return all(a[name] == b[name] for a, b in pairs for name in a.keys() & b.keys())

    @staticmethod
    def attribute(name: str) -> str:
        """A field of a record, a variable of a component, or an operation."""
        return safe(name, ("world", "initial"))
