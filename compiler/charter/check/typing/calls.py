"""Types calls of functions, built-ins, constructors and records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from charter.check.names.scopes import REPLACED, Signature, TypeScope, suggest, unknown
from charter.check.names.types import count, expect_inside, is_unknown, show_type
from charter.check.typing import builtins
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.builtins import BUILTINS
from charter.diagnostics import Span
from charter.syntax import nodes as sx


def apply(scope: TypeScope, node: sx.Apply, expected: ty.Type | None) -> ir.Expr:
    """`f(a, b)`: a declared function, a case of a union, `present`, or a built-in."""
    name, known = node.name.text, scope.globals
    if name in known.functions:
        return _call(scope, node, known.functions[name])
    if name in known.ambiguous:
        for arg in node.args:
            scope.infer(arg)
        return unknown(node.span)
    if name in known.cases:
        union = known.cases[name]
        params = tuple(ir.Param(label, kind) for label, kind in union.params(name))
        args = arguments(scope, node.args, params, node.name)
        return ir.UnionNew(name, args, type=union, span=node.span)
    if name == "present":
        return _present(scope, node, expected)
    if name in BUILTINS:
        return builtins.builtin(scope, node, expected)
    for arg in node.args:
        scope.infer(arg, unknown(arg.span).type)
    hint = suggest(name, (*known.functions, *known.cases, *BUILTINS, "present"))
    if name == REPLACED:
        hint = "it is the function that an edit replaces: `replace fun f with e`"
    return scope.missing(f"there is no function `{name}`", node.name.span, hint=hint)


def _call(scope: TypeScope, node: sx.Apply, signature: Signature) -> ir.Expr:
    """A call of a function. The state that it reads is passed behind its own arguments."""
    reads = {read.name for read in signature.reads}
    own: list[sx.Expr] = []
    given: dict[str, sx.Expr] = {}
    for arg in node.args:
        if not isinstance(arg, sx.NamedArg) or arg.name.text not in reads:
            own.append(arg)
            continue
        if arg.name.text in given:
            scope.error("name/duplicate", f"`{arg.name.text}` is given twice", arg.name.span)
        given[arg.name.text] = arg.value
    args = arguments(scope, own, signature.params, node.name, signature.defaults)
    state = _state(scope, node, signature, given)
    return ir.Call(signature.name, (*args, *state), type=signature.result, span=node.span)


def _state(
    scope: TypeScope, node: sx.Apply, signature: Signature, given: Mapping[str, sx.Expr]
) -> Iterator[ir.Expr]:
    """The arguments for the state that a function reads: named arguments, or else the state of the
    caller's machine."""
    inside = scope.machine is not None and scope.machine.name == signature.machine
    missing = [r.name for r in signature.reads if not inside and r.name not in given]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        message = f"`{signature.name}` reads {names} of {signature.machine}, not visible here"
        hint = f"call it in rules of {signature.machine}"
        if not any("." in name for name in missing):
            wanted = ", ".join(f"{name}: ..." for name in missing)
            hint += f", or give what it reads: `{signature.name}(..., {wanted})`"
        scope.error("function/elsewhere", message, node.name.span, hint=hint)
    for read in signature.reads:
        if read.name in given:
            yield scope.check(given[read.name], read.type)
        elif read.name in missing:
            yield unknown(node.span)
        else:
            yield scope.state(read.name, read.type, node.span)


def arguments(
    scope: TypeScope,
    nodes: Sequence[sx.Expr],
    params: Sequence[ir.Param],
    name: sx.Name,
    defaults: Mapping[str, sx.Expr] = MappingProxyType({}),
) -> tuple[ir.Expr, ...]:
    """The arguments of a call in the order of its parameters; named ones are last in the text.
    `defaults` are used for missing ones; they read no state and no locals."""
    given = _by_name(scope, nodes, params, name)
    if not {*given} <= {param.name for param in params}:  # reported; the number follows from it
        return tuple(unknown(name.span) for _ in params)
    missing = [p for p in params if p.name not in given and p.name not in defaults]
    if missing or len(nodes) > len(params):
        message = f"`{name.text}` takes {count(len(params), 'argument')}, given: {len(nodes)}"
        wanted = ", ".join(f"{param.name}: {show_type(param.type)}" for param in params)
        scope.error("type/arity", message, name.span, hint=f"{name.text}({wanted})")
        return tuple(unknown(name.span) for _ in params)
    closed = replace(scope.without_locals(), elements={}, machine=None)
    return tuple(
        scope.check(given[param.name], param.type)
        if param.name in given
        else closed.check(defaults[param.name], param.type)
        for param in params
    )


def some_arguments(
    scope: TypeScope, nodes: Sequence[sx.Expr], called: Signature, name: sx.Name
) -> Iterator[tuple[ir.Param, ir.Expr]]:
    """The arguments of a `took` that must be equal, with their parameters; `_` stands for any.
    Named arguments need not be complete."""
    given = _by_name(scope, nodes, called.params, name)
    named = any(isinstance(node, sx.NamedArg) for node in nodes)
    if len(nodes) > len(called.params) or (len(nodes) < len(called.params) and not named):
        message = (
            f"`{name.text}` takes {count(len(called.params), 'argument')}, given: {len(nodes)}"
        )
        hint = "`_` stands for any argument"
        scope.error("type/arity", message, name.span, hint=hint)
    for param in called.params:
        value = given.get(param.name)
        if value is not None and not (isinstance(value, sx.Ident) and value.name == "_"):
            yield param, scope.check(value, param.type)


def _by_name(
    scope: TypeScope, nodes: Sequence[sx.Expr], params: Sequence[ir.Param], name: sx.Name
) -> dict[str, sx.Expr]:
    """The arguments of a call by parameter. Positional ones come first."""
    names = [param.name for param in params]
    given: dict[str, sx.Expr] = {}
    last: sx.NamedArg | None = None
    for position, node in enumerate(nodes):
        if isinstance(node, sx.NamedArg):
            last = node
            if node.name.text not in names:
                message = f"`{name.text}` has no parameter `{node.name.text}`"
                hint = suggest(node.name.text, names)
                scope.error("name/unknown", message, node.name.span, hint=hint)
            elif node.name.text in given:
                message = f"`{node.name.text}` is given twice"
                scope.error("name/duplicate", message, node.name.span)
            given[node.name.text] = node.value
        elif last is not None:
            message = "an argument without a name follows one with a name"
            scope.error("type/arity", message, node.span)
        elif position < len(names):
            given[names[position]] = node
    return given


def _present(scope: TypeScope, node: sx.Apply, expected: ty.Type | None) -> ir.Expr:
    if len(node.args) != 1:
        return scope.wrong("type/arity", "`present` takes one argument", node.span)
    guide = expect_inside(expected, ty.Option)
    inner = scope.infer(node.args[0], guide)
    if isinstance(inner.type, ty.Option):
        message = "an option of an option is not allowed"
        return scope.wrong("type/nested-option", message, node.span)
    kind = inner.type if is_unknown(inner.type) else ty.Option(inner.type)
    return ir.Present(inner, type=kind, span=node.span)


def record_literal(scope: TypeScope, node: sx.RecordLit) -> ir.Expr:
    """`Partition { ... }`: every field once."""
    kind = scope.globals.types.get(node.name.text)
    if not isinstance(kind, ty.Record) or is_unknown(kind):
        if kind is None or not is_unknown(kind):
            records = (n for n, t in scope.globals.types.items() if isinstance(t, ty.Record))
            hint = suggest(node.name.text, records)
            message = f"`{node.name.text}` is not a record"
            scope.missing(message, node.name.span, hint=hint)
        return unknown(node.span)
    given = _fields(scope, kind, node.fields)
    missing = [name for name, _ in kind.fields if name not in given]
    misspelt = sum(init.name.text not in dict(kind.fields) for init in node.fields)
    if len(missing) > misspelt:
        message = f"{kind.name} needs {', '.join(f'`{name}`' for name in missing)} too"
        scope.error("type/missing-field", message, node.name.span, hint="or update with `with`")
    fields = tuple(given.get(name, unknown(node.span)) for name, _ in kind.fields)
    return ir.RecordNew(fields, type=kind, span=node.span)


def _fields(scope: TypeScope, kind: ty.Record, inits: Sequence[sx.FieldInit]) -> dict[str, ir.Expr]:
    types = dict(kind.fields)
    given: dict[str, ir.Expr] = {}
    for init in inits:
        name = init.name.text
        if name not in types:
            message = f"{kind.name} has no field `{name}`"
            scope.missing(message, init.name.span, hint=suggest(name, types))
            continue
        if name in given:
            scope.error("name/duplicate", f"`{name}` is given twice", init.name.span)
        given[name] = scope.check(init.value, types[name])
    return given


def with_fields(scope: TypeScope, node: sx.WithFields, expected: ty.Type | None) -> ir.Expr:
    """`p with { field: value }`."""
    target = scope.infer(node.target, expected)
    if not isinstance(target.type, ty.Record) or is_unknown(target.type):
        return _not_updatable(scope, target, "fields", node.span)
    given = _fields(scope, target.type, node.fields)
    return ir.RecordWith(target, tuple(given.items()), type=target.type, span=node.span)


def with_entries(scope: TypeScope, node: sx.WithEntries, expected: ty.Type | None) -> ir.Expr:
    """`m with [key: value]`."""
    target = scope.infer(node.target, expected)
    kind = target.type
    if not isinstance(kind, ty.Map):
        return _not_updatable(scope, target, "entries", node.span)
    entries = tuple(
        (scope.check(entry.key, kind.key), scope.check(entry.value, kind.value))
        for entry in node.entries
    )
    return ir.MapWith(target, entries, type=kind, span=node.span)


def _not_updatable(scope: TypeScope, target: ir.Expr, what: str, span: Span) -> ir.Expr:
    if is_unknown(target.type):
        return unknown(span)
    hint = "take the value out first" if isinstance(target.type, ty.Option) else ""
    message = f"{show_type(target.type)} has no {what}"
    return scope.wrong("type/mismatch", message, target.span, hint=hint)
