"""Prints calls of built-in functions: Python's own, or those of the prelude."""

from __future__ import annotations

from collections.abc import Sequence

from charter.core import nodes as n
from charter.core import types as t
from charter.render.python_model.layout import Block, Doc, call
from charter.render.python_model.types import TypePrinter


def call_of(e: n.Builtin, args: Sequence[Doc], types: TypePrinter, world: str) -> Block:
    """The call of a built-in function with printed `args`."""
    ranking = isinstance(e.type, t.Ranking)
    match e.name:
        case "size":
            return call("len", *args)
        case "set":
            return call("frozenset", *args)
        case "remove":
            return call("without", *args)
        case "append" if ranking:
            return call("place_last", *args)
        case "concat" if ranking:
            return call("join", *args)
        case "append" | "concat":
            assert isinstance(e.type, t.Seq)
            return call(e.name, *args, types.limit(e.type.limit, world))
        case "bump" if isinstance(e.type, t.Counter) and not e.type.ordered:
            return call("fresh", *args)
        case _:
            return call(e.name, *args)
