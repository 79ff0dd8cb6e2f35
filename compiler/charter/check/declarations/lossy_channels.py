"""Adds a step `lose_<channel>` to each lossy channel, which takes one message out, also if the
channel is `duplicating`, and does nothing with it. Its parameters are the ends of the channel. It
is enabled only while a message is there, and histories that name it are updated."""

from __future__ import annotations

from charter.check.declarations.histories import update_histories
from charter.check.names.scopes import Channel, MachineScope, Signature, TypeScope, free_name
from charter.check.names.types import BOOL, is_unknown
from charter.check.typing.statements import Body
from charter.core import nodes as ir
from charter.syntax import nodes as sx


def lose_signature(channel: Channel) -> Signature:
    """Name and parameters of the step, for the table of names of the system."""
    params = tuple(
        ir.Param(name, kind) for name, kind in zip(channel.keys, channel.ends, strict=True)
    )
    return Signature(f"lose_{channel.name}", params, BOOL, (), channel.span)


def lose(
    scope: TypeScope, machine: MachineScope, channel: Channel, signature: Signature
) -> ir.Step:
    """The step itself; it has no lines if the type of the channel is not known."""
    span = signature.span
    body = Body(scope, machine)
    keys: list[ir.Expr] = []
    for param in signature.params:
        core = body.bind(sx.Name(param.name, span=span), param.type)
        keys.append(ir.Local(core, type=param.type, span=span))
    kind = machine.state[channel.name].type
    if is_unknown(kind):
        return ir.Step(signature.name, signature.params, (), (), span=span)
    name = body.bind(sx.Name(free_name("lost", body.scope.meaning), span=span), channel.message)
    body.lines.append(ir.Receive(name, channel.name, kind, tuple(keys), span=span))
    update_histories(body, signature.name)
    lines = tuple(body.lines)
    return ir.Step(signature.name, signature.params, lines, (), channel.name, span=span)
