"""Types expressions: a surface expression becomes a core expression. One function per kind of node.

Bidirectional: an expected type guides literals, `none`, `{}` and `<>` from the outside in;
everything else is inferred from the inside out. An expression with an error gets the unknown type,
and checking goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from charter.check.names.declared import no_type
from charter.check.names.scopes import REPLACED, MachineScope, TypeScope, suggest
from charter.check.names.types import BOOL, INT, UNKNOWN, count, is_finite, is_unknown, show_type
from charter.check.typing import calls, collections, control, operators
from charter.check.typing.patterns import is_case
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.transition import argument
from charter.diagnostics import Span
from charter.syntax import nodes as sx

OTHER_NONES = {"nil", "null", "None", "nothing", "undefined"}
"""What other languages call `none`."""


def expression(scope: TypeScope, node: sx.Expr, expected: ty.Type | None) -> ir.Expr:
    """The core of `node`. `expected` is a hint; the type of the result may differ (see
    `TypeScope.check`)."""
    match node:
        case sx.Ident():
            return identifier(scope, node)
        case sx.FieldOf():
            return field_of(scope, node)
        case sx.Binary():
            return operators.binary(scope, node, expected)
        case sx.Apply():
            return calls.apply(scope, node, expected)
        case sx.Index():
            return index(scope, node)
        case sx.IntLit():
            return int_literal(node, expected)
        case sx.BoolLit():
            return ir.Literal(node.value, type=BOOL, span=node.span)
        case sx.NoneLit():
            return none_literal(scope, node, expected)
        case sx.NamedArg():
            message = "only functions, operations, steps and cases have arguments with names"
            return scope.wrong("type/arity", message, node.span)
        case sx.RecordLit():
            return calls.record_literal(scope, node)
        case sx.WithFields():
            return calls.with_fields(scope, node, expected)
        case sx.WithEntries():
            return calls.with_entries(scope, node, expected)
        case sx.SetLit():
            return collections.set_literal(scope, node, expected)
        case sx.SeqLit():
            return collections.seq_literal(scope, node, expected)
        case sx.Comprehension():
            return collections.comprehension(scope, node, expected)
        case sx.MapLit():
            return collections.map_literal(scope, node, expected)
        case sx.Quantifier():
            return collections.quantifier(scope, node)
        case sx.Unary():
            return operators.unary(scope, node)
        case sx.Is():
            return is_case(scope, node)
        case sx.If():
            return control.conditional(scope, node, expected)
        case sx.LetIn():
            return control.let_in(scope, node, expected)
        case sx.Match():
            return control.matching(scope, node, expected)
        case sx.Took():
            return took(scope, node)
        case _:
            assert_never(node)


def int_literal(node: sx.IntLit, expected: ty.Type | None) -> ir.Expr:
    """A number; where a counter is expected, a value of the counter."""
    kind = expected if isinstance(expected, ty.Counter) else INT
    return ir.Literal(node.value, type=kind, span=node.span)


def none_literal(scope: TypeScope, node: sx.NoneLit, expected: ty.Type | None) -> ir.Expr:
    """`none` of the expected option."""
    if isinstance(expected, ty.Option):
        return ir.Literal(None, type=expected, span=node.span)
    if expected is None:
        return scope.wrong("type/mismatch", "the type of this option is unknown", node.span)
    if is_unknown(expected):
        return ir.Literal(None, type=UNKNOWN, span=node.span)
    message = f"expected {show_type(expected)}, found none"
    return scope.wrong("type/mismatch", message, node.span)


def identifier(scope: TypeScope, node: sx.Ident) -> ir.Expr:
    """A name: local, element, state variable, constant, member, case without parameters, type."""
    if node.primed:
        return _infer_primed(scope, node)
    local = scope.locals.get(node.name)
    if local is not None:
        return ir.Local(local.name, type=local.type, span=node.span)
    part = scope.parts.get(node.name)
    if part is not None:
        return replace(part, span=node.span)
    element = scope.elements.get(node.name)
    if element is not None:
        return ir.Literal(element.value, type=element.type, span=node.span)
    machine = scope.machine
    if machine is not None and node.name in machine.state:
        variable = machine.state[node.name]
        return ir.StateRef(variable.name, type=variable.type, span=node.span)
    return _global_name(scope, node)


def _global_name(scope: TypeScope, node: sx.Ident) -> ir.Expr:
    name, known = node.name, scope.globals
    if name in known.consts:
        return ir.ConstRef(name, type=known.consts[name], span=node.span)
    if name in known.members:
        return ir.Literal(name, type=known.members[name], span=node.span)
    if name in known.ambiguous:
        return ir.Literal(None, type=UNKNOWN, span=node.span)
    if name in known.cases:
        union = known.cases[name]
        if union.params(name):
            message = f"`{name}` has {count(len(union.params(name)), 'parameter')}"
            return scope.wrong("type/arity", message, node.span, hint=f"write `{name}(...)`")
        return ir.UnionNew(name, (), type=union, span=node.span)
    kind = ty.Bool() if name == "bool" else known.types.get(name)
    if kind is not None:
        if is_unknown(kind):
            return ir.Literal(None, type=UNKNOWN, span=node.span)
        if not is_finite(kind):
            message = f"`{name}` has no finite list of values"
            return scope.wrong("type/not-finite", message, node.span)
        return ir.Domain(type=ty.Set(kind), span=node.span)
    if scope.machine is not None and name in scope.machine.parts:
        message = f"`{name}` is a part; say which of its variables is meant"
        return scope.wrong("name/unknown", message, node.span, hint=f"`{name}.variable`")
    if name in known.missing:
        no_type(name, known.types, node.span, scope.diagnostics)
        return ir.Literal(None, type=UNKNOWN, span=node.span)
    hint = f"write `{name}(...)`" if name in known.functions else suggest(name, scope.names())
    if name == "_":
        hint = "`_` stands in patterns only: in `match`, `some`, `forall` and `the`"
    if name in OTHER_NONES:
        hint = "no value is `none`"
    if name == REPLACED:
        hint = "it is the old rule, and is allowed only in an edit that replaces a rule"
    owner = next((m.name for m in known.machines.values() if name in m.state), "")
    if owner and scope.machine is None:
        hint = f"it is state of {owner}; only functions declared `fun f(...) of {owner}` read it"
    if name == "budget" and scope.machine is not None and scope.machine.is_system:
        hint = "the rest of a budget cannot be read; count in a state variable of the system"
    return scope.missing(f"`{name}` is not declared", node.span, hint=hint)


def _infer_primed(scope: TypeScope, node: sx.Ident) -> ir.Expr:
    machine = scope.machine
    if machine is None or node.name not in machine.state:
        names = [] if machine is None else machine.state
        message = f"`{node.name}` is not a state variable, so `{node.name}'` means nothing"
        return scope.missing(message, node.span, hint=suggest(node.name, names))
    variable = machine.state[node.name]
    if not scope.primes:
        _refuse_prime(scope, node)
    return ir.StateRef(variable.name, primed=scope.primes, type=variable.type, span=node.span)


def _refuse_prime(scope: TypeScope, node: sx.Ident) -> None:
    message = f"`{node.name}'`, the state after, may be read only in stepwise and witness"
    hint = "guards and right-hand sides read the state before; give the new value a name with `let`"
    scope.error("effect/reads-after", message, node.span, hint=hint)


def field_of(scope: TypeScope, node: sx.FieldOf) -> ir.Expr:
    """A field of a record, or a variable of a part of the system."""
    part = _part_variable(scope, node)
    if part is not None:
        return part
    target = scope.infer(node.target)
    kind, name = target.type, node.field.text
    if is_unknown(kind):
        return ir.Literal(None, type=UNKNOWN, span=node.span)
    if not isinstance(kind, ty.Record):
        hint = "take the record out with `value(...)`" if isinstance(kind, ty.Option) else ""
        message = f"{show_type(kind)} has no fields"
        return scope.wrong("type/mismatch", message, node.field.span, hint=hint)
    for field, field_type in kind.fields:
        if field == name:
            return ir.FieldOf(target, name, type=field_type, span=node.span)
    hint = suggest(name, (field for field, _ in kind.fields))
    return scope.missing(f"{kind.name} has no field `{name}`", node.field.span, hint=hint)


def _part_variable(scope: TypeScope, node: sx.FieldOf) -> ir.Expr | None:
    machine = scope.machine
    if machine is None or not machine.is_system:
        return None
    head = node.target.target if isinstance(node.target, sx.Index) else node.target
    if not isinstance(head, sx.Ident) or head.name not in machine.parts:
        return None
    if head.name in scope.locals:
        return None
    if head.primed and not (scope.primes or scope.part_primes):
        _refuse_prime(scope, head)
    return _read_part(scope, machine, head, node)


def _read_part(
    scope: TypeScope, machine: MachineScope, head: sx.Ident, node: sx.FieldOf
) -> ir.Expr:
    part = machine.parts[head.name]
    component = scope.globals.machines.get(part.component)
    if component is None:
        return ir.Literal(None, type=UNKNOWN, span=node.span)
    variable = component.state.get(node.field.text)
    if variable is None:
        message = f"{part.component} has no state variable `{node.field.text}`"
        hint = suggest(node.field.text, component.state)
        return scope.missing(message, node.field.span, hint=hint)
    name = f"{head.name}.{variable.name}"
    after = head.primed and (scope.primes or scope.part_primes)
    kind = variable.type if part.index is None else ty.Map(part.index, variable.type)
    whole = scope.state(name, kind, node.span)
    if after:
        whole = ir.StateRef(name, primed=True, type=kind, span=node.span)
    if part.index is None:
        if isinstance(node.target, sx.Index):
            message = f"there is only one `{head.name}`"
            return scope.wrong("type/mismatch", message, node.target.span)
        return whole
    if not isinstance(node.target, sx.Index):
        return whole
    key = scope.check(node.target.key, part.index)
    return ir.MapGet(whole, key, type=variable.type, span=node.span)


def index(scope: TypeScope, node: sx.Index) -> ir.Expr:
    """The value of a map at a key, or an item of a sequence."""
    target = scope.infer(node.target)
    match target.type:
        case ty.Map(key=key_type, value=value_type):
            key = scope.check(node.key, key_type)
            return ir.MapGet(target, key, type=value_type, span=node.span)
        case ty.Seq(inner=inner) | ty.Ranking(inner=inner):
            position = scope.check(node.key, INT)
            return ir.Builtin("item", (target, position), type=inner, span=node.span)
        case kind if is_unknown(kind):
            scope.infer(node.key, UNKNOWN)
            return ir.Literal(None, type=UNKNOWN, span=node.span)
        case kind:
            message = f"{show_type(kind)} cannot be indexed"
            return scope.wrong("type/mismatch", message, node.target.span)


def took(scope: TypeScope, node: sx.Took) -> ir.Expr:
    """`took operation/branch(a, _)`, in an expression about a transition."""
    taken = _infer_taken(scope, node)
    operation = None if scope.machine is None else scope.machine.operations.get(node.operation.text)
    if node.args is None or operation is None:
        return taken
    for param, value in calls.some_arguments(scope, node.args, operation, node.operation):
        name = argument(operation.name, param.name)
        given = ir.Local(name, type=param.type, span=node.operation.span)
        same = ir.Binary("eq", given, value, type=BOOL, span=value.span)
        taken = ir.Binary("and", taken, same, type=BOOL, span=node.span)
    return taken


def _infer_taken(scope: TypeScope, node: sx.Took) -> ir.Expr:
    """Whether the branch was taken, with any arguments."""
    machine, name = scope.machine, node.operation.text
    if machine is None or not scope.primes:
        message = "`took` is about a transition: it may stand only in stepwise and witness"
        return scope.wrong("effect/reads-after", message, node.span)
    operation = machine.operations.get(name)
    if operation is None:
        kind = "step" if machine.is_system else "operation"
        hint = suggest(name, machine.operations)
        message = f"{machine.name} has no {kind} `{name}`"
        return scope.missing(message, node.operation.span, hint=hint)
    if node.branch is None and machine.is_system:
        return ir.Took(name, type=BOOL, span=node.span)
    if node.branch is None:
        return _took_any(name, operation.branches, node.span)
    if node.branch.text not in operation.branches:
        message = f"{name} has no branch `{node.branch.text}`"
        hint = suggest(node.branch.text, operation.branches)
        return scope.missing(message, node.branch.span, hint=hint)
    return ir.Took(f"{name}/{node.branch.text}", type=BOOL, span=node.span)


def _took_any(operation: str, branches: tuple[str, ...], span: Span) -> ir.Expr:
    """`took operation`: one of its branches."""
    found: ir.Expr = ir.Literal(False, type=BOOL, span=span)
    for position, branch in enumerate(branches):
        one = ir.Took(f"{operation}/{branch}", type=BOOL, span=span)
        found = ir.Binary("or", found, one, type=BOOL, span=span) if position else one
    return found
