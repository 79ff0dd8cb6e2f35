"""Lowers a `match` to a chain of tests of the case.

Changes: each case but the last becomes `if subject is case then ... else`, in the order of the
text; names of a case that are read become `let`s. Keeps: values, where they are defined, and what
is evaluated. Leaves none of: Match.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.core.valid import case_types
from charter.core.walk import locals_of
from charter.passes.names import Fresh


@dataclass(frozen=True, slots=True)
class Matches:
    """The rule, for one declaration."""

    fresh: Fresh = field(default_factory=lambda: Fresh("subject"))

    def __call__(self, expr: n.Expr) -> n.Expr:
        """Rewrite one node whose children are rewritten."""
        if not isinstance(expr, n.Match):
            return expr
        return self.fresh.hold((expr.subject,), lambda subject: _chain(expr, subject))


def _chain(expr: n.Match, subject: n.Expr) -> n.Expr:
    *tested, last = expr.cases
    result = _body(last, subject)
    for case in reversed(tested):
        test = n.IsCase(subject, case.tag, type=t.Bool(), span=subject.span)
        result = n.If(test, _body(case, subject), result, type=expr.type, span=expr.span)
    return result


def _body(case: n.Case, subject: n.Expr) -> n.Expr:
    result, used = case.body, locals_of(case.body)
    parts = enumerate(zip(case.names, case_types(subject.type, case.tag), strict=True))
    for position, (name, kind) in reversed(list(parts)):
        if name not in used:
            continue
        part = n.CaseArg(subject, case.tag, position, type=kind, span=subject.span)
        result = n.Let(name, part, result, type=result.type, span=result.span)
    return result
