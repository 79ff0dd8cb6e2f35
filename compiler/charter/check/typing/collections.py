"""Types sets, sequences, maps, comprehensions and quantifiers."""

from __future__ import annotations

from charter.check.names.scopes import TypeScope, unknown
from charter.check.names.types import (
    BOOL,
    INT,
    UNKNOWN,
    expect_inside,
    fits,
    is_unknown,
    join,
    show_type,
)
from charter.check.typing.operators import is_open
from charter.check.typing.patterns import elaborate_binder
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import locals_of
from charter.diagnostics import Span
from charter.syntax import nodes as sx


def set_literal(scope: TypeScope, node: sx.SetLit, expected: ty.Type | None) -> ir.Expr:
    """`{}`, `{a, b}`."""
    guide = expected.inner if isinstance(expected, ty.Set) else None
    if not node.items:
        if guide is None:
            return _empty(scope, "{}", expected, node.span)
        return ir.SetNew((), type=expected or UNKNOWN, span=node.span)
    if _is_binder_alone(scope, node):
        message = "this comprehension has no condition"
        hint = "`{ x in S if condition }`, or `S` for all of it"
        return scope.wrong("syntax/unexpected", message, node.span, hint=hint)
    items = _items(scope, node.items, guide)
    kind = ty.Set(_common(items))
    return ir.SetNew(items, type=kind, span=node.span)


def _is_binder_alone(scope: TypeScope, node: sx.SetLit) -> bool:
    """Whether `{ x in S }` has a new name `x`: an unfinished comprehension, not a membership
    test."""
    match node.items:
        case (sx.Binary(op="in", left=sx.Ident(name=name)),):
            return name not in set(scope.names())
        case _:
            return False


def seq_literal(scope: TypeScope, node: sx.SeqLit, expected: ty.Type | None) -> ir.Expr:
    """`<>`, `<a, b>`: a sequence, or a ranking where one is expected."""
    match expected:
        case ty.Ranking(inner=inner):
            items = tuple(scope.check(item, inner) for item in node.items)
            return ir.SeqNew(items, type=expected, span=node.span)
        case ty.Seq(inner=inner, limit=limit):
            items = tuple(scope.check(item, inner) for item in node.items)
            if not limit.const and len(items) > limit.plus:
                message = f"{len(items)} items, but {show_type(expected)}"
                return scope.wrong("int/out-of-range", message, node.span)
            return ir.SeqNew(items, type=expected, span=node.span)
        case _ if not node.items:
            return _empty(scope, "<>", expected, node.span)
        case _:
            items = _items(scope, node.items, None)
            kind = ty.Seq(_common(items), ty.Limit("", len(items)))
            return ir.SeqNew(items, type=kind, span=node.span)


def _empty(scope: TypeScope, text: str, expected: ty.Type | None, span: Span) -> ir.Expr:
    if expected is None:
        return scope.wrong("type/mismatch", f"the element type of `{text}` is unknown", span)
    if is_unknown(expected):
        return unknown(span)
    return scope.wrong("type/mismatch", f"expected {show_type(expected)}, found `{text}`", span)


def _items(
    scope: TypeScope, nodes: tuple[sx.Expr, ...], guide: ty.Type | None
) -> tuple[ir.Expr, ...]:
    if guide is None:
        leading = next((node for node in nodes if not is_open(node)), nodes[0])
        guide = scope.infer(leading).type
    return tuple(scope.check(node, guide) for node in nodes)


def _common(items: tuple[ir.Expr, ...]) -> ty.Type:
    kind: ty.Type = UNKNOWN
    for item in items:
        if fits(item.type, kind):
            kind = join(kind, item.type)
    return kind


def domain(scope: TypeScope, node: sx.Expr) -> tuple[ir.Expr, ty.Type]:
    """A set to range over, and the type of its members."""
    core = scope.infer(node)
    if isinstance(core.type, ty.Set):
        return core, core.type.inner
    if not is_unknown(core.type):
        ordered = isinstance(core.type, ty.Seq | ty.Ranking)
        hint = "write `set(...)` for its members" if ordered else ""
        message = f"a domain is a set or a finite type, found {show_type(core.type)}"
        scope.error("type/mismatch", message, core.span, hint=hint)
    return unknown(node.span), UNKNOWN


def whole_type(scope: TypeScope, node: sx.Expr) -> ty.Type:
    """The finite type that `node` names, for the keys of a map."""
    core, inner = domain(scope, node)
    if isinstance(core, ir.Domain) or is_unknown(inner):
        return inner
    message = "the keys of a map are all values of a type; a set is not enough"
    scope.error("type/mismatch", message, node.span, hint=f"`[k in {show_type(inner)}: ...]`")
    return UNKNOWN


def comprehension(scope: TypeScope, node: sx.Comprehension, expected: ty.Type | None) -> ir.Expr:
    """`{ body for x in S, y in T if c }`; binders nest, and the inner sets are joined."""
    return _infer_nested(scope, node, 0, expect_inside(expected, ty.Set))


def _infer_nested(
    scope: TypeScope, node: sx.Comprehension, depth: int, guide: ty.Type | None
) -> ir.Expr:
    binder = node.binders[depth]
    if isinstance(binder, sx.PatternBinder):
        return _infer_nested_in_parts(scope, node, depth, guide)
    source, inner_type = domain(scope, binder.domain)
    inner, name = scope.bind(binder.name, inner_type)
    truth = ir.Literal(True, type=BOOL, span=binder.span)
    if depth + 1 < len(node.binders):
        body = _infer_nested(inner, node, depth + 1, guide)
        return ir.Comprehend(
            name, source, truth, body, flatten=True, type=body.type, span=node.span
        )
    condition = truth if node.condition is None else inner.check(node.condition, BOOL)
    if node.body is None:
        body = ir.Local(name, type=inner_type, span=binder.name.span)
    else:
        body = inner.infer(node.body, guide)
    kind = ty.Set(body.type)
    return ir.Comprehend(name, source, condition, body, type=kind, span=node.span)


def _infer_nested_in_parts(
    scope: TypeScope, node: sx.Comprehension, depth: int, guide: ty.Type | None
) -> ir.Expr:
    """The same from a binder that takes values apart."""
    binder = node.binders[depth]
    assert isinstance(binder, sx.PatternBinder) and node.body is not None
    parts = elaborate_binder(scope, binder)
    truth = ir.Literal(True, type=BOOL, span=binder.span)
    if depth + 1 < len(node.binders):
        whole = _infer_nested(parts.scope, node, depth + 1, guide)
    else:
        condition = truth if node.condition is None else parts.scope.check(node.condition, BOOL)
        item = parts.scope.infer(node.body, guide)
        kind = ty.Set(item.type)
        if parts.variable is not None and not locals_of(item) & set(parts.names):
            false = ir.Literal(False, type=BOOL, span=binder.span)
            kept = parts.where(condition, false)
            return parts.over(
                lambda name, source: ir.Comprehend(
                    name, source, kept, item, type=kind, span=node.span
                ),
                item,
            )
        whole = ir.SetNew((item,), type=kind, span=node.span)
        if node.condition is not None:
            nothing = ir.SetNew((), type=kind, span=node.span)
            whole = ir.If(condition, whole, nothing, type=kind, span=node.span)
    found = parts.where(whole, ir.SetNew((), type=whole.type, span=node.span))
    return parts.over(
        lambda name, source: ir.Comprehend(
            name, source, truth, found, flatten=True, type=found.type, span=node.span
        ),
        found,
    )


def map_literal(scope: TypeScope, node: sx.MapLit, expected: ty.Type | None) -> ir.Expr:
    """`[k in K: value]`: a value for each key of a finite type."""
    key = whole_type(scope, node.binder.domain)
    inner, name = scope.bind(node.binder.name, key)
    guide = expected
    if expected is not None and not is_unknown(expected):
        guide = expected.value if isinstance(expected, ty.Map) else None
    value = inner.infer(node.value, guide)
    kind = ty.Map(key, value.type)
    return ir.MapNew(name, value, type=kind, span=node.span)


def quantifier(scope: TypeScope, node: sx.Quantifier) -> ir.Expr:
    """`forall`, `some`, `exactly one`, `the`, `sum`."""
    if node.kind in ("exactly one", "the") and len(node.binders) > 1:
        why = f"`{node.kind}` takes one variable"
        return scope.wrong("type/arity", why, node.binders[1].span)
    return _infer_quantifier(scope, node, 0)


def _infer_quantifier(scope: TypeScope, node: sx.Quantifier, depth: int) -> ir.Expr:
    if depth == len(node.binders):
        return scope.check(node.body, INT if node.kind == "sum" else BOOL)
    binder = node.binders[depth]
    if isinstance(binder, sx.PatternBinder):
        return _infer_quantifier_in_parts(scope, node, depth)
    source, inner_type = domain(scope, binder.domain)
    inner, name = scope.bind(binder.name, inner_type)
    body = _infer_quantifier(inner, node, depth + 1)
    kind = inner_type if node.kind == "the" else INT if node.kind == "sum" else BOOL
    return ir.Quantified(node.kind, name, source, body, type=kind, span=node.span)


def _infer_quantifier_in_parts(scope: TypeScope, node: sx.Quantifier, depth: int) -> ir.Expr:
    """The same for a binder with a pattern. Values that do not match are ignored."""
    binder = node.binders[depth]
    assert isinstance(binder, sx.PatternBinder)
    if node.kind == "the" and binder.key is None:
        why = "`the` needs a member or a key, and this pattern has neither"
        return scope.wrong("type/mismatch", why, node.span, hint="`the k, present(x) in m: ...`")
    parts = elaborate_binder(scope, binder)
    kind: ty.Type = INT if node.kind == "sum" else BOOL
    nothing = 0 if node.kind == "sum" else node.kind == "forall"
    neutral = ir.Literal(nothing, type=kind, span=binder.span)
    body = parts.where(_infer_quantifier(parts.scope, node, depth + 1), neutral)
    if node.kind == "the" and parts.variable is not None:
        kind = parts.variable.type
    return parts.over(
        lambda name, source: ir.Quantified(
            node.kind, name, source, body, type=kind, span=node.span
        ),
        body,
    )
