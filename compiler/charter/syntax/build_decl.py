"""Builds the surface tree: declarations, apart from variants, mutants and overlays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from charter.syntax import nodes
from charter.syntax.build_body import attach_comments, in_sections, let, operation, state, statement
from charter.syntax.build_expr import (
    TreeReader,
    arguments,
    binders_of,
    citations,
    expr,
    name,
    names,
    optional_name,
    params,
    text,
    type_of,
)
from charter.syntax.concrete import Part, Tree, leaf, tree, trees


def plain_declaration(reader: TreeReader, part: Part) -> nodes.Declaration:
    """Any declaration but variants, mutants and overlays."""
    node = tree(part)
    return attach_comments(reader, node, PLAIN[node.rule](reader, node))


# --- vocabulary ----------------------------------------------------------------------------------


def _record(reader: TreeReader, node: Tree) -> nodes.RecordDecl:
    called, alias, *fields = node.children
    return nodes.RecordDecl(
        name(reader, called),
        tuple(
            attach_comments(
                reader,
                child,
                nodes.FieldDecl(
                    names(reader, child.children[0]),
                    type_of(reader, child.children[1]),
                    span=reader.span(child),
                ),
            )
            for child in trees(tuple(fields))
        ),
        text(alias),
        span=reader.span(node),
    )


def _union(reader: TreeReader, node: Tree) -> nodes.UnionDecl:
    called, *cases = node.children
    return nodes.UnionDecl(
        name(reader, called),
        tuple(
            attach_comments(
                reader,
                child,
                nodes.CaseDecl(
                    name(reader, child.children[0]),
                    params(reader, child.children[1]),
                    span=reader.span(child),
                ),
            )
            for child in trees(tuple(cases))
        ),
        span=reader.span(node),
    )


def _fun(reader: TreeReader, node: Tree) -> nodes.FunDecl:
    called, takes, machine, result, alias, cites, body = node.children
    return nodes.FunDecl(
        name(reader, called),
        params(reader, takes),
        type_of(reader, result),
        citations(reader, cites),
        expr(reader, body),
        optional_name(reader, machine),
        alias=text(alias),
        span=reader.span(node),
    )


def _enum(reader: TreeReader, node: Tree) -> nodes.EnumDecl:
    called, *members = node.children
    return nodes.EnumDecl(
        name(reader, called),
        tuple(name(reader, member) for member in members),
        span=reader.span(node),
    )


# --- components and systems ----------------------------------------------------------------------


def _observe(reader: TreeReader, node: Tree) -> nodes.ObserveDecl:
    level, *entries = node.children
    return nodes.ObserveDecl(
        name(reader, level),
        tuple(
            attach_comments(
                reader,
                child,
                nodes.Observed(
                    names(reader, child.children[0]),
                    "" if child.children[1] is None else leaf(child.children[1]).text,
                    span=reader.span(child),
                ),
            )
            for child in trees(tuple(entries))
        ),
        span=reader.span(node),
    )


def _component(reader: TreeReader, node: Tree) -> nodes.ComponentDecl:
    called, *members = node.children
    return nodes.ComponentDecl(
        name(reader, called),
        in_sections(_component_member(reader, child) for child in trees(tuple(members))),
        span=reader.span(node),
    )


def _component_member(
    reader: TreeReader, node: Tree
) -> nodes.StateDecl | nodes.Operation | nodes.ObserveDecl:
    match node.rule:
        case "state_decl" | "history":
            return state(reader, node)
        case "operation":
            return operation(reader, node)
        case _:
            return attach_comments(reader, node, _observe(reader, node))


def _part(reader: TreeReader, node: Tree) -> nodes.PartDecl:
    called, index, component = node.children
    return nodes.PartDecl(
        name(reader, called),
        None if index is None else type_of(reader, index),
        name(reader, component),
        span=reader.span(node),
    )


def _channel(reader: TreeReader, node: Tree) -> nodes.ChannelDecl:
    called, first, second, message, discipline, *more = node.children
    ends = (first,) if second is None else (first, second)
    kinds: Mapping[str, Literal["slot", "set", "fifo"]] = {
        "slot": "slot", "set": "set", "fifo": "fifo"
    }  # fmt: skip
    weaknesses = [x for x in more if isinstance(x, Tree) and x.rule == "weakness"]
    limits = [x for x in more if x is not None and x not in weaknesses]
    words = {leaf(child.children[0]).text for child in weaknesses}
    return nodes.ChannelDecl(
        name(reader, called),
        tuple(type_of(reader, end) for end in ends),
        type_of(reader, message),
        kinds[leaf(discipline).text],
        expr(reader, limits[0]) if limits else None,
        "lossy" in words,
        "duplicating" in words,
        span=reader.span(node),
    )


def step(reader: TreeReader, part: Part) -> nodes.StepDecl:
    """A step of a system, with its statements."""
    node = tree(part)
    called, takes, cites, budget, *body = node.children
    item = nodes.StepDecl(
        name(reader, called),
        params(reader, takes),
        citations(reader, cites),
        optional_name(reader, budget),
        tuple(statement(reader, child) for child in body),
        span=reader.span(node),
    )
    return attach_comments(reader, node, item)


def _system(reader: TreeReader, node: Tree) -> nodes.SystemDecl:
    called, *members = node.children
    return nodes.SystemDecl(
        name(reader, called),
        in_sections(_system_member(reader, child) for child in trees(tuple(members))),
        span=reader.span(node),
    )


def _system_member(
    reader: TreeReader, node: Tree
) -> nodes.PartDecl | nodes.ChannelDecl | nodes.StateDecl | nodes.StepDecl:
    match node.rule:
        case "state_decl" | "history":
            return state(reader, node)
        case "part_decl":
            return attach_comments(reader, node, _part(reader, node))
        case "channel_decl":
            return attach_comments(reader, node, _channel(reader, node))
        case _:
            return step(reader, node)


# --- properties, instances, scenarios ------------------------------------------------------------


def _property(reader: TreeReader, node: Tree) -> nodes.PropertyDecl:
    kind, called, machine, cites, body = node.children
    kinds: Mapping[str, Literal["always", "stepwise", "witness"]] = {
        "always": "always", "stepwise": "stepwise", "witness": "witness"
    }  # fmt: skip
    return nodes.PropertyDecl(
        kinds[leaf(kind).text],
        name(reader, called),
        name(reader, machine),
        citations(reader, cites),
        expr(reader, body),
        span=reader.span(node),
    )


def _eventually(reader: TreeReader, node: Tree) -> nodes.EventuallyDecl:
    called, machine, cites, fairness, first, second = node.children
    binders: list[nodes.AnyBinder] = []
    if second is not None:
        first = _hoist(reader, first, binders)
    return nodes.EventuallyDecl(
        name(reader, called),
        name(reader, machine),
        citations(reader, cites),
        () if fairness is None else _fairness(reader, tree(fairness)),
        tuple(binders),
        None if second is None else expr(reader, first),
        expr(reader, first if second is None else second),
        span=reader.span(node),
    )


def _hoist(reader: TreeReader, part: Part, found: list[nodes.AnyBinder]) -> Part:
    """The body of `forall x in S: a` in front of `leads to`. The quantifier extends over both
    sides, so its binders are added to `found`; one in parentheses is left as it is."""
    while isinstance(part, Tree) and part.rule == "quantifier":
        kind, several, body = part.children
        if leaf(kind).text != "forall":
            break
        found.extend(binders_of(reader, several))
        part = body
    return part


def _fairness(reader: TreeReader, node: Tree) -> tuple[nodes.Fair, ...]:
    return tuple(
        nodes.Fair(
            name(reader, step.children[0]),
            () if step.children[1] is None else names(reader, step.children[1]),
            span=reader.span(step),
        )
        for step in trees(node.children)
    )


def _place(reader: TreeReader, head: Part, tail: Part) -> nodes.Name:
    """`x`, or `part.x` as one name."""
    first = name(reader, head)
    if tail is None:
        return first
    second = name(reader, tail)
    return nodes.Name(f"{first.text}.{second.text}", span=first.span.to(second.span))


def _build_missed(reader: TreeReader, node: Tree) -> nodes.Name:
    """A name, or `operation/branch` as one name."""
    head, tail = node.children
    first = name(reader, head)
    if tail is None:
        return first
    second = name(reader, tail)
    return nodes.Name(f"{first.text}/{second.text}", span=first.span.to(second.span))


def _bound(reader: TreeReader, node: Tree) -> nodes.Setting:
    span = reader.span(node)
    item: nodes.Setting
    match node.rule, node.children:
        case "bound", (called, value):
            item = nodes.Bound(name(reader, called), expr(reader, value), span=span)
        case "start_value", (head, tail, value):
            item = nodes.Start(_place(reader, head, tail), expr(reader, value), span=span)
        case "prelude", lines:
            body = tuple(_line(reader, child) for child in trees(tuple(lines)))
            item = nodes.Prelude(body, span=span)
        case "offers", (offered,):
            item = nodes.Offers(names(reader, offered), span=span)
        case "only", (operation, condition):
            item = nodes.Only(name(reader, operation), expr(reader, condition), span=span)
        case "misses", several:
            missed = tuple(_build_missed(reader, each) for each in trees(several))
            item = nodes.Misses(missed, span=span)
        case "fails", (failing,):
            item = nodes.Fails(names(reader, failing), span=span)
        case _:
            raise AssertionError(node.rule)
    return attach_comments(reader, node, item)


def _likes(reader: TreeReader, part: Part) -> tuple[nodes.Like, ...]:
    if part is None:
        return ()
    return tuple(
        nodes.Like(
            name(reader, each.children[0]),
            () if each.children[1] is None else arguments(reader, each.children[1]),
            span=reader.span(each),
        )
        for each in trees(tree(part).children)
    )


def _setup(reader: TreeReader, node: Tree) -> nodes.SetupDecl:
    called, given, machine, likes, *body = node.children
    return nodes.SetupDecl(
        name(reader, called),
        () if given is None else params(reader, given),
        name(reader, machine),
        _likes(reader, likes),
        tuple(_bound(reader, child) for child in trees(tuple(body))),
        span=reader.span(node),
    )


def _instance(reader: TreeReader, node: Tree) -> nodes.InstanceDecl:
    called, machine, likes, *body = node.children
    return nodes.InstanceDecl(
        name(reader, called),
        name(reader, machine),
        _likes(reader, likes),
        tuple(_bound(reader, child) for child in trees(tuple(body))),
        span=reader.span(node),
    )


def _line(reader: TreeReader, node: Tree) -> nodes.Line:
    span = reader.span(node)
    item: nodes.Do | nodes.Expect | nodes.Moment | nodes.Include
    match node.rule, node.children:
        case "do", (never, called, args, taken, answer):
            item = nodes.Do(
                name(reader, called),
                arguments(reader, args),
                optional_name(reader, taken),
                None if answer is None else expr(reader, answer),
                never is not None,
                span=span,
            )
        case "expect", (never, condition):
            item = nodes.Expect(expr(reader, condition), never is not None, span=span)
        case "moment", (title,):
            item = nodes.Moment(text(title), span=span)
        case "include", (called, args):
            item = nodes.Include(name(reader, called), arguments(reader, args), span=span)
        case _:
            return let(reader, node)
    return attach_comments(reader, node, item)


def _scenario_item(
    reader: TreeReader, node: Tree
) -> nodes.Bound | nodes.Start | nodes.Prelude | nodes.Line:
    if node.rule not in ("bound", "start_value", "prelude"):
        return _line(reader, node)
    bound = _bound(reader, node)
    assert isinstance(bound, nodes.Bound | nodes.Start | nodes.Prelude)
    return bound


def _fragment(reader: TreeReader, node: Tree) -> nodes.FragmentDecl:
    called, given, machine, *body = node.children
    return nodes.FragmentDecl(
        name(reader, called),
        params(reader, given),
        name(reader, machine),
        tuple(_line(reader, child) for child in trees(tuple(body))),
        span=reader.span(node),
    )


def _scenario(reader: TreeReader, node: Tree) -> nodes.ScenarioDecl:
    title, machine, likes, cites, *body = node.children
    return nodes.ScenarioDecl(
        text(title),
        name(reader, machine),
        _likes(reader, likes),
        citations(reader, cites),
        tuple(_scenario_item(reader, child) for child in trees(tuple(body))),
        span=reader.span(node),
    )


def _source(reader: TreeReader, node: Tree) -> nodes.SourceDecl:
    called, title, url, *anchors = node.children
    found = trees(tuple(anchors))
    return nodes.SourceDecl(
        name(reader, called),
        text(title),
        "" if url is None else text(url),
        tuple((text(each.children[0]), text(each.children[1])) for each in found),
        span=reader.span(node),
    )


PLAIN: Final[Mapping[str, Callable[[TreeReader, Tree], nodes.Declaration]]] = {
    "source_decl": _source,
    "sort_decl": lambda r, n: nodes.SortDecl(name(r, n.children[0]), span=r.span(n)),
    "counter": lambda r, n: nodes.CounterDecl(
        name(r, n.children[0]), opaque=False, ordered=True, span=r.span(n)
    ),
    "opaque_counter": lambda r, n: nodes.CounterDecl(
        name(r, n.children[0]), opaque=True, ordered=True, span=r.span(n)
    ),
    "opaque": lambda r, n: nodes.CounterDecl(
        name(r, n.children[0]), opaque=True, ordered=False, span=r.span(n)
    ),
    "const_decl": lambda r, n: nodes.ConstDecl(
        name(r, n.children[0]), type_of(r, n.children[1]), span=r.span(n)
    ),
    "alias_decl": lambda r, n: nodes.AliasDecl(
        name(r, n.children[0]), type_of(r, n.children[1]), span=r.span(n)
    ),
    "enum_decl": _enum,
    "record_decl": _record,
    "union_decl": _union,
    "fun_decl": _fun,
    "component_decl": _component,
    "system_decl": _system,
    "property_decl": _property,
    "eventually_decl": _eventually,
    "setup_decl": _setup,
    "instance_decl": _instance,
    "fragment_decl": _fragment,
    "scenario_decl": _scenario,
}
