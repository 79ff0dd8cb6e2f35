"""Elaborates steps of systems: calls, channels and budgets. Channels become state, and a lossy
channel gets a step `lose_<channel>`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from charter.check.docs import doc_of
from charter.check.histories import update_histories
from charter.check.infer_calls import arguments
from charter.check.machines import channel_type
from charter.check.patterns import holding
from charter.check.scopes import (
    Channel,
    MachineScope,
    PartOf,
    Signature,
    TypeScope,
    free_name,
    suggest,
)
from charter.check.statements import Body, assign, let, misplaced, pick
from charter.check.types import BOOL, INT, UNKNOWN, count, is_unknown
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.channels import content_of, nothing
from charter.core.walk import nodes, statement_expressions
from charter.diagnostics import Span
from charter.syntax import nodes as sx


def step_body(body: Body, lines: Sequence[sx.Statement]) -> None:
    """Elaborate the statements of a step."""
    for line in lines:
        match line:
            case sx.Let():
                let(body, line)
            case sx.Pick():
                pick(body, line)
            case sx.Assign():
                assign(body, line)
            case sx.Require():
                require(body, line)
            case sx.CallOperation():
                call(body, line)
            case sx.Send():
                send(body, line)
            case sx.Receive():
                receive(body, line)
            case sx.Reply():
                misplaced(body.scope, "`reply`", "the branches of operations", line.span)
            case _:
                assert_never(line)


def require(body: Body, node: sx.Require) -> None:
    """`require e`, or its labelled parts in order. No label stands twice in a step."""
    known = {line.label for line in body.lines if isinstance(line, ir.Require)}
    for part in node.guard:
        label = "" if part.label is None else part.label.text
        if label and label in known:
            message = f"two conditions of this step are called `{label}`"
            body.scope.error("name/duplicate", message, part.span)
        known.add(label)
        condition = body.scope.check(part.condition, BOOL)
        body.scope = holding(body.scope, part.condition)
        span = node.span if len(node.guard) == 1 else part.span
        body.lines.append(ir.Require(condition, label, span=span, doc=doc_of(node)))


def budget(body: Body, name: sx.Name) -> None:
    """Take one from a budget: the step is enabled only while something is left."""
    variable = budget_variable(name.text)
    kind = ty.Int(ty.Limit("", 0), ty.Limit(name.text, 0))
    left = ir.StateRef(variable, type=kind, span=name.span)
    zero = ir.Literal(0, type=INT, span=name.span)
    one = ir.Literal(1, type=INT, span=name.span)
    body.require(ir.Binary("gt", left, zero, type=BOOL, span=name.span), name.span)
    used: ir.Expr = ir.Binary("sub", left, one, type=INT, span=name.span)
    body.lines.append(ir.Assign(variable, used, span=name.span))


def budget_variable(name: str) -> str:
    """The state variable that counts what is left of a budget."""
    return f"budget.{name}"


def call(body: Body, node: sx.CallOperation) -> None:
    """`[let r =] part[index].operation(args)`."""
    scope = body.scope
    part = body.machine.parts.get(node.instance.text)
    if part is None:
        hint = suggest(node.instance.text, body.machine.parts)
        message = f"{body.machine.name} has no part `{node.instance.text}`"
        scope.error("name/unknown", message, node.instance.span, hint=hint)
        _bind_result(body, node, UNKNOWN)
        return
    if any(_reads_after(line, node.instance.text) for line in body.lines):
        message = f"`{node.instance.text}'` is read above this call, which changes it"
        hint = "read the state after a part's last call"
        scope.error("effect/reads-after", message, node.instance.span, hint=hint)
    index = _part_index(scope, node, part)
    component = scope.globals.machines.get(part.component)
    operation = None if component is None else component.operations.get(node.operation.text)
    if operation is None:
        if component is not None:
            hint = suggest(node.operation.text, component.operations)
            message = f"{part.component} has no operation `{node.operation.text}`"
            scope.error("name/unknown", message, node.operation.span, hint=hint)
        _bind_result(body, node, UNKNOWN)
        return
    args = arguments(scope, node.args, operation.params, node.operation, operation.defaults)
    result = _bind_result(body, node, operation.result)
    body.lines.append(
        ir.CallOperation(
            result, node.instance.text, index, operation.name, args, span=node.span,
            doc=doc_of(node),
        )
    )  # fmt: skip


def _reads_after(line: ir.Statement, part: str) -> bool:
    """Whether a statement reads the state of a part after its calls."""
    return any(
        isinstance(node, ir.StateRef) and node.primed and node.name.startswith(f"{part}.")
        for expr in statement_expressions(line)
        for node in nodes(expr)
    )


def _bind_result(body: Body, node: sx.CallOperation, kind: ty.Type) -> str:
    return "" if node.result is None else body.bind(node.result, kind)


def _part_index(scope: TypeScope, node: sx.CallOperation, part: PartOf) -> ir.Expr | None:
    if part.index is None:
        if node.index is not None:
            message = f"there is only one `{node.instance.text}`"
            scope.error("type/mismatch", message, node.index.span)
        return None
    if node.index is None:
        message = f"there are many `{node.instance.text}`; say which one"
        hint = f"{node.instance.text}[...]"
        return scope.wrong("type/arity", message, node.instance.span, hint=hint)
    return scope.check(node.index, part.index)


def _channel(
    body: Body, name: sx.Name, keys: Sequence[sx.Expr]
) -> tuple[Channel, tuple[ir.Expr, ...]] | None:
    channel = body.machine.channels.get(name.text)
    if channel is None:
        hint = suggest(name.text, body.machine.channels)
        message = f"{body.machine.name} has no channel `{name.text}`"
        body.scope.error("name/unknown", message, name.span, hint=hint)
        return None
    if len(keys) != len(channel.ends):
        message = f"`{name.text}` has {count(len(channel.ends), 'end')}, given: {len(keys)}"
        body.scope.error("type/arity", message, name.span)
        return None
    pairs = zip(keys, channel.ends, strict=True)
    return channel, tuple(body.scope.check(key, end) for key, end in pairs)


def send(body: Body, node: sx.Send) -> None:
    """`send channel[...] e`: enabled only while there is room."""
    found = _channel(body, node.channel, node.keys)
    if found is None:
        body.scope.infer(node.message, UNKNOWN)
        return
    channel, keys = found
    message = body.scope.check(node.message, channel.message)
    kind = channel_type(channel)
    if not is_unknown(kind):
        body.lines.append(ir.Send(channel.name, kind, keys, message, span=node.span))


def receive(body: Body, node: sx.Receive) -> None:
    """`receive m from channel[...]`: enabled only while a message is there."""
    found = _channel(body, node.channel, node.keys)
    if found is None or is_unknown(channel_type(found[0])):
        body.bind(node.name, UNKNOWN)
        return
    channel, keys = found
    kind = channel_type(channel)
    name = body.bind(node.name, channel.message)
    span = node.name.span
    body.lines.append(ir.Receive(name, channel.name, kind, keys, channel.duplicating, span=span))


def initial_content(channel: Channel, span: Span) -> ir.Expr:
    """An empty channel."""
    kinds = [channel_type(channel)]
    value = nothing(content_of(kinds[0], len(channel.ends)), span)
    for _ in channel.ends[1:]:
        last = kinds[-1]
        kinds.append(last.value if isinstance(last, ty.Map) else UNKNOWN)
    for name, kind in zip(reversed(channel.keys), reversed(kinds), strict=True):
        value = ir.MapNew(name, value, type=kind, span=span)
    return value


def lose(
    scope: TypeScope, machine: MachineScope, channel: Channel, signature: Signature
) -> ir.Step:
    """The step that loses a message."""
    span = signature.span
    body = Body(scope, machine)
    keys: list[ir.Expr] = []
    for param in signature.params:
        core = body.bind(sx.Name(param.name, span=span), param.type)
        keys.append(ir.Local(core, type=param.type, span=span))
    kind = channel_type(channel)
    if is_unknown(kind):
        return ir.Step(signature.name, signature.params, (), (), span=span)
    name = body.bind(sx.Name(free_name("lost", body.scope.meaning), span=span), channel.message)
    body.lines.append(ir.Receive(name, channel.name, kind, tuple(keys), span=span))
    update_histories(body, signature.name)
    return ir.Step(signature.name, signature.params, tuple(body.lines), (), span=span)
