"""Elaborates patterns. In a binder they become a quantifier over keys or members around a `match`.
Behind `is` they become a comparison with none, and `value(e)` for the name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from charter.check.names.scopes import TypeScope, suggest, unknown
from charter.check.names.types import UNKNOWN, count, is_unknown, show_type
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import substitute
from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx

Tags = dict[str, tuple[ty.Type, ...]]


def tags_of(kind: ty.Type) -> Tags | None:
    """The cases of an option, a union or an enum with the types of their parameters."""
    match kind:
        case ty.Option():
            return {"none": (), "present": (kind.inner,)}
        case ty.Union():
            return {tag: tuple(param for _, param in params) for tag, params in kind.cases}
        case ty.Enum():
            return dict.fromkeys(kind.members, ())
        case _:
            return None


def case_params(scope: TypeScope, tag: sx.Name, names: int, tags: Tags) -> tuple[ty.Type, ...]:
    """The types of a case's parameters, as many as `names`; unknown types after an error."""
    params = tags.get(tag.text)
    if params is None:
        hint = suggest(tag.text, tags)
        scope.error("name/unknown", f"there is no case `{tag.text}`", tag.span, hint=hint)
    elif len(params) != names:
        message = f"`{tag.text}` has {count(len(params), 'parameter')}, named: {names}"
        scope.error("type/arity", message, tag.span)
    else:
        return params
    return (UNKNOWN,) * names


@dataclass(frozen=True, slots=True)
class Ranged:
    """An elaborated binder. `scope` is that of its body. `variable` ranges over `source` (both
    None: over the content of one option). `entries` is a map that is evaluated once before the
    loop. `subject` is matched against the case `tag` with `names`; without a tag `names` has one
    name for all of it."""

    scope: TypeScope
    variable: ir.Local | None
    source: ir.Expr | None
    entries: tuple[ir.Local, ir.Expr] | None
    subject: ir.Expr
    tag: str
    names: tuple[str, ...]

    def where(self, body: ir.Expr, otherwise: ir.Expr) -> ir.Expr:
        """`body` where the pattern matches, else `otherwise`."""
        if not self.tag:
            return substitute(body, dict.fromkeys(self.names, self.subject))
        cases: list[ir.Case] = []
        for tag, params in (tags_of(self.subject.type) or {}).items():
            if tag == self.tag:
                cases.append(ir.Case(tag, self.names, body))
                continue
            unread = tuple(self.scope.bind(sx.Name("_"), kind)[1] for kind in params)
            cases.append(ir.Case(tag, unread, otherwise))
        return ir.Match(self.subject, tuple(cases), type=body.type, span=body.span)

    def over(self, loop: Callable[[str, ir.Expr], ir.Expr], alone: ir.Expr) -> ir.Expr:
        """The loop over the variable and its source, or `alone` where there is none."""
        if self.variable is None or self.source is None:
            return alone
        whole = loop(self.variable.name, self.source)
        if self.entries is None:
            return whole
        local, value = self.entries
        return ir.Let(local.name, value, whole, type=whole.type, span=whole.span)


def elaborate_binder(scope: TypeScope, node: sx.PatternBinder) -> Ranged:
    """Elaborate a binder; after an error its names have the unknown type."""
    domain = scope.infer(node.domain)
    match node.key, domain.type:
        case sx.Name() as key, ty.Map(key=key_type):
            return _entries(scope, node, domain, (key, key_type))
        case None, ty.Set(inner=inner):
            scope, member = scope.fresh("each", inner, node.span)
            return _take_apart(scope, node, member, (member, domain, None))
        case None, ty.Option():
            return _take_apart(scope, node, domain, (None, None, None))
        case key, kind:
            if not is_unknown(kind):
                _not_ranged(scope, node, kind)
            if key is not None:
                scope, _ = scope.bind(key, UNKNOWN)
            return _take_apart(scope, node, unknown(node.span), (None, None, None))


def _not_ranged(scope: TypeScope, node: sx.PatternBinder, kind: ty.Type) -> None:
    wanted = "a set or an option" if node.key is None else "a map"
    hint = ""
    if node.key is not None and isinstance(kind, ty.Set) and isinstance(node.value, sx.Name):
        domain = "S" if not isinstance(node.domain, sx.Ident) else node.domain.name
        hint = f"each has a domain: `{node.key.text} in {domain}, {node.value.text} in {domain}`"
    elif isinstance(kind, ty.Map):
        hint = "name the key too: `k, present(x) in m`"
    elif isinstance(kind, ty.Seq | ty.Ranking) and node.key is None:
        hint = "write `set(...)` for its members"
    message = f"this ranges over {wanted}, found {show_type(kind)}"
    scope.error("type/mismatch", message, node.domain.span, hint=hint)


def _entries(
    scope: TypeScope, node: sx.PatternBinder, domain: ir.Expr, key: tuple[sx.Name, ty.Type]
) -> Ranged:
    name, key_type = key
    whole, entries = domain, None
    if not _is_read_quickly(domain):
        scope, local = scope.fresh("entries", domain.type, domain.span)
        whole, entries = local, (local, domain)
    scope, core = scope.bind(name, key_type)
    variable = ir.Local(core, type=key_type, span=name.span)
    value_type = ty.map_of(domain.type).value
    value = ir.MapGet(whole, variable, type=value_type, span=domain.span)
    keys = ir.Domain(type=ty.Set(key_type), span=name.span)
    return _take_apart(scope, node, value, (variable, keys, entries))


def _is_read_quickly(expr: ir.Expr) -> bool:
    """Whether an expression is a state variable, a name or a field: a let for it would save
    nothing."""
    match expr:
        case ir.Local() | ir.StateRef():
            return True
        case ir.FieldOf():
            return _is_read_quickly(expr.target)
        case ir.MapGet():
            return _is_read_quickly(expr.target) and _is_read_quickly(expr.key)
        case _:
            return False


def _take_apart(
    scope: TypeScope,
    node: sx.PatternBinder,
    subject: ir.Expr,
    around: tuple[ir.Local | None, ir.Expr | None, tuple[ir.Local, ir.Expr] | None],
) -> Ranged:
    """Bind the names of the pattern in `subject`; `around` are the first fields of the result."""
    if isinstance(node.value, sx.Name):
        scope, core = scope.bind(node.value, subject.type)
        return Ranged(scope, *around, subject, "", (core,))
    tag, names = node.value.tag, node.value.names
    tags = tags_of(subject.type)
    if tags is None:
        if not is_unknown(subject.type):
            message = f"a pattern matches only options and unions, not {show_type(subject.type)}"
            scope.error("type/mismatch", message, node.value.span)
        tags = {tag.text: (UNKNOWN,) * len(names)}
    bound: list[str] = []
    for name, kind in zip(names, case_params(scope, tag, len(names), tags), strict=True):
        scope, core = scope.bind(name, kind)
        bound.append(core)
    return Ranged(scope, *around, subject, tag.text, tuple(bound))


def is_case(scope: TypeScope, node: sx.Is) -> ir.Expr:
    """`e is present(x)`."""
    tag, names = node.pattern.tag, node.pattern.names
    subject = scope.infer(node.subject)
    if not isinstance(subject.type, ty.Option):
        if not is_unknown(subject.type):
            message = f"`is` asks an option, found {show_type(subject.type)}"
            scope.error("type/mismatch", message, subject.span, hint="`match` knows all cases")
        return unknown(node.span)
    params = case_params(scope, tag, len(names), {"present": (subject.type.inner,)})
    for name, kind in zip(names, params, strict=True):
        scope.bind(name, kind)
    none = ir.Literal(None, type=subject.type, span=tag.span)
    return ir.Binary("ne", subject, none, type=ty.Bool(), span=node.span)


def holding(scope: TypeScope, condition: sx.Expr) -> TypeScope:
    """The scope of an expression that is evaluated only if a condition is true: the names of its
    `is` are visible."""
    match condition:
        case sx.Binary(op="and"):
            return holding(holding(scope, condition.left), condition.right)
        case sx.Is(pattern=sx.Pattern(names=(name,))) if name.text != "_":
            subject = replace(scope, diagnostics=Diagnostics()).infer(condition.subject)
            inner = subject.type.inner if isinstance(subject.type, ty.Option) else UNKNOWN
            part = ir.Builtin("value", (subject,), type=inner, span=name.span)
            return replace(scope, parts={**scope.parts, name.text: part})
        case _:
            return scope
