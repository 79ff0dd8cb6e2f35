"""Registers every declared name with its type first, so that order does not matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from charter.check.names.scopes import Signature, defaults_of, suggest
from charter.check.names.types import BOOL, UNKNOWN, is_finite, is_unknown, show_type
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.builtins import BUILTINS
from charter.diagnostics import Diagnostics, Span
from charter.formats.spelling import nearest
from charter.syntax import nodes as sx

DEEPEST = 100
"""How deep types may be nested: later phases walk them by recursion."""
LARGEST = 1_000
"""How many parts a declared type may have: engines keep a place for each."""

TypeDecl = sx.SortDecl | sx.CounterDecl | sx.EnumDecl | sx.RecordDecl | sx.UnionDecl | sx.AliasDecl
_RESERVED = frozenset((*BUILTINS, "present", "none", "bool", "int"))
NO_LIMIT = ty.Limit("?", 0)
"""The limit of a type that has an error."""


@dataclass(slots=True)
class Namespace:
    """One namespace; says where a name was declared first when it is declared again."""

    diagnostics: Diagnostics
    first: dict[str, Span] = field(default_factory=dict)

    def add(self, name: str, span: Span) -> bool:
        """False, and an error, if the name is taken."""
        if name in self.first:
            notes = (("it was declared here", self.first[name]),)
            message = f"`{name}` is declared twice"
            self.diagnostics.error("name/duplicate", message, span, notes=notes)
            return False
        self.first[name] = span
        return True


def no_type(name: str, known: Iterable[str], span: Span, diagnostics: Diagnostics) -> None:
    """Report an unknown type name, once for all of its uses."""
    message, hint = f"there is no type `{name}`", suggest(name, (*known, "bool"))
    diagnostics.error_once("name/unknown", message, span, hint=hint)


@dataclass(slots=True)
class TypeResolver:
    """Resolves surface types. A declaration is resolved when it is first needed."""

    diagnostics: Diagnostics
    declared: dict[str, TypeDecl]
    consts: dict[str, ty.Type] = field(default_factory=dict)
    resolved: dict[str, ty.Type] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    depths: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def find_type(self, name: str, span: Span) -> ty.Type:
        """The type called `name`."""
        if name == "bool":
            return BOOL
        found = self._find_type(name, span)
        depth = self.depths.get(name, 0) + 1
        if self.open and depth > DEEPEST:
            message = f"types are nested more than {DEEPEST} levels deep"
            self.diagnostics.error_once("syntax/too-deep", message, span)
            return UNKNOWN
        if self.open:
            self.depths[self.open[-1]] = max(depth, self.depths.get(self.open[-1], 0))
        return found

    def _find_type(self, name: str, span: Span) -> ty.Type:
        if name in self.resolved:
            return self.resolved[name]
        if name not in self.declared:
            self.missing.add(name)
            no_type(name, self.declared, span, self.diagnostics)
            return UNKNOWN
        if name in self.open:
            message = f"`{name}` contains itself, so its values would be infinite"
            self.diagnostics.error("type/not-finite", message, span)
            return UNKNOWN
        self.open.append(name)
        found = self.resolved[name] = self._declaration(self.declared[name])
        self.open.pop()
        self._measure(self.declared[name], found)
        return found

    def _measure(self, node: TypeDecl, found: ty.Type) -> None:
        """Report a type with too many parts, if no type inside has too many already."""
        name, size = node.name.text, self._size(found)
        self.sizes[name] = size
        nominal = (part for part in ty.inside(found) if isinstance(part, ty.Record | ty.Union))
        inner = (self.sizes.get(part.name, 0) for part in nominal if part is not found)
        if size > LARGEST and max(inner, default=0) <= LARGEST:
            message = f"`{name}` has {size:,} parts; a type has at most {LARGEST:,}"
            hint = "hold the inner values in a map, once each, and name them by a sort"
            self.diagnostics.error("type/too-large", message, node.span, hint=hint)

    def _size(self, kind: ty.Type) -> int:
        """How many parts a type has: itself, and those of all types inside, each time they stand
        there."""
        match kind:
            case ty.Record(name=name) | ty.Union(name=name) if name in self.sizes:
                return self.sizes[name]
            case ty.Record(fields=fields):
                return 1 + sum(self._size(held) for _, held in fields)
            case ty.Union(cases=cases):
                return 1 + sum(self._size(held) for _, params in cases for _, held in params)
            case ty.Map(key=key, value=value):
                return 1 + self._size(key) + self._size(value)
            case ty.Option(inner) | ty.Set(inner) | ty.Seq(inner) | ty.Ranking(inner):
                return 1 + self._size(inner)
            case _:
                return 1

    def _declaration(self, node: TypeDecl) -> ty.Type:
        name = node.name.text
        match node:
            case sx.SortDecl():
                return ty.Sort(name)
            case sx.CounterDecl():
                return ty.Counter(name, node.opaque, node.ordered)
            case sx.EnumDecl():
                return ty.Enum(name, tuple(member.text for member in node.members))
            case sx.AliasDecl():
                return self.type(node.type)
            case sx.RecordDecl():
                return self._record(node)
            case sx.UnionDecl():
                return self._union(node)
            case _:
                assert_never(node)

    def _record(self, node: sx.RecordDecl) -> ty.Type:
        names = Namespace(self.diagnostics)
        fields: list[tuple[str, ty.Type]] = []
        for line in node.fields:
            kind = self.type(line.type)
            fields += [(name.text, kind) for name in line.names if names.add(name.text, name.span)]
        return ty.Record(node.name.text, tuple(fields))

    def _union(self, node: sx.UnionDecl) -> ty.Type:
        cases = tuple((case.name.text, self._params(case.params)) for case in node.cases)
        return ty.Union(node.name.text, cases)

    def _params(self, params: Iterable[sx.Param]) -> tuple[tuple[str, ty.Type], ...]:
        names = Namespace(self.diagnostics)
        return tuple(
            (param.name.text, self.type(param.type))
            for param in params
            if names.add(param.name.text, param.name.span)
        )

    def params(self, params: Iterable[sx.Param]) -> tuple[ir.Param, ...]:
        """Parameters of a function, an operation or a step."""
        return tuple(ir.Param(name, kind) for name, kind in self._params(params))

    def type(self, node: sx.Type) -> ty.Type:
        """The type that `node` writes."""
        match node:
            case sx.NamedType():
                return self.find_type(node.name, node.span)
            case sx.IntType():
                return self._int(node)
            case sx.WrappedType():
                return self._wrap(node)
            case sx.SeqType():
                inner, limit = self.type(node.inner), self.limit(node.limit)
                unknown = is_unknown(inner) or limit == NO_LIMIT
                return UNKNOWN if unknown else ty.Seq(inner, limit)
            case sx.MapType():
                return self._map(node)
            case _:
                assert_never(node)

    def _int(self, node: sx.IntType) -> ty.Type:
        low, high = self.limit(node.low), self.limit(node.high)
        if NO_LIMIT in (low, high):
            return UNKNOWN
        if low.const == high.const and low.plus > high.plus:
            message = f"the range {low.plus}..{high.plus} is empty"
            self.diagnostics.error("int/out-of-range", message, node.span)
        return ty.Int(low, high)

    def _wrap(self, node: sx.WrappedType) -> ty.Type:
        inner = self.type(node.inner)
        if is_unknown(inner):
            return UNKNOWN
        match node.wrapper:
            case "set":
                return ty.Set(inner)
            case "option":
                if isinstance(inner, ty.Option):
                    message = "an option of an option is not allowed"
                    hint = "declare a union with a case for each meaning"
                    self.diagnostics.error("type/nested-option", message, node.span, hint=hint)
                    return UNKNOWN
                return ty.Option(inner)
            case "ranking":
                return ty.Ranking(self._finite(inner, node.inner.span, "a ranking is"))
            case _:
                assert_never(node.wrapper)

    def _map(self, node: sx.MapType) -> ty.Type:
        key, value = self.type(node.key), self.type(node.value)
        if is_unknown(key) or is_unknown(value):
            return UNKNOWN
        return ty.Map(self._finite(key, node.key.span, "the keys of a map are"), value)

    def _finite(self, kind: ty.Type, span: Span, what: str) -> ty.Type:
        if is_unknown(kind) or is_finite(kind):
            return kind
        message = f"{what} of a finite type, {show_type(kind)} is not"
        hint = "use a sort, whose elements an instance lists, an enum, `bool` or `int a..b`"
        self.diagnostics.error("type/not-finite", message, span, hint=hint)
        return UNKNOWN

    def limit(self, node: sx.Expr) -> ty.Limit:
        """A number, a constant, or a constant plus or minus a number; `NO_LIMIT`, and an error, if
        there is no such constant, nor one with a similar name."""
        match node:
            case sx.IntLit():
                return ty.Limit("", node.value)
            case sx.Unary(op="-", operand=sx.IntLit(value=value)):
                return ty.Limit("", -value)
            case sx.Ident(name=name) if isinstance(self.consts.get(name), ty.Int):
                return ty.Limit(name, 0)
            case sx.Ident():
                hint = suggest(node.name, self.consts)
                message = f"`{node.name}` is not a constant of the protocol"
                self.diagnostics.error("name/unknown", message, node.span, hint=hint)
                numbers = (name for name, kind in self.consts.items() if isinstance(kind, ty.Int))
                meant = nearest(node.name, numbers)
                return ty.Limit(meant, 0) if meant else NO_LIMIT
            case sx.Binary(op="+" | "-", right=sx.IntLit(value=value)):
                base = self.limit(node.left)
                if base == NO_LIMIT:
                    return base
                return ty.Limit(base.const, base.plus + (value if node.op == "+" else -value))
            case _:
                message = "a limit is a number, a constant, or a constant plus a number"
                self.diagnostics.error("type/mismatch", message, node.span)
                return ty.Limit("", 0)


def declarations(files: Iterable[sx.File]) -> Iterator[sx.Declaration]:
    """All declarations of a protocol."""
    for file in files:
        yield from file.declarations


def collect_types(files: sx.Protocol, diagnostics: Diagnostics) -> TypeResolver:
    """Every type and constant of the protocol."""
    values = Namespace(diagnostics)
    types = TypeResolver(diagnostics, {})
    for node in declarations(files):
        if isinstance(node, TypeDecl):
            if _check_name(node.name, diagnostics) and values.add(node.name.text, node.name.span):
                types.declared[node.name.text] = node
        elif isinstance(node, sx.ConstDecl) and values.add(node.name.text, node.name.span):
            types.consts[node.name.text] = _const_type(types.type(node.type), node, diagnostics)
    for name, decl in types.declared.items():
        types.find_type(name, decl.name.span)
        if isinstance(decl, sx.EnumDecl):
            for member in decl.members:
                values.add(member.text, member.span)
        elif isinstance(decl, sx.UnionDecl):
            for case in decl.cases:
                values.add(case.name.text, case.name.span)
    types.resolved = {name: types.resolved[name] for name in types.declared}
    return types


def _const_type(kind: ty.Type, node: sx.ConstDecl, diagnostics: Diagnostics) -> ty.Type:
    """The type of a constant. A question and an instance give a constant as a number."""
    if isinstance(kind, ty.Int | ty.Bool | ty.Counter) or is_unknown(kind):
        return kind
    message = f"a constant is a number or a bool, so it cannot be of {show_type(kind)}"
    start = f"`start {node.name.text} = ...`"
    hint = f"declare a state variable that nothing changes; an instance has {start}"
    diagnostics.error("type/mismatch", message, node.type.span, hint=hint)
    return UNKNOWN


def _check_name(name: sx.Name, diagnostics: Diagnostics) -> bool:
    if name.text not in _RESERVED:
        return True
    diagnostics.error("name/shadows", f"`{name.text}` is built in", name.span)
    return False


def collect_functions(
    files: sx.Protocol, types: TypeResolver, diagnostics: Diagnostics
) -> dict[str, Signature]:
    """The signature of every function."""
    names = Namespace(diagnostics)
    functions: dict[str, Signature] = {}
    for node in declarations(files):
        if not isinstance(node, sx.FunDecl):
            continue
        name = node.name
        if _check_name(name, diagnostics) and names.add(name.text, name.span):
            params, result = types.params(node.params), types.type(node.result)
            functions[name.text] = Signature(
                name.text, params, result, (), name.span, defaults_of(node.params)
            )
    return functions


def members_of(types: TypeResolver) -> dict[str, ty.Enum]:
    """Enum members are global names."""
    enums = [kind for kind in types.resolved.values() if isinstance(kind, ty.Enum)]
    return {member: enum for enum in enums for member in enum.members}


def cases_of(types: TypeResolver) -> dict[str, ty.Union]:
    """Cases of unions are global names."""
    return dict(_cases(types))


def ambiguous_cases(types: TypeResolver) -> frozenset[str]:
    """The cases that several unions declare."""
    counted = Counter(tag for tag, _ in _cases(types))
    return frozenset(tag for tag, unions in counted.items() if unions > 1)


def _cases(types: TypeResolver) -> Iterator[tuple[str, ty.Union]]:
    unions = (kind for kind in types.resolved.values() if isinstance(kind, ty.Union))
    return ((tag, union) for union in unions for tag, _ in union.cases)
