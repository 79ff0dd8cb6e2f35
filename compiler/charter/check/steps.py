"""Elaborates steps of systems: calls, channels and budgets. Channels become state, and a lossy
channel gets a step `lose_<channel>`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from charter.check.infer_calls import arguments
from charter.check.machines import FIFO_LIMIT, channel_type, content_type
from charter.check.scopes import Channel, Machine, PartOf, Scope, Signature, free_name, suggest
from charter.check.statements import Body, assign, doc_of, let, misplaced, pick
from charter.check.types import BOOL, INT, UNKNOWN, count, is_unknown
from charter.check.updates import KeyStep, Path
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import nodes, statement_expressions
from charter.diagnostics import Span
from charter.syntax import nodes as sx


def step_body(body: Body, lines: Sequence[sx.Statement]) -> None:
    """All statements of a step."""
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
        span = node.span if len(node.guard) == 1 else part.span
        body.lines.append(ir.Require(condition, label, span=span, doc=doc_of(node)))


def budget(body: Body, name: sx.Name) -> None:
    """Use up one of a budget: the step is enabled only while some is left."""
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
    """Whether a statement reads what the calls of a part have left."""
    return any(
        isinstance(node, ir.StateRef) and node.primed and node.name.startswith(f"{part}.")
        for expr in statement_expressions(line)
        for node in nodes(expr)
    )


def _bind_result(body: Body, node: sx.CallOperation, kind: ty.Type) -> str:
    return "" if node.result is None else body.bind(node.result, kind)


def _part_index(scope: Scope, node: sx.CallOperation, part: PartOf) -> ir.Expr | None:
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


def _channel(body: Body, name: sx.Name, keys: Sequence[sx.Expr]) -> tuple[Channel, Path] | None:
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
    cores = [body.scope.check(key, end) for key, end in zip(keys, channel.ends, strict=True)]
    return channel, _place(channel, cores)


def _place(channel: Channel, keys: Sequence[ir.Expr]) -> Path:
    kind, path = channel_type(channel), []
    for key in keys:
        kind = kind.value if isinstance(kind, ty.Map) else UNKNOWN
        path.append(KeyStep(key, kind))
    return tuple(path)


def _content(channel: Channel, path: Path, span: Span) -> tuple[ir.StateRef, ir.Expr]:
    """The channel's variable, and what stands at one place of it in the state before."""
    whole = ir.StateRef(channel.name, type=channel_type(channel), span=span)
    place: ir.Expr = whole
    for step in path:
        if isinstance(step, KeyStep):
            place = ir.MapGet(place, step.key, type=step.type, span=span)
    return whole, place


def send(body: Body, node: sx.Send) -> None:
    """`send channel[...] e`: enabled only while there is room."""
    found = _channel(body, node.channel, node.keys)
    if found is None:
        body.scope.infer(node.message, UNKNOWN)
        return
    channel, path = found
    message = body.scope.check(node.message, channel.message)
    if is_unknown(channel_type(channel)):
        return
    span = node.span
    whole, place = _content(channel, path, span)
    kind = place.type
    match channel.discipline:
        case "slot":
            nothing = ir.Literal(None, type=kind, span=span)
            body.require(ir.Binary("eq", place, nothing, type=BOOL, span=span), span)
            full = ir.Present(message, type=kind, span=span)
            body.write(whole, path, lambda _: full, span)
        case "set":
            one = ir.SetNew((message,), type=kind, span=span)
            body.write(
                whole, path, lambda o: ir.Binary("union", o, one, type=kind, span=span), span
            )
        case "fifo":
            size = ir.Builtin("size", (place,), type=INT, span=span)
            limit = ir.Literal(FIFO_LIMIT.plus, type=INT, span=span)
            body.require(ir.Binary("lt", size, limit, type=BOOL, span=span), span)
            body.write(
                whole,
                path,
                lambda o: ir.Builtin("append", (o, message), type=kind, span=span),
                span,
            )
        case _:
            assert_never(channel.discipline)


def receive(body: Body, node: sx.Receive) -> None:
    """`receive m from channel[...]`: enabled only while a message is there."""
    found = _channel(body, node.channel, node.keys)
    if found is None:
        body.bind(node.name, UNKNOWN)
        return
    channel, path = found
    if is_unknown(channel_type(channel)):
        body.bind(node.name, UNKNOWN)
        return
    message = take(body, channel, path, node.name)
    if not channel.duplicating:
        remove(body, channel, path, message)
        return
    truths = ir.Domain(type=ty.Set(BOOL), span=node.span)
    keep = body.bind(sx.Name(f"keep_{message.name}", span=node.span), BOOL)
    body.lines.append(ir.Pick(keep, BOOL, None, truths, False, span=node.span))
    kept = ir.Local(keep, type=BOOL, span=node.span)
    remove(body, channel, path, message, kept)


def take(body: Body, channel: Channel, path: Path, name: sx.Name) -> ir.Local:
    """Require that a message is there and name it: any of a set, the first of a fifo."""
    span = name.span
    _, place = _content(channel, path, span)
    empty = _empty(channel, span)
    body.require(ir.Binary("ne", place, empty, type=BOOL, span=span), span)
    core = body.bind(name, channel.message)
    match channel.discipline:
        case "slot":
            value = ir.Builtin("value", (place,), type=channel.message, span=span)
            body.lines.append(ir.Bind(core, value, span=span))
        case "set":
            body.lines.append(ir.Pick(core, channel.message, None, place, False, span=span))
        case "fifo":
            zero = ir.Literal(0, type=INT, span=span)
            value = ir.Builtin("item", (place, zero), type=channel.message, span=span)
            body.lines.append(ir.Bind(core, value, span=span))
        case _:
            assert_never(channel.discipline)
    return ir.Local(core, type=channel.message, span=span)


def _empty(channel: Channel, span: Span) -> ir.Expr:
    kind = content_type(channel)
    match channel.discipline:
        case "slot":
            return ir.Literal(None, type=kind, span=span)
        case "set":
            return ir.SetNew((), type=kind, span=span)
        case "fifo":
            return ir.SeqNew((), type=kind, span=span)
        case _:
            assert_never(channel.discipline)


def remove(
    body: Body, channel: Channel, path: Path, message: ir.Local, keep: ir.Expr | None = None
) -> None:
    """Take the message out of the channel, unless `keep` is true."""
    span = message.span
    whole, place = _content(channel, path, span)
    kind = place.type

    def change(old: ir.Expr) -> ir.Expr:
        rest: ir.Expr
        match channel.discipline:
            case "slot":
                rest = _empty(channel, span)
            case "set":
                one = ir.SetNew((message,), type=kind, span=span)
                rest = ir.Binary("difference", old, one, type=kind, span=span)
            case "fifo":
                one_more = ir.Literal(1, type=INT, span=span)
                rest = ir.Builtin("drop", (old, one_more), type=kind, span=span)
            case _:
                assert_never(channel.discipline)
        return rest if keep is None else ir.If(keep, old, rest, type=kind, span=span)

    body.write(whole, path, change, span)


def initial_content(channel: Channel, span: Span) -> ir.Expr:
    """An empty channel."""
    value = _empty(channel, span)
    kinds = [channel_type(channel)]
    for _ in channel.ends[1:]:
        last = kinds[-1]
        kinds.append(last.value if isinstance(last, ty.Map) else UNKNOWN)
    for name, kind in zip(reversed(channel.keys), reversed(kinds), strict=True):
        value = ir.MapNew(name, value, type=kind, span=span)
    return value


def lose(scope: Scope, machine: Machine, channel: Channel, signature: Signature) -> ir.Step:
    """The step that loses a message."""
    span = signature.span
    body = Body(scope, machine)
    keys: list[ir.Expr] = []
    for param in signature.params:
        core = body.bind(sx.Name(param.name, span=span), param.type)
        keys.append(ir.Local(core, type=param.type, span=span))
    path = _place(channel, keys)
    if is_unknown(channel_type(channel)):
        return ir.Step(signature.name, signature.params, (), (), span=span)
    name = free_name("lost", body.scope.meaning)
    message = take(body, channel, path, sx.Name(name, span=span))
    remove(body, channel, path, message)
    return ir.Step(signature.name, signature.params, tuple(body.lines), (), span=span)
