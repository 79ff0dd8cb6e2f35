"""Which messages a step receives and sends, on one way through it.

In core a channel is a variable: what a step takes out of it and puts into it is one update of that
variable, in the shapes that `charter.check.steps` writes. They are read back here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.evaluate import Locals, Scope
from charter.semantics.machine import Machine


@dataclass(frozen=True, slots=True)
class Edit:
    """Of the place of a channel at `keys`: a message is `sent` there, or (None) one is taken out,
    which `named` says, or (None) the first one; with a local `keep` that is true it stays there."""

    channel: str
    keys: tuple[n.Expr, ...]
    sent: n.Expr | None = None
    named: n.Expr | None = None
    keep: str = ""


@dataclass(frozen=True, slots=True)
class Mail:
    """A message and its type, sent to or received from the place of a `channel` at `ends`. `stays`:
    it was received, and can be received again; or it was sent, where the very same lay already."""

    channel: str
    ends: tuple[Value, ...]
    type: t.Type
    message: Value
    is_sent: bool
    stays: bool


def edits(step: n.Step, channels: Sequence[str]) -> Iterator[Edit]:
    """What a step takes out of channels and puts into them, one channel after the other."""
    for line in step.body:
        if isinstance(line, n.Assign) and line.variable in channels:
            yield from _edits(Edit(line.variable, ()), line.value)


def _edits(at: Edit, content: n.Expr) -> Iterator[Edit]:
    """The edits that have made `content`, in their order."""
    match content:
        case n.MapWith(target=target, entries=((key, value),)):
            yield from _edits(at, target)
            yield from _edits(replace(at, keys=(*at.keys, key)), value)
        case n.If(condition=n.Local(name=keep), otherwise=rest):
            found = list(_edits(at, rest))
            yield from (*found[:-1], *(replace(last, keep=keep) for last in found[-1:]))
        case n.Binary(op="union", left=old, right=n.SetNew(items=(message,))):
            yield from (*_edits(at, old), replace(at, sent=message))
        case n.Binary(op="difference", left=old, right=n.SetNew(items=(message,))):
            yield from (*_edits(at, old), replace(at, named=message))
        case n.Builtin(name="append", args=(old, message)):
            yield from (*_edits(at, old), replace(at, sent=message))
        case n.Builtin(name="drop", args=(old, _)):
            yield from (*_edits(at, old), at)
        case n.Present(inner=message):
            yield replace(at, sent=message)
        case n.Literal(value=None):
            yield at
        case _:  # what stood there before the step
            return


def keys_of(machine: Machine, channel: str) -> tuple[t.Type, ...]:
    """The types of a channel's ends."""
    kind = next(v.type for v in machine.variables if v.name == channel)
    found: list[t.Type] = []
    while isinstance(kind, t.Map) and len(found) < 2:
        found.append(kind.key)
        kind = kind.value
    return tuple(found)


def mail_of(
    machine: Machine, system: n.System, step: n.Step, scope: Scope, names: Locals
) -> tuple[Mail, ...]:
    """The mail of a way through a step, from one state to the other, with these locals; what it
    receives comes first."""
    evaluator = machine.evaluator
    kinds = {v.name: v.type for v in system.state}
    found: list[Mail] = []
    for edit in edits(step, system.channels):
        kind, place = kinds[edit.channel], scope.before[edit.channel]
        ends = tuple(evaluator.value(key, scope, names) for key in edit.keys)
        for end in ends:
            assert isinstance(kind, t.Map) and isinstance(place, tuple)
            place = place[evaluator.universe.position(kind.key, end)]
            kind = kind.value
        assert isinstance(kind, t.Option | t.Set | t.Seq)
        stays = edit.keep != "" and names[edit.keep] is True
        if edit.sent is not None or edit.named is not None:
            chosen = edit.named if edit.sent is None else edit.sent
            assert chosen is not None
            message = evaluator.value(chosen, scope, names)
        else:
            message = place[0] if isinstance(kind, t.Seq) and isinstance(place, tuple) else place
        if edit.sent is not None and isinstance(kind, t.Set):
            assert isinstance(place, frozenset)
            stays = message in place
        found.append(Mail(edit.channel, ends, kind.inner, message, edit.sent is not None, stays))
    return tuple(sorted(found, key=lambda mail: mail.is_sent))
