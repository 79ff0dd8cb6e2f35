"""Resolves names in the declarations of a protocol and in the scope of an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from charter.check.names.types import UNKNOWN, fits, show_type
from charter.core import nodes as ir
from charter.core import types as ty
from charter.diagnostics import NOWHERE, Diagnostics, Span
from charter.formats.spelling import nearest
from charter.syntax import nodes as sx


@dataclass(frozen=True, slots=True)
class Signature:
    """The interface of a function, an operation or a step. `reads`: the state variables of
    `machine` that a function reads; those of parts are called `part.variable`."""

    name: str
    params: tuple[ir.Param, ...]
    result: ty.Type
    branches: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)
    defaults: Mapping[str, sx.Expr] = field(default_factory=dict)
    machine: str = ""
    reads: tuple[ir.Param, ...] = ()


@dataclass(frozen=True, slots=True)
class StateVariable:
    """A state variable: its name in core, its type, and its kind (durable, volatile or ghost)."""

    name: str
    type: ty.Type
    kind: Literal["durable", "volatile", "ghost"]


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel of a system. Its state variable is a map over `ends`; generated steps name their
    keys `keys`."""

    name: str
    ends: tuple[ty.Type, ...]
    keys: tuple[str, ...]
    message: ty.Type
    discipline: Literal["slot", "set", "fifo"]
    lossy: bool
    duplicating: bool
    span: Span = field(default=NOWHERE, compare=False)
    limit: ty.Limit | None = None


@dataclass(frozen=True, slots=True)
class PartOf:
    """A part of a system: its index type, if it is indexed, and its component."""

    index: ty.Type | None
    component: str


@dataclass(frozen=True, slots=True)
class MachineScope:
    """The interface of a component or a system."""

    name: str
    is_system: bool
    state: Mapping[str, StateVariable]
    operations: Mapping[str, Signature]
    parts: Mapping[str, PartOf] = field(default_factory=dict)
    channels: Mapping[str, Channel] = field(default_factory=dict)
    histories: Mapping[str, sx.StateDecl] = field(default_factory=dict)
    storage: Mapping[str, sx.StateDecl] = field(default_factory=dict)
    """The volatile and the cached state of a component."""

    @property
    def on_disk(self) -> frozenset[str]:
        """The variables that say what is on disk."""
        declared = self.storage.values()
        return frozenset(node.on_disk.text for node in declared if node.on_disk is not None)


@dataclass(frozen=True, slots=True)
class Shared:
    """A set-up, an instance or a fragment, whose lines others can include."""

    node: sx.SetupDecl | sx.InstanceDecl | sx.FragmentDecl
    params: tuple[ir.Param, ...] = ()

    @property
    def defaults(self) -> dict[str, sx.Expr]:
        """The default values of parameters."""
        return {} if isinstance(self.node, sx.InstanceDecl) else defaults_of(self.node.params)


@dataclass(frozen=True, slots=True)
class Globals:
    """All declarations of a protocol by name."""

    types: Mapping[str, ty.Type]
    members: Mapping[str, ty.Enum]
    cases: Mapping[str, ty.Union]
    consts: Mapping[str, ty.Type]
    functions: Mapping[str, Signature]
    machines: Mapping[str, MachineScope]
    sources: Mapping[str, str]
    missing: frozenset[str] = frozenset()
    """Names used as types that are not declared; reported once."""
    ambiguous: frozenset[str] = frozenset()
    """Cases that several unions declare, which is reported there."""
    setups: Mapping[str, Shared] = field(default_factory=dict)
    """Set-ups and instances, which others are `like`."""
    fragments: Mapping[str, Shared] = field(default_factory=dict)

    def meaning(self, name: str) -> str:
        """What the declaration `name` is, in words, or ""."""
        if name in self.members:
            return f"a member of {self.members[name].name}"
        if name in self.cases and not self.cases[name].params(name):
            return f"a case of {self.cases[name].name}"
        if name in self.consts:
            return "a constant"
        return "a type" if name in self.types else ""


REPLACED = "replaced"
"""In the new text of an edit: the name of the part that it replaces."""

Rules = Callable[["TypeScope", sx.Expr, ty.Type | None], ir.Expr]


@dataclass(frozen=True, slots=True)
class TypeScope:
    """The names that an expression can use, with their types. `primes`: whether `x'` may be read;
    `part_primes`: whether `part'.x` may; `parts`: the names bound by `is`; `used`: the type of each
    local of the declaration, so that no name has two types in core."""

    globals: Globals
    diagnostics: Diagnostics
    rules: Rules
    machine: MachineScope | None = None
    primes: bool = False
    part_primes: bool = False
    locals: Mapping[str, ir.Local] = field(default_factory=dict)
    elements: Mapping[str, ir.Literal] = field(default_factory=dict)
    parts: Mapping[str, ir.Expr] = field(default_factory=dict)
    used: dict[str, ty.Type] = field(default_factory=dict)

    def infer(self, node: sx.Expr, expected: ty.Type | None = None) -> ir.Expr:
        """The core expression. `expected` is a hint; the result may have another type."""
        return self.rules(self, node, expected)

    def check(self, node: sx.Expr, expected: ty.Type) -> ir.Expr:
        """The core expression, and a `type/mismatch` if it does not fit `expected`."""
        return self.fit(self.rules(self, node, expected), expected)

    def fit(self, expr: ir.Expr, expected: ty.Type) -> ir.Expr:
        """`expr` if it fits `expected`; else an error is reported, and the result has the unknown
        type."""
        if fits(expr.type, expected):
            return expr
        hint = _mismatch_hint(expr.type, expected)
        message = f"expected {show_type(expected)}, found {show_type(expr.type)}"
        return self.wrong("type/mismatch", message, expr.span, hint=hint)

    def wrong(self, code: str, message: str, span: Span, *, hint: str = "") -> ir.Expr:
        """Report an error; returns an expression of unknown type."""
        self.diagnostics.error(code, message, span, hint=hint)
        return unknown(span)

    def missing(self, message: str, span: Span, *, hint: str = "") -> ir.Expr:
        """Report a name that is declared nowhere, once for all of its uses; returns an expression
        of unknown type."""
        self.diagnostics.error_once("name/unknown", message, span, hint=hint)
        return unknown(span)

    def error(self, code: str, message: str, span: Span, *, hint: str = "") -> None:
        """Report an error."""
        self.diagnostics.error(code, message, span, hint=hint)

    def bind(self, name: sx.Name, kind: ty.Type) -> tuple[TypeScope, str]:
        """The scope in which `name` is a local of type `kind`, and its name in core. `_` may be
        bound anywhere and is never visible."""
        if name.text == "_":
            return self, self._core_name("_", kind)
        meaning = self.meaning(name.text)
        if meaning:
            message = f"`{name.text}` is {meaning} already"
            self.error("name/shadows", message, name.span, hint="choose another name")
        core = self._core_name(name.text, kind)
        local = ir.Local(core, type=kind, span=name.span)
        return self.with_local(name.text, local), core

    def with_state(self, reads: Iterable[ir.Param]) -> tuple[TypeScope, tuple[ir.Param, ...]]:
        """The scope of a function in which these state variables are parameters, and the
        parameters."""
        scope, params = self, list[ir.Param]()
        for read in reads:
            core = scope._core_name(read.name.replace(".", "_"), read.type)
            scope = scope.with_local(read.name, ir.Local(core, type=read.type))
            params.append(ir.Param(core, read.type))
        return scope, tuple(params)

    def fresh(self, stem: str, kind: ty.Type, span: Span) -> tuple[TypeScope, ir.Local]:
        """The scope with a new local that no text can name, and that local."""
        local = ir.Local(self._core_name(stem, kind), type=kind, span=span)
        return self.with_local(f"fresh {local.name}", local), local

    def with_local(self, name: str, local: ir.Local) -> TypeScope:
        """The scope in which `name` is a local."""
        return self._seeing({**self.locals, name: local}, self.parts)

    def state(self, name: str, kind: ty.Type, span: Span) -> ir.Expr:
        """The state before of a variable of this machine, `part.variable` of a part."""
        local = self.locals.get(name)
        if local is not None:
            return ir.Local(local.name, type=kind, span=span)
        return ir.StateRef(name, type=kind, span=span)

    def without_locals(self) -> TypeScope:
        """The scope in which no local is visible. Their names in core stay taken."""
        hidden = {f"outside {name}": local for name, local in self.locals.items()}
        return self._seeing(hidden, {})

    def _seeing(self, names: Mapping[str, ir.Local], parts: Mapping[str, ir.Expr]) -> TypeScope:
        """The scope with other locals and parts. `replace` takes twice as long, and there are tens
        of thousands of scopes."""
        return TypeScope(
            globals=self.globals,
            diagnostics=self.diagnostics,
            rules=self.rules,
            machine=self.machine,
            primes=self.primes,
            part_primes=self.part_primes,
            locals=names,
            elements=self.elements,
            parts=parts,
            used=self.used,
        )

    def meaning(self, name: str) -> str:
        """What `name` already means here, in words, or ""."""
        machine = self.machine
        if machine is not None and name in machine.state:
            return f"a state variable of {machine.name}"
        if name in self.locals or name in self.parts:
            return "a name of this declaration"
        if name in self.elements:
            return "an element of this instance"
        if machine is not None and name in machine.parts:
            return f"a part of {machine.name}"
        return self.globals.meaning(name)

    def _core_name(self, name: str, kind: ty.Type) -> str:
        core, number = name, 1
        visible = {local.name for local in self.locals.values()}
        while core in visible or self.used.setdefault(core, kind) != kind:
            number += 1
            core = f"{name}_{number}"
        return core

    def names(self) -> Iterable[str]:
        """Every name that an identifier could mean here, for suggestions."""
        known = self.globals
        yield from self.locals
        yield from self.parts
        yield from self.elements
        if self.machine is not None:
            yield from self.machine.state
            yield from self.machine.parts
        for table in (known.consts, known.members, known.cases, known.types):
            yield from table


def defaults_of(params: Iterable[sx.Param]) -> dict[str, sx.Expr]:
    """The default values, by parameter."""
    return {param.name.text: param.default for param in params if param.default is not None}


def free_name(name: str, meaning: Callable[[str], str]) -> str:
    """`name`, or the first of `name_2`, ... that has no meaning yet."""
    free, number = name, 1
    while meaning(free):
        number += 1
        free = f"{name}_{number}"
    return free


def unknown(span: Span) -> ir.Expr:
    """The placeholder for an expression with an error."""
    return ir.Literal(None, type=UNKNOWN, span=span)


def suggest(name: str, known: Iterable[str]) -> str:
    """A hint with the nearest name, or nothing."""
    near = nearest(name, sorted(set(known)))
    return f"did you mean `{near}`?" if near else ""


def _mismatch_hint(actual: ty.Type, expected: ty.Type) -> str:
    match actual, expected:
        case ty.Option(), _ if fits(actual.inner, expected):
            return "take the value out with `value(...)`, `default(..., ...)` or `match`"
        case _, ty.Option() if fits(actual, expected.inner):
            return "write `present(...)`"
        case ((ty.Ranking() | ty.Seq()), ty.Set()) if fits(actual.inner, expected.inner):
            return "write `set(...)`"
        case _, ty.Set() if fits(actual, expected.inner):
            return "write `{...}` around it"
        case _, ty.Map(key=key, value=value) if fits(actual, value):
            name = show_type(key)
            return f"for the same in every entry, write `[{name[0].lower()} in {name}: ...]`"
        case _, ty.Union(cases=cases):
            made = (tag for tag, params in cases if len(params) == 1 and fits(params[0][1], actual))
            tag = next(made, "")
            return f"`{tag}(...)` makes one of it" if tag else ""
        case ty.Int(), ty.Counter():
            return "only a literal may stand for a counter; use `bump`"
        case _:
            return ""
