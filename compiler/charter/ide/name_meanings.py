"""Notes what the names in expressions mean, while the checks elaborate a protocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from charter.check.names.scopes import TypeScope
from charter.check.typing.expressions import expression
from charter.core import nodes as ir
from charter.core import types as ty
from charter.diagnostics import NOWHERE, Span
from charter.ide.index import Key
from charter.syntax import nodes as sx

Place = tuple[str, int, int]
Named = tuple[Key, Span]
HOLE = "hole__"
"""The name that stands where the text of a completion is missing."""


def place_of(span: Span) -> Place:
    """A span as a small key of dictionaries."""
    return span.source.name, span.start, span.end


def local(span: Span) -> Key:
    """The key of a local by the span of its declaration."""
    return "local", span.source.name, str(span.start)


@dataclass(frozen=True, slots=True)
class Hole:
    """Where a completion stands: its scope, and behind a dot what stands before it."""

    scope: TypeScope
    before: sx.Expr | None = None


@dataclass(slots=True)
class Notes:
    """Typing rules that note the type of each expression, and the names in it with their keys.
    Names whose declaration the scope does not know are noted in `free`: parameters of shared lines
    and elements of instances."""

    types: dict[Place, ty.Type] = field(default_factory=dict)
    named: list[Named] = field(default_factory=list)
    locals: dict[Key, ty.Type] = field(default_factory=dict)
    free: list[tuple[str, Span]] = field(default_factory=list)
    state: dict[tuple[str, str], ty.Type] = field(default_factory=dict)
    hole: Hole | None = None

    def __call__(self, scope: TypeScope, node: sx.Expr, expected: ty.Type | None) -> ir.Expr:
        """The core expression by the rules of the language."""
        core = expression(scope, node, expected)
        self.types.setdefault(place_of(node.span), core.type)
        match node:
            case sx.Ident():
                self._name(scope, node, core.type)
            case sx.FieldOf():
                self._field(scope, node)
            case sx.Apply():
                self._call(scope, node)
            case sx.RecordLit():
                self._note(("global", node.name.text), node.name.span)
                self._fields(node.name.text, node.fields)
            case sx.WithFields():
                kind = self.types.get(place_of(node.target.span))
                if isinstance(kind, ty.Record):
                    self._fields(kind.name, node.fields)
            case sx.Match():
                self._tags(node.subject, (case.tag for case in node.cases))
            case sx.Took():
                self._took(scope, node)
            case _:
                pass
        return core

    def _note(self, key: Key, span: Span) -> None:
        self.named.append((key, span))

    def _fields(self, record: str, inits: Iterable[sx.FieldInit]) -> None:
        for init in inits:
            self._note(("field", record, init.name.text), init.name.span)

    def _tags(self, subject: sx.Expr, tags: Iterable[sx.Name]) -> None:
        if isinstance(self.types.get(place_of(subject.span)), ty.Enum | ty.Union):
            for tag in tags:
                self._note(("global", tag.text), tag.span)

    def _name(self, scope: TypeScope, node: sx.Ident, kind: ty.Type) -> None:
        name, machine = node.name, scope.machine
        if name == HOLE:
            self.hole = Hole(scope)
        start = Span(node.span.source, node.span.start, node.span.start + len(name))
        bound = scope.locals.get(name) or scope.parts.get(name)
        if node.primed or bound is None or bound.span == NOWHERE:
            if not node.primed and name in scope.elements:
                self.free.append((name, start))
            elif machine is not None and name in machine.state:
                self._note(("state", machine.name, name), start)
            else:
                self._note(("global", name), start)
        elif bound.span.source.text[bound.span.start : bound.span.end] == name:
            self._note(local(bound.span), start)
            self.locals.setdefault(local(bound.span), kind)
        else:
            self.free.append((name, start))

    def _field(self, scope: TypeScope, node: sx.FieldOf) -> None:
        if node.field.text == HOLE:
            self.hole = Hole(scope, node.target)
        head = node.target.target if isinstance(node.target, sx.Index) else node.target
        machine = scope.machine
        part = head.name if isinstance(head, sx.Ident) and head.name not in scope.locals else ""
        if machine is not None and part in machine.parts:
            span = Span(head.span.source, head.span.start, head.span.start + len(part))
            self._note(("state", machine.name, part), span)
            component = machine.parts[part].component
            self._note(("state", component, node.field.text), node.field.span)
            return
        kind = self.types.get(place_of(node.target.span))
        if isinstance(kind, ty.Record):
            self._note(("field", kind.name, node.field.text), node.field.span)

    def _call(self, scope: TypeScope, node: sx.Apply) -> None:
        name, known = node.name.text, scope.globals
        key: Key = ("global", name)
        params: Key = ("param", known.cases[name].name if name in known.cases else "", name)
        if name in known.functions:
            key, params = ("function", name), ("param", "function", name)
            called = known.functions[name]
            if called.machine:
                self.arguments(("state", called.machine), node.args)
        self._note(key, node.name.span)
        self.arguments(params, node.args)

    def arguments(self, owner: Key, args: Iterable[sx.Expr]) -> None:
        """Note the names of named arguments; `owner` is the key without the name. A name may be
        noted with several keys: at most one of them is declared."""
        for arg in args:
            if isinstance(arg, sx.NamedArg):
                self._note((*owner, arg.name.text), arg.name.span)

    def _took(self, scope: TypeScope, node: sx.Took) -> None:
        if scope.machine is None:
            return
        place = (scope.machine.name, node.operation.text)
        self._note(("operation", *place), node.operation.span)
        if node.branch is not None:
            self._note(("branch", *place, node.branch.text), node.branch.span)
        self.arguments(("param", *place), node.args or ())
