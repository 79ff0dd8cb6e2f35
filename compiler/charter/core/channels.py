"""Types the content of channels, per combination of ends."""

from __future__ import annotations

from typing import assert_never

from charter.core import nodes as ir
from charter.core import types as ty
from charter.diagnostics import Span

Content = ty.Option | ty.Set | ty.Seq
"""The type of the content: a slot holds one message or none, a set any number, a fifo messages in
order."""


def content_of(kind: ty.Type, ends: int) -> Content:
    """The type of the content between one combination of ends, for a channel variable of type
    `kind`."""
    for _ in range(ends):
        kind = ty.map_of(kind).value
    assert isinstance(kind, Content)
    return kind


def key_types(kind: ty.Type) -> tuple[ty.Type, ...]:
    """The types of the keys of a channel variable of type `kind`, from the outside."""
    found: list[ty.Type] = []
    while isinstance(kind, ty.Map):
        found.append(kind.key)
        kind = kind.value
    return tuple(found)


def each_position(line: ir.Repeated) -> int | None:
    """Which key is the variable that ranges over the set of a statement; none if there is none."""
    if line.each is None:
        return None
    names = [key.name if isinstance(key, ir.Local) else "" for key in line.keys]
    return names.index(line.each[0]) if line.each[0] in names else None


def find_received_type(line: ir.Receive) -> ty.Type:
    """The type of what a `receive` names: a message, or a sequence of them."""
    content = content_of(line.type, len(line.keys))
    return content.inner if line.many is None else content


def nothing(kind: Content, span: Span) -> ir.Expr:
    """The empty content."""
    match kind:
        case ty.Option():
            return ir.Literal(None, type=kind, span=span)
        case ty.Set():
            return ir.SetNew((), type=kind, span=span)
        case ty.Seq():
            return ir.SeqNew((), type=kind, span=span)
        case _:
            assert_never(kind)
