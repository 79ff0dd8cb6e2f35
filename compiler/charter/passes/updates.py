"""Lowers `with` to a record of all fields, or a map of all keys.

Changes: `r with { f: x }` to `R { f: x, g: r.g, ... }`, and `m with [k: x]` to `[i in K: if i == k
then x else m[i]]`, which is undefined if `k` is not a key of the map. Keeps: values, where they are
defined, and what is evaluated; no new comparison or sequence has the span of one in the text.
Leaves none of: RecordWith, MapWith.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.passes.names import Fresh

BOOL = t.Bool()


@dataclass(frozen=True, slots=True)
class Updates:
    """The rule, for one declaration."""

    fresh: Fresh = field(default_factory=lambda: Fresh("old"))
    keys: Fresh = field(default_factory=lambda: Fresh("key"))

    def __call__(self, expr: n.Expr) -> n.Expr:
        """Rewrite one node whose children are rewritten."""
        match expr:
            case n.RecordWith():
                return self.fresh.hold((expr.target,), lambda old: _record(expr, old))
            case n.MapWith():
                whole = expr.target
                for key, value in expr.entries:
                    whole = self.fresh.hold((whole, key, value), self._put)
                return whole
            case _:
                return expr

    def _put(self, whole: n.Expr, key: n.Expr, value: n.Expr) -> n.Expr:
        """A map with another value at one key."""
        kind, span = t.map_of(whole.type), value.span.begin()
        here = n.Local(self.keys.next(), type=kind.key, span=span)
        same = n.Binary("eq", here, key, type=BOOL, span=span)
        old = n.MapGet(whole, here, type=kind.value, span=span)
        item = n.If(same, value, old, type=kind.value, span=span)
        made = n.MapNew(here.name, item, type=kind, span=span)
        if not t.may_miss(kind.key):
            return made
        known = n.Domain(type=t.Set(kind.key), span=span)
        inside = n.Binary("in", key, known, type=BOOL, span=span)
        return n.Checked(inside, made, "not a key of the map", type=kind, span=span)


def _record(expr: n.RecordWith, old: n.Expr) -> n.Expr:
    changed, span = dict(expr.fields), expr.span.begin()
    fields = tuple(
        changed.get(name) or n.FieldOf(old, name, type=kind, span=span)
        for name, kind in t.record_of(expr.type).fields
    )
    return n.RecordNew(fields, type=expr.type, span=expr.span)
