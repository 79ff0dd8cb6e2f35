"""Warns of replies that a charter declares and that no branch gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields

from charter.check.names.declared import declarations
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import machine_rules, nodes, state_of
from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx


def check_replies(files: sx.Protocol, model: ir.Model, diagnostics: Diagnostics) -> None:
    """Warn of each case of a union of replies that neither a rule nor an edit makes. Nothing is
    said of unions whose values also come from elsewhere: from arguments, or from a domain."""
    operations = [o for component in model.components for o in component.operations]
    replied = {_name(o.result) for o in operations} - {""}
    given = [kind for o in operations for p in o.params for kind in ty.inside(p.type)]
    made: set[tuple[str, str]] = set()
    for expr in _rules(model):
        for node in nodes(expr):
            if isinstance(node, ir.UnionNew):
                made.add((_name(node.type), node.tag))
            elif isinstance(node, ir.Domain):
                given += ty.inside(node.type)
    elsewhere = {_name(kind) for kind in given}
    wanted = replied - elsewhere
    edits = (n for n in declarations(files) if isinstance(n, _EDITING))
    edited = {name for edit in edits for name in _names(edit)}
    unions = (n for n in declarations(files) if isinstance(n, sx.UnionDecl))
    for union in unions:
        for case in union.cases if union.name.text in wanted else ():
            tag = case.name.text
            if (union.name.text, tag) not in made and tag not in edited:
                by = {o.name for o in operations if _name(o.result) == union.name.text}
                diagnostics.warn(
                    "type/unused-case",
                    f"no branch replies `{tag}`: no rule makes this case of `{union.name.text}`",
                    case.name.span,
                    hint=f"drop it, or write the branch of {', '.join(sorted(by))} that replies it",
                )


_EDITING = sx.VariantDecl | sx.MutantDecl | sx.OverlayDecl


def _rules(model: ir.Model) -> Iterator[ir.Expr]:
    """Every expression that computes a value of a state or of a reply."""
    yield from (function.body for function in model.functions)
    yield from (variable.initial for variable in state_of(model))
    yield from machine_rules(model)


def _name(kind: ty.Type) -> str:
    return kind.name if isinstance(kind, ty.Union) else ""


def _names(node: sx.Node) -> Iterator[str]:
    """The names in the expressions of an edit, whatever they mean."""
    todo: list[sx.Node] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, sx.Ident):
            yield part.name
        elif isinstance(part, sx.Apply):
            yield part.name.text
        todo += _below(part)


def _below(node: sx.Node) -> Iterable[sx.Node]:
    for each in fields(node):
        value = getattr(node, each.name)
        held = value if isinstance(value, tuple) else (value,)
        yield from (item for item in held if isinstance(item, sx.Node))
