"""The content of channels, per combination of ends."""

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
