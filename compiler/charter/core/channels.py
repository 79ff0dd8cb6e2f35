"""The places of channels: what lies at the ends that a step names."""

from __future__ import annotations

from typing import assert_never

from charter.core import nodes as ir
from charter.core import types as ty
from charter.diagnostics import Span

Content = ty.Option | ty.Set | ty.Seq
"""What a place holds: a slot one message or none, a set any, a fifo messages in their order."""


def content_of(kind: ty.Type, ends: int) -> Content:
    """What one place of a channel holds whose variable has the type `kind`."""
    for _ in range(ends):
        kind = ty.map_of(kind).value
    assert isinstance(kind, Content)
    return kind


def nothing(kind: Content, span: Span) -> ir.Expr:
    """An empty place."""
    match kind:
        case ty.Option():
            return ir.Literal(None, type=kind, span=span)
        case ty.Set():
            return ir.SetNew((), type=kind, span=span)
        case ty.Seq():
            return ir.SeqNew((), type=kind, span=span)
        case _:
            assert_never(kind)
