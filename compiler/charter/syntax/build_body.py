"""Builds the surface tree: statements, branches, operations and state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, TypeVar

from charter.diagnostics import Span
from charter.syntax import nodes
from charter.syntax.build_expr import (
    TreeReader,
    arguments,
    binder,
    citations,
    expr,
    fold,
    name,
    optional_name,
    params,
    text,
    type_of,
)
from charter.syntax.concrete import Part, Tree, leaf, tree, trees
from charter.syntax.nodes import Expr

ItemT = TypeVar("ItemT", bound=nodes.Item)


def attach_comments(reader: TreeReader, node: Tree, item: ItemT) -> ItemT:
    """`item` with its comments."""
    found = reader.remarks.get(id(node))
    if found is None:
        return item
    return replace(item, comments=found.comments, trailing=found.trailing, closing=found.closing)


def in_sections(items: Iterable[ItemT]) -> tuple[ItemT, ...]:
    """The items of a file, a component or a system, each with the section in which it stands. A
    comment that a blank line sets apart from the item below it opens a section."""
    found: list[ItemT] = []
    section = ""
    for item in items:
        lines = [line.strip() for line in item.comments]
        apart = max((i for i, line in enumerate(item.comments) if not line), default=0)
        section = "\n".join(lines[:apart]).strip() or section
        found.append(replace(item, section=section) if section else item)
    return tuple(found)


# --- statements ----------------------------------------------------------------------------------


def statement(reader: TreeReader, part: Part) -> nodes.Statement:
    """Any statement of a branch, a step, an operation or a scenario."""
    node = tree(part)
    item = STATEMENTS[node.rule](reader, node)
    return item if isinstance(item, nodes.Require) else attach_comments(reader, node, item)


def let(reader: TreeReader, part: Part) -> nodes.Let:
    """`let x = e`."""
    node = tree(part)
    variable, value = node.children
    item = nodes.Let(name(reader, variable), expr(reader, value), span=reader.span(node))
    return attach_comments(reader, node, item)


def _assign(reader: TreeReader, node: Tree) -> nodes.Assign:
    target, value = trees(node.children)
    path = expr(reader, target.children[0] if target.rule == "primed" else target)
    root = path
    while isinstance(root, nodes.FieldOf | nodes.Index):
        root = root.target
    if isinstance(root, nodes.Ident) and root.primed:
        reader.diagnostics.error(
            "syntax/unexpected",
            "the target of an update has one prime, at its end",
            reader.span(target),
            hint=f"write `{_move_prime(reader.span(target))} = e`",
        )
    elif target.rule != "primed":
        reader.diagnostics.error(
            "syntax/unexpected",
            "this update lacks its prime",
            reader.span(target),
            hint="write `x' = e`, or `x[k].f' = e`; `let x = e` names a value",
        )
    return nodes.Assign(path, expr(reader, value), span=reader.span(node))


def _move_prime(target: Span) -> str:
    """The text of the target of an update, with one prime."""
    return target.source.text[target.start : target.end].replace("'", "") + "'"


def _pick(reader: TreeReader, node: Tree) -> nodes.Pick:
    variable, index, domain, or_none = node.children
    return nodes.Pick(
        name(reader, variable),
        None if index is None else binder(reader, index),
        expr(reader, domain),
        or_none is not None,
        span=reader.span(node),
    )


def _part_of(reader: TreeReader, target: Expr) -> tuple[nodes.Name, Expr | None]:
    """The instance that a step calls, and its index."""
    match target:
        case nodes.Ident(part, primed=False):
            return nodes.Name(part, span=target.span), None
        case nodes.Index(nodes.Ident(part, primed=False) as ident, key):
            return nodes.Name(part, span=ident.span), key
        case _:
            pass
    reader.diagnostics.error(
        "syntax/unexpected",
        "a step calls an operation of a part of its system",
        target.span,
        hint="write `part.operation(...)` or `part[key].operation(...)`",
    )
    return nodes.Name("", span=target.span), None


def _call(reader: TreeReader, node: Tree) -> nodes.CallOperation:
    result = None
    parts = node.children
    if node.rule == "let_call":
        result, parts = name(reader, parts[0]), parts[1:]
    target, called, args = parts
    instance, index = _part_of(reader, expr(reader, target))
    return nodes.CallOperation(
        result,
        instance,
        index,
        name(reader, called),
        arguments(reader, args),
        span=reader.span(node),
    )


def _send(reader: TreeReader, node: Tree) -> nodes.Send:
    channel, keys, message, *each = node.children
    return nodes.Send(
        name(reader, channel),
        arguments(reader, keys),
        expr(reader, message),
        _each(reader, node, each),
        span=reader.span(node),
    )


def _clear(reader: TreeReader, node: Tree) -> nodes.Clear:
    channel, keys, *each = node.children
    return nodes.Clear(
        name(reader, channel),
        arguments(reader, keys),
        _each(reader, node, each),
        span=reader.span(node),
    )


def _flush(reader: TreeReader, node: Tree) -> nodes.Flush:
    variable, end, condition = node.children
    return nodes.Flush(
        name(reader, variable),
        None if end is None else expr(reader, end),
        None if condition is None else expr(reader, condition),
        span=reader.span(node),
    )


def _crash(reader: TreeReader, node: Tree) -> nodes.Crash:
    of, kept, end = node.children
    return nodes.Crash(
        "machine" if leaf(of).text == "machine" else "process",
        optional_name(reader, kept),
        None if end is None else expr(reader, end),
        span=reader.span(node),
    )


def _each(reader: TreeReader, node: Tree, parts: Sequence[Part]) -> nodes.Each:
    ranging, condition = parts
    return nodes.Each(
        None if ranging is None else binder(reader, ranging),
        None if condition is None else expr(reader, condition),
        span=reader.span(node),
    )


def _receive(reader: TreeReader, node: Tree) -> nodes.Receive:
    variable, many, channel = node.children
    keys: list[Expr] = []
    target = expr(reader, channel)
    while isinstance(target, nodes.Index):
        keys.insert(0, target.key)
        target = target.target
    if not isinstance(target, nodes.Ident):
        reader.diagnostics.error(
            "syntax/unexpected",
            "a step receives from a channel",
            target.span,
            hint="write `receive m from channel[key]`",
        )
    called = target.name if isinstance(target, nodes.Ident) else ""
    return nodes.Receive(
        name(reader, variable),
        None if many is None else expr(reader, many),
        nodes.Name(called, span=target.span),
        tuple(keys),
        span=reader.span(node),
    )


def _require(reader: TreeReader, node: Tree) -> nodes.Require:
    """`require e`. Comments between its parts go above it."""
    guard = _guard(reader, node.children[0])
    inner = [line for part in guard for line in (*part.comments, part.trailing) if line]
    if all(part.label is None for part in guard):
        span = guard[0].span.to(guard[-1].span)
        operators = ["and"] * (len(guard) - 1)
        whole = fold(reader, [part.condition for part in guard], operators, span)
        guard = (nodes.Conjunct(None, whole, span=span),)
    guard = tuple(replace(part, comments=(), trailing="") for part in guard)
    item = attach_comments(reader, node, nodes.Require(guard, span=reader.span(node)))
    return replace(item, comments=(*item.comments, *inner))


STATEMENTS: Final[Mapping[str, Callable[[TreeReader, Tree], nodes.Statement]]] = {
    "let": let,
    "let_call": _call,
    "call": _call,
    "pick": _pick,
    "assign": _assign,
    "flush": _flush,
    "crash": _crash,
    "reply": lambda r, n: nodes.Reply(expr(r, n.children[0]), span=r.span(n)),
    "require": _require,
    "send": _send,
    "clear": _clear,
    "receive": _receive,
}


# --- branches and operations ---------------------------------------------------------------------


def _conjunct(reader: TreeReader, node: Tree) -> nodes.Conjunct:
    label, condition = node.children
    item = nodes.Conjunct(
        optional_name(reader, label), expr(reader, condition), span=reader.span(node)
    )
    return attach_comments(reader, node, item)


def _segments(parts: tuple[Part, ...]) -> list[list[Tree]]:
    """The operands of a guard, split at labels; segments are joined by `and`."""
    segments: list[list[Tree]] = []
    for position in range(0, len(parts), 2):
        operand = tree(parts[position])
        joined = position > 0 and leaf(parts[position - 1]).text == "or"
        if not segments or (operand.children[0] is not None and not joined):
            segments.append([])
        segments[-1].append(operand)
    return segments


def _segment(
    reader: TreeReader, operands: list[Tree], operators: list[str], conclusion: Part
) -> tuple[nodes.Conjunct, ...]:
    """One conjunct: all that its label covers. Without a label each `and`-part is one."""
    conjuncts = [_conjunct(reader, operand) for operand in operands]
    is_group = conjuncts[0].label is not None or not set(operators) <= {"and"}
    if conclusion is None and (len(conjuncts) == 1 or not is_group):
        return tuple(conjuncts)
    for later in conjuncts[1:]:
        if later.label is not None:
            reader.diagnostics.error(
                "syntax/unexpected",
                "a label names parts of a guard that `and` joins, not a part of `or`",
                later.label.span,
                hint="put the label before the whole `or`",
            )
    first, last = conjuncts[0], conjuncts[-1]
    whole = fold(
        reader, [each.condition for each in conjuncts], operators, first.span.to(last.span)
    )
    if conclusion is not None:
        right = expr(reader, conclusion)
        whole = nodes.Binary("implies", whole, right, span=whole.span.to(right.span))
    behind = [each.trailing for each in conjuncts[:-1]]
    below = [line for each in conjuncts[1:] for line in each.comments]
    return (
        nodes.Conjunct(
            first.label,
            whole,
            comments=(*first.comments, *(line for line in (*behind, *below) if line)),
            trailing=last.trailing,
            span=first.span.to(whole.span),
        ),
    )


def _guard(reader: TreeReader, part: Part) -> tuple[nodes.Conjunct, ...]:
    """The conjuncts of a guard. A label reaches to the next one: `a and l: b and c and k: d or e`
    has three, and `l` is `b and c`."""
    if part is None:
        return ()
    node = tree(part)
    parts: tuple[Part, ...] = node.children
    conclusion: Part = None
    if node.rule == "implication":
        parts, conclusion = parts[:-2], parts[-1]
    segments = _segments(parts)
    if conclusion is not None and len(segments) > 1:
        reader.diagnostics.error(
            "syntax/mixed-operators",
            "`and` and `implies` are mixed, so it is unclear how far the labels reach",
            reader.span(node),
            hint="parenthesise, for example `known: a and ready: (b implies c)`",
        )
    found: list[nodes.Conjunct] = []
    position = 0
    for operands in segments:
        operators = [
            leaf(parts[2 * index + 1]).text
            for index in range(position, position + len(operands) - 1)
        ]
        position += len(operands)
        end = conclusion if position * 2 > len(parts) else None
        found.extend(_segment(reader, operands, operators, end))
    if conclusion is not None:
        found[-1] = attach_comments(reader, node, found[-1])
    return tuple(found)


def branch(reader: TreeReader, part: Part) -> nodes.Branch:
    """A branch, with its statements."""
    node = tree(part)
    called, cites, guard, body = node.children
    block = tree(body)
    parts = block.children if block.rule == "block" else (block,)
    item = nodes.Branch(
        name(reader, called),
        citations(reader, cites),
        _guard(reader, guard),
        tuple(statement(reader, child) for child in parts),
        span=reader.span(node),
    )
    return attach_comments(reader, node, item)


def _any_order(reader: TreeReader, node: Tree) -> nodes.AnyOrder:
    item = nodes.AnyOrder(
        tuple(branch(reader, child) for child in node.children), span=reader.span(node)
    )
    return attach_comments(reader, node, item)


def _assume(reader: TreeReader, node: Tree) -> nodes.Assume:
    label, cites, condition = node.children
    item = nodes.Assume(
        optional_name(reader, label),
        citations(reader, cites),
        expr(reader, condition),
        span=reader.span(node),
    )
    return attach_comments(reader, node, item)


def _member(reader: TreeReader, node: Tree) -> nodes.OperationLine:
    match node.rule:
        case "assume":
            return _assume(reader, node)
        case "let":
            return let(reader, node)
        case "branch":
            return branch(reader, node)
        case _:
            return _any_order(reader, node)


def operation(reader: TreeReader, part: Part) -> nodes.Operation:
    """An operation, with its branches."""
    node = tree(part)
    called, takes, result, alias, cites, *body = node.children
    item = nodes.Operation(
        name(reader, called),
        params(reader, takes),
        type_of(reader, result),
        citations(reader, cites),
        tuple(_member(reader, child) for child in trees(tuple(body))),
        text(alias),
        span=reader.span(node),
    )
    return attach_comments(reader, node, item)


def _history(reader: TreeReader, node: Tree) -> nodes.StateDecl:
    variable, type_, initial, becomes = node.children
    item = nodes.StateDecl(
        name(reader, variable),
        type_of(reader, type_),
        expr(reader, initial),
        "ghost",
        expr(reader, becomes),
        span=reader.span(node),
    )
    return attach_comments(reader, node, item)


def state(reader: TreeReader, part: Part) -> nodes.StateDecl:
    """`[volatile | cached | ghost] state x: T = e on disk y`, `history x: T = e then f`."""
    node = tree(part)
    if node.rule == "history":
        return _history(reader, node)
    kind, variable, type_, initial, on_disk = node.children
    kinds: Mapping[str, Literal["volatile", "cached", "ghost"]] = {
        "volatile": "volatile", "cached": "cached", "ghost": "ghost"
    }  # fmt: skip
    item = nodes.StateDecl(
        name(reader, variable),
        type_of(reader, type_),
        expr(reader, initial),
        "durable" if kind is None else kinds[leaf(kind).text],
        on_disk=optional_name(reader, on_disk),
        span=reader.span(node),
    )
    return attach_comments(reader, node, item)
