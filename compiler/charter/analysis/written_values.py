"""Writes values as expressions: a state that was reached becomes the start of an instance, an
argument of a trace part of a condition."""

from __future__ import annotations

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.builtins import order
from charter.semantics.values import Universe


def write_value(kind: t.Type, value: Value, universe: Universe) -> n.Expr:
    """The expression of a value of a type. A counter is its number."""

    def write(part: t.Type, inner: Value) -> n.Expr:
        return write_value(part, inner, universe)

    match kind, value:
        case t.Option(inner=inner), _ if value is not None:
            return n.Present(write(inner, value), type=kind)
        case t.Record(fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            return n.RecordNew(tuple(write(part, one) for (_, part), one in pairs), type=kind)
        case t.Union() as union, (str() as tag, *rest):
            params = zip(union.params(tag), rest, strict=True)
            return n.UnionNew(tag, tuple(write(part, one) for (_, part), one in params), type=kind)
        case t.Map(key=key, value=inner), tuple():
            keys = (write(key, one) for one in universe.domain(key))
            entries = tuple(zip(keys, (write(inner, one) for one in value), strict=True))
            first = n.MapNew("_", entries[0][1], type=kind)
            return n.MapWith(first, entries[1:], type=kind) if entries[1:] else first
        case (t.Seq() | t.Ranking()) as listed, tuple():
            return n.SeqNew(tuple(write(listed.inner, one) for one in value), type=kind)
        case t.Set(inner=inner), frozenset():
            return n.SetNew(tuple(write(inner, one) for one in order(value, inner)), type=kind)
        case _:
            assert value is None or isinstance(value, bool | int | str)
            return n.Literal(value, type=kind)
