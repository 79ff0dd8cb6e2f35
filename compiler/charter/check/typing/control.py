"""Types `if`, `let` and `match`."""

from __future__ import annotations

from charter.check.names.scopes import TypeScope
from charter.check.names.types import BOOL, UNKNOWN, fits, is_unknown, join, show_type
from charter.check.typing.operators import is_open
from charter.check.typing.patterns import Tags, case_params, holding, tags_of
from charter.core import nodes as ir
from charter.core import types as ty
from charter.syntax import nodes as sx


def conditional(scope: TypeScope, node: sx.If, expected: ty.Type | None) -> ir.Expr:
    """`if c then a else b`: both sides of one type."""
    condition = scope.check(node.condition, BOOL)
    behind = holding(scope, node.condition)
    if expected is not None:
        then = behind.infer(node.then, expected)
        otherwise = scope.infer(node.otherwise, expected)
    elif is_open(node.then):
        otherwise = scope.infer(node.otherwise)
        then = behind.infer(node.then, otherwise.type)
    else:
        then = behind.infer(node.then)
        otherwise = scope.infer(node.otherwise, then.type)
    if not fits(then.type, otherwise.type):
        otherwise = scope.fit(otherwise, then.type)
    kind = join(then.type, otherwise.type)
    return ir.If(condition, then, otherwise, type=kind, span=node.span)


def let_in(scope: TypeScope, node: sx.LetIn, expected: ty.Type | None) -> ir.Expr:
    """`let x = value in body`."""
    value = scope.infer(node.value)
    inner, name = scope.bind(node.name, value.type)
    body = inner.infer(node.body, expected)
    return ir.Let(name, value, body, type=body.type, span=node.span)


def matching(scope: TypeScope, node: sx.Match, expected: ty.Type | None) -> ir.Expr:
    """`match e { ... }`: every case exactly once."""
    subject = scope.infer(node.subject)
    tags = tags_of(subject.type)
    if tags is None:
        if not is_unknown(subject.type):
            message = f"only options, unions and enums are matched, not {show_type(subject.type)}"
            scope.error("type/mismatch", message, subject.span)
        return ir.Literal(None, type=UNKNOWN, span=node.span)
    cases: dict[str, ir.Case] = {}
    guide = expected or _guide(scope, node, tags)
    for case in node.cases:
        core = _case(scope, case, tags, guide)
        if core is None:
            continue
        if core.tag in cases:
            scope.error("name/duplicate", f"`{core.tag}` has a case already", case.tag.span)
        cases[core.tag] = core
        if guide is None and not is_unknown(core.body.type):
            guide = core.body.type
    missing = [tag for tag in tags if tag not in {case.tag.text for case in node.cases}]
    misspelt = sum(case.tag.text not in tags for case in node.cases)
    if len(missing) > misspelt:
        message = f"no case for {', '.join(f'`{tag}`' for tag in missing)}"
        scope.error("match/not-exhaustive", message, node.span)
    return _join_cases(scope, subject, tuple(cases.values()), node)


def _guide(scope: TypeScope, node: sx.Match, tags: Tags) -> ty.Type | None:
    """The type of the first case whose type needs no hint, if that of the first case needs one."""
    if not node.cases or not is_open(node.cases[0].body):
        return None
    for case in node.cases:
        if not is_open(case.body):
            core = _case(scope, case, tags, None)
            return None if core is None else core.body.type
    return None


def _join_cases(
    scope: TypeScope, subject: ir.Expr, cases: tuple[ir.Case, ...], node: sx.Match
) -> ir.Expr:
    kind: ty.Type = UNKNOWN
    for case in cases:
        if not fits(case.body.type, kind):
            scope.fit(case.body, kind)
        kind = join(kind, case.body.type)
    return ir.Match(subject, cases, type=kind, span=node.span)


def _case(scope: TypeScope, case: sx.Case, tags: Tags, expected: ty.Type | None) -> ir.Case | None:
    params = case_params(scope, case.tag, len(case.names), tags)
    names = []
    for name, kind in zip(case.names, params, strict=True):
        scope, core = scope.bind(name, kind)
        names.append(core)
    body = scope.infer(case.body, expected)
    return None if case.tag.text not in tags else ir.Case(case.tag.text, tuple(names), body)
