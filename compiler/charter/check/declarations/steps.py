"""Elaborates steps of systems: calls, channels and budgets. Channels become state; the steps that
lose messages are in `lossy_channels`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from charter.check.declarations.machines import channel_type
from charter.check.names.docs import doc_of
from charter.check.names.scopes import Channel, PartOf, TypeScope, suggest
from charter.check.names.types import BOOL, INT, UNKNOWN, count, is_unknown
from charter.check.typing.calls import arguments
from charter.check.typing.collections import domain
from charter.check.typing.patterns import holding
from charter.check.typing.statements import Body, assign, let, pick, report_misplaced
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.channels import content_of, nothing
from charter.core.walk import locals_of, nodes, statement_expressions
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
            case sx.Clear():
                clear(body, line)
            case sx.Reply() | sx.Flush() | sx.Crash():
                report_misplaced(body.scope, "this", "the branches of operations", line.span)
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
            scope.missing(message, node.operation.span, hint=hint)
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
    body: Body, scope: TypeScope, name: sx.Name, keys: Sequence[sx.Expr]
) -> tuple[Channel, tuple[ir.Expr, ...]] | None:
    """A channel, and the keys of a place of it; none after an error."""
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
    return channel, tuple(scope.check(key, end) for key, end in pairs)


@dataclass(frozen=True, slots=True)
class _Each:
    """For what a statement is done, in core, and the scope of its other parts."""

    scope: TypeScope
    each: tuple[str, ir.Expr] | None
    condition: ir.Expr | None

    def places(self, node: sx.Send | sx.Clear, channel: Channel, keys: tuple[ir.Expr, ...]) -> bool:
        """Whether each member of the set has a place of its own: the variable is one of the keys,
        of the same type, and occurs in no other one. Reports an error if not."""
        if self.each is None:
            return True
        name = self.each[0]
        own = [
            is_alike
            for key, end in zip(keys, channel.ends, strict=True)
            if isinstance(key, ir.Local) and key.name == name
            for is_alike in [key.type == end]
        ]
        readers = [key for key in keys if name in locals_of(key)]
        if own == [True] and len(readers) == 1:
            return True
        if is_unknown(self.each[1].type):
            return False  # already reported
        assert node.each.binder is not None
        message = f"`{node.each.binder.name.text}` has to be one key of `{channel.name}`"
        hint = (
            f"each member of the set needs a place of its own: `{channel.name}[x] ... for x in S`"
        )
        self.scope.error("type/mismatch", message, node.each.binder.span, hint=hint)
        return False


def _each(body: Body, node: sx.Each) -> _Each:
    """`for x in S if e`."""
    scope, each = body.scope, None
    if node.binder is not None:
        source, inner = domain(scope, node.binder.domain)
        scope, name = scope.bind(node.binder.name, inner)
        each = (name, source)
    condition = None if node.condition is None else scope.check(node.condition, BOOL)
    if node.condition is not None:
        scope = holding(scope, node.condition)
    return _Each(scope, each, condition)


def send(body: Body, node: sx.Send) -> None:
    """`send channel[...] e`: enabled only while there is room."""
    each = _each(body, node.each)
    found = _channel(body, each.scope, node.channel, node.keys)
    if found is None:
        each.scope.infer(node.message, UNKNOWN)
        return
    channel, keys = found
    message = each.scope.check(node.message, channel.message)
    kind = channel_type(channel)
    if not is_unknown(kind) and each.places(node, channel, keys):
        line: ir.Statement = ir.Send(
            channel.name, kind, keys, message, each.each, each.condition, span=node.span
        )  # fmt: skip
        body.lines.append(line)


def clear(body: Body, node: sx.Clear) -> None:
    """`clear channel[...]`: always enabled."""
    each = _each(body, node.each)
    found = _channel(body, each.scope, node.channel, node.keys)
    if found is None:
        return
    channel, keys = found
    kind = channel_type(channel)
    if not is_unknown(kind) and each.places(node, channel, keys):
        line: ir.Statement = ir.Clear(
            channel.name, kind, keys, each.each, each.condition, span=node.span
        )
        body.lines.append(line)


def receive(body: Body, node: sx.Receive) -> None:
    """`receive m from channel[...]`: enabled only while a message is there. `receive m[n] from c`:
    only if `n` are there."""
    found = _channel(body, body.scope, node.channel, node.keys)
    many = None if node.many is None else body.scope.check(node.many, INT)
    if found is None or is_unknown(channel_type(found[0])):
        body.bind(node.name, UNKNOWN)
        return
    channel, keys = found
    kind = channel_type(channel)
    content = content_of(kind, len(keys))
    message: ty.Type = channel.message
    if many is not None and isinstance(content, ty.Seq):
        message = content
    elif many is not None:
        text = f"`{channel.name}` is a {channel.discipline}: only a fifo gives several messages"
        body.scope.error("type/mismatch", text, many.span, hint="receive one, or declare a `fifo`")
        message, many = UNKNOWN, None
    name = body.bind(node.name, message)
    line: ir.Statement = ir.Receive(
        name, channel.name, kind, keys, channel.duplicating, many, span=node.name.span
    )  # fmt: skip
    body.lines.append(line)


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
