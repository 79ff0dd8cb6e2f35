"""Lowers `exactly one x in s: p` to the size of a set, and `the x in s: p` to its least member.

Changes: `exactly one`, `the`.
Keeps: values, where they are defined, and what is evaluated.
Leaves none of: Quantified of the kinds `exactly one` and `the`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.passes.names import Fresh

INT = t.Int()
KINDS = ("exactly one", "the")
"""The quantifiers that the pass replaces."""


@dataclass(frozen=True, slots=True)
class OnlyRule:
    """The rule, for one declaration."""

    fresh: Fresh = field(default_factory=lambda: Fresh("found"))

    def __call__(self, expr: n.Expr) -> n.Expr:
        """Rewrite one node whose children are rewritten."""
        if not (isinstance(expr, n.Quantified) and expr.kind in KINDS):
            return expr
        span, kind = expr.span, expr.domain.type
        assert isinstance(kind, t.Set)
        member = n.Local(expr.name, type=kind.inner, span=span)
        found = n.Comprehend(expr.name, expr.domain, expr.body, member, type=kind, span=span)

        def single(found: n.Expr) -> n.Expr:
            size = n.Primitive("size", (found,), type=INT, span=span)
            one = n.Literal(1, type=INT, span=span)
            return n.Binary("eq", size, one, type=t.Bool(), span=span)

        def only(found: n.Expr) -> n.Expr:
            least = n.Primitive("least", (found,), type=expr.type, span=span)
            why = "`the` of none or several members"
            return n.Checked(single(found), least, why, type=expr.type, span=span)

        return single(found) if expr.kind == "exactly one" else self.fresh.hold((found,), only)
