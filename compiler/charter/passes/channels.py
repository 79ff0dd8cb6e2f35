"""Lowers `send`, `receive` and `clear` to requirements, choices and one update of the channel's
variable.

Changes: a step that sends requires room, one that receives requires a message, which is picked
(from a set) or bound. A second use of a channel sees what the first did: a `let` names the value
after the first, and the only update stands at the position of the last use. Whether a message that
`may_stay` is removed is decided by another pick. What is done for each member of a set is one
update of all places, which requires room in each of them. If histories read what a channel becomes
(`channel'`), a `let` above its update names the value. Keeps: outcomes, and the order of other
statements. Leaves none of: Send, Receive, Clear,
`channel'` in steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from charter.core import nodes as n
from charter.core import types as t
from charter.core.channels import Content, content_of, each_position, nothing
from charter.core.rewrite import rewrite_step
from charter.core.walk import nodes, statement_expressions
from charter.diagnostics import Span
from charter.passes.names import Fresh

BOOL, INT = t.Bool(), t.Int()


def run(model: n.Model) -> n.Model:
    """Lower the steps of all systems."""
    systems = (
        replace(system, steps=tuple(_step(step) for step in system.steps))
        for system in model.systems
    )
    return replace(model, systems=tuple(systems))


def _step(step: n.Step) -> n.Step:
    body = _Body()
    for line in step.body:
        match line:
            case n.Send():
                body.send(line)
            case n.Receive():
                body.receive(line)
            case n.Clear():
                body.clear(line)
            case _:
                body.lines.append(line)
    return _name_content(replace(step, body=tuple(body.lines)), _read_after(step))


def _read_after(step: n.Step) -> frozenset[str]:
    """The channels that a step changes, and reads after that."""
    changed = {line.channel for line in step.body if isinstance(line, n.OnChannel)}
    return frozenset(
        node.name
        for line in step.body
        for expr in statement_expressions(line)
        for node in nodes(expr)
        if isinstance(node, n.StateRef) and node.primed and node.name in changed
    )


def _name_content(step: n.Step, channels: frozenset[str]) -> n.Step:
    """The step with a `let` for what `channels` become, read in place of `channel'`."""
    if not channels:
        return step
    names: dict[str, n.Expr] = {}
    lines: list[n.Statement] = []
    for line in step.body:
        if isinstance(line, n.Assign) and line.variable in channels:
            name = n.Local(f"{line.variable}#after", type=line.value.type, span=line.span)
            names[line.variable] = name
            lines += (n.Bind(name.name, line.value, span=line.span), replace(line, value=name))
        else:
            lines.append(line)

    def replace_known(node: n.Expr) -> n.Expr:
        if isinstance(node, n.StateRef) and node.primed and node.name in names:
            return replace(names[node.name], span=node.span)
        return node

    return rewrite_step(replace(step, body=tuple(lines)), replace_known)


@dataclass(slots=True)
class _Body:
    """The statements so far."""

    lines: list[n.Statement] = field(default_factory=list)
    names: Fresh = field(default_factory=lambda: Fresh("channel"))

    def send(self, line: n.Send) -> None:
        """Lower a `send`: it requires room."""
        whole, kind = self.whole(line), _kind(line)
        place, span = _place(whole, line.keys), line.span
        value: n.Expr
        match kind:
            case t.Option():
                self.require_each(line, n.Binary("eq", place, nothing(kind, span), type=BOOL))
                value = n.Present(line.message, type=kind, span=span)
            case t.Set():
                one = n.SetNew((line.message,), type=kind, span=span)
                value = n.Binary("union", place, one, type=kind, span=span)
            case t.Seq():
                size = n.Builtin("size", (place,), type=INT, span=span)
                self.require_each(line, n.Binary("lt", size, _limit(kind, span), type=BOOL))
                value = n.Builtin("append", (place, line.message), type=kind, span=span)
            case _:
                assert_never(kind)
        self.write_each(line, whole, value)

    def clear(self, line: n.Clear) -> None:
        """Lower a `clear`."""
        self.write_each(line, self.whole(line), nothing(_kind(line), line.span))

    def require_each(self, line: n.Send, room: n.Expr) -> None:
        """Require room wherever a message is sent to."""
        span = line.message.span
        condition = replace(room, span=span)
        if line.condition is not None:
            condition = n.Binary("implies", line.condition, condition, type=BOOL, span=span)
        if line.each is not None:
            name, source = line.each
            condition = n.Quantified("forall", name, source, condition, type=BOOL, span=span)
        self.lines.append(n.Require(condition, span=span))

    def write_each(self, line: n.Repeated, whole: n.Expr, value: n.Expr) -> None:
        """Update the channel wherever the statement is done."""
        if line.condition is not None:
            kept = _place(whole, line.keys)
            value = n.If(line.condition, value, kept, type=value.type, span=line.span)
        self.lines.append(n.Assign(line.channel, _put(whole, line, value), span=line.span))

    def receive(self, line: n.Receive) -> None:
        """Lower a `receive`: it requires a message, and takes any one of a set or the first of a
        fifo."""
        span = line.span
        whole, kind = self.whole(line), _kind(line)
        place = _place(whole, line.keys)
        self.require("ne", place, nothing(kind, span))
        message = n.Local(line.name, type=kind.inner, span=span)
        if line.many is not None:
            self.receive_many(line, whole, line.many)
            return
        match kind:
            case t.Option():
                value = n.Builtin("value", (place,), type=kind.inner, span=span)
                self.lines.append(n.Bind(line.name, value, span=span))
            case t.Set():
                self.lines.append(n.Pick(line.name, kind.inner, None, place, False, span=span))
            case t.Seq():
                zero = n.Literal(0, type=INT, span=span)
                first = n.Builtin("item", (place, zero), type=kind.inner, span=span)
                self.lines.append(n.Bind(line.name, first, span=span))
            case _:
                assert_never(kind)
        self.take(line, whole, _without(kind, place, message))

    def receive_many(self, line: n.Receive, whole: n.Expr, many: n.Expr) -> None:
        """Lower a `receive` of several messages of a fifo at once."""
        kind, span = _kind(line), line.span
        place = _place(whole, line.keys)
        size = n.Builtin("size", (place,), type=INT, span=span)
        self.require("ge", many, n.Literal(1, type=INT, span=span))
        self.require("le", many, size)
        taken = n.Builtin("take", (place, many), type=kind, span=span)
        self.lines.append(n.Bind(line.name, taken, span=span))
        self.take(line, whole, n.Builtin("drop", (place, many), type=kind, span=span))

    def take(self, line: n.Receive, whole: n.Expr, rest: n.Expr) -> None:
        """Leave the `rest` in the place, or, if messages may stay, what was there."""
        span = line.span
        if line.may_stay:
            stays = n.Local(f"stays#{line.name}", type=BOOL, span=span)
            truths = n.Domain(type=t.Set(BOOL), span=span)
            self.lines.append(n.Pick(stays.name, BOOL, None, truths, False, span=span))
            place = _place(whole, line.keys)
            rest = n.If(stays, place, rest, type=rest.type, span=span)
        changed = _change(whole, line.keys, rest)
        self.lines.append(n.Assign(line.channel, changed, span=line.span))

    def require(self, op: n.RichOp, left: n.Expr, right: n.Expr) -> None:
        """Add a requirement."""
        condition = n.Binary(op, left, right, type=BOOL, span=right.span)
        self.lines.append(n.Require(condition, span=right.span))

    def whole(self, line: n.ChannelUse) -> n.Expr:
        """The channel after the statements so far. If one of them updates it, a `let` that names
        the value replaces the update."""
        for other in self.lines:
            if isinstance(other, n.Assign) and other.variable == line.channel:
                self.lines.remove(other)
                name = n.Local(self.names.next(), type=line.type, span=line.span)
                self.lines.append(n.Bind(name.name, other.value, span=other.span))
                return name
        return n.StateRef(line.channel, type=line.type, span=line.span)


def _kind(line: n.ChannelUse) -> Content:
    return content_of(line.type, len(line.keys))


def _place(whole: n.Expr, keys: Sequence[n.Expr]) -> n.Expr:
    """The content of a channel at `keys`."""
    for key in keys:
        whole = n.MapGet(whole, key, type=t.map_of(whole.type).value, span=key.span)
    return whole


def _change(whole: n.Expr, keys: Sequence[n.Expr], value: n.Expr) -> n.Expr:
    """`whole` with `value` at `keys`."""
    if not keys:
        return value
    key, *rest = keys
    entry = (key, _change(_place(whole, (key,)), rest, value))
    return n.MapWith(whole, (entry,), type=whole.type, span=whole.span)


def _put(whole: n.Expr, line: n.Repeated, value: n.Expr) -> n.Expr:
    """`whole` with `value` at the keys of a statement; if it is done for each member of a set, at
    the keys of each of them."""
    at = each_position(line)
    if line.each is None or at is None:
        return _change(whole, line.keys, value)
    outer = _place(whole, line.keys[:at])
    inner = _place(outer, line.keys[at : at + 1])
    name, source = line.each
    one = _change(inner, line.keys[at + 1 :], value)
    if not isinstance(source, n.Domain):
        member = n.Binary("in", line.keys[at], source, type=BOOL, span=line.span)
        one = n.If(member, one, inner, type=inner.type, span=line.span)
    table = n.MapNew(name, one, type=outer.type, span=line.span)
    return _change(whole, line.keys[:at], table)


def _without(kind: Content, old: n.Expr, message: n.Expr) -> n.Expr:
    span = message.span
    match kind:
        case t.Option():
            return nothing(kind, span)
        case t.Set():
            one = n.SetNew((message,), type=kind, span=span)
            return n.Binary("difference", old, one, type=kind, span=span)
        case t.Seq():
            one_more = n.Literal(1, type=INT, span=span)
            return n.Builtin("drop", (old, one_more), type=kind, span=span)
        case _:
            assert_never(kind)


def _limit(kind: t.Seq, span: Span) -> n.Expr:
    """How many messages fit, as an expression."""
    plus = n.Literal(kind.limit.plus, type=INT, span=span)
    if not kind.limit.const:
        return plus
    const = n.ConstRef(kind.limit.const, type=INT, span=span)
    return n.Binary("add", const, plus, type=INT, span=span) if kind.limit.plus else const
