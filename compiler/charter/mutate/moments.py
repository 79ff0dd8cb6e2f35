"""Applies mutation rules about time and number: a value that is kept, messages in the wrong order,
one in place of all, checks that are not repeated after a wait. `FAMILIES` groups all rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.rewrite import rewrite_statement
from charter.core.show import show_expr, show_statement
from charter.core.walk import fold, locals_of, nodes, statement_expressions
from charter.mutate.edits import Edit, ExprEdit, text_at, write

Body = tuple[ir.Statement, ...]

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "a value is kept that should be read again": ("kept-value", "old-record", "stale-read"),
    "two updates are in the wrong order": ("read-after", "swap-messages", "swap-branches"),
    "a cleanup is forgotten on one path": ("forget-reset", "skip-clear"),
    "a set is of the wrong moment": ("wrong-moment",),
    "one is taken for all": ("one-for-all", "some-of-all", "all-but-one", "quantifier"),
    "a check is not repeated after a wait": ("unchecked-wait",),
}
"""The kinds of mistakes that reviews of charters found most often, and the mutation rules that make
them."""
OTHER_FAMILY = "another mistake"
MOMENTS = (
    "kept-value", "old-record", "swap-messages", "wrong-moment", "one-for-all", "some-of-all",
    "all-but-one", "unchecked-wait",
)  # fmt: skip
"""The rules of this module."""


def name_family(kind: str) -> str:
    """The family of a mutation rule."""
    return next((name for name, kinds in FAMILIES.items() if kind in kinds), OTHER_FAMILY)


# --- expressions ---------------------------------------------------------------------------------


def of_value(expr: ir.Expr) -> Iterator[ExprEdit]:
    """The edits of an expression and of all its subexpressions."""
    for node in nodes(expr):
        for edit in _of_node(node):
            yield edit.around(_put_node(expr, node, edit.new))


def _of_node(node: ir.Expr) -> Iterator[ExprEdit]:
    match node:
        case ir.Binary(op="subset"):
            yield from _some_of_all(node)
        case ir.Binary(op="eq", right=ir.SetNew(items=())) if isinstance(node.left.type, ty.Set):
            yield from _all_but_one(node)
        case ir.Let():
            for edit in _read_old(node.name, node.value, node.body):
                yield edit.around(replace(node, body=edit.new))
        case _:
            pass


def _some_of_all(expr: ir.Binary) -> Iterator[ExprEdit]:
    """`a subset b`: it is enough that one member of `a` is in `b`."""
    common: ir.Expr = ir.Binary(
        "intersection", expr.left, expr.right, type=expr.left.type, span=expr.span
    )
    nothing: ir.Expr = ir.SetNew((), type=expr.left.type, span=expr.span)
    found: ir.Expr = ir.Binary("ne", common, nothing, type=ty.Bool(), span=expr.span)
    says = f"one member is enough for `{write(expr)}`"
    text = f"{write(expr.left)} & {write(expr.right)} != {{}}"
    yield Edit("some-of-all", says, expr.span, text, show_expr(expr), found)


def _all_but_one(expr: ir.Binary) -> Iterator[ExprEdit]:
    """`a == {}`: one member may be left."""
    one: ir.Expr = ir.Literal(1, type=ty.Int(ty.Limit(plus=1), ty.Limit(plus=1)), span=expr.span)
    size: ir.Expr = ir.Builtin("size", (expr.left,), type=ty.Int(None, None), span=expr.span)
    found: ir.Expr = ir.Binary("le", size, one, type=ty.Bool(), span=expr.span)
    says = f"one member may be left in `{write(expr)}`"
    text = f"size({write(expr.left)}) <= 1"
    yield Edit("all-but-one", says, expr.span, text, show_expr(expr), found)


def old_records(function: ir.Function) -> Iterator[ExprEdit]:
    """A field of a parameter, read of another parameter of the same record type: of the record
    before the change, or after it."""
    records = [one for one in function.params if isinstance(one.type, ty.Record)]
    for node in nodes(function.body):
        match node:
            case ir.FieldOf(target=ir.Local(name=name) as target):
                for other in records:
                    if other.name != name and other.type == target.type:
                        new = replace(node, target=replace(target, name=other.name))
                        says = f"`{write(node)}` is read of `{other.name}`"
                        text = f"{other.name}.{node.field}"
                        mark = f"{show_expr(node)} {text}"
                        whole = _put_node(function.body, node, new)
                        yield Edit("old-record", says, node.span, text, mark, whole)
            case _:
                pass


def _read_old(name: str, value: ir.Expr, body: ir.Expr) -> Iterator[ExprEdit]:
    """Each place that reads an updated value under its name: it reads the one before the update."""
    before = _read_before(value)
    if before is None:
        return
    called = {id(arg) for node in nodes(body) if isinstance(node, ir.Call) for arg in node.args}
    for node in nodes(body):
        if isinstance(node, ir.Local) and node.name == name:
            kind = "wrong-moment" if id(node) in called else "kept-value"
            says = f"`{write(before)}` is read for `{name}`, its value after the update"
            mark = f"{name} {show_expr(body)}"
            yield Edit(kind, says, node.span, write(before), mark, _put_node(body, node, before))


def _read_before(value: ir.Expr) -> ir.Expr | None:
    """What an updated value was before the update, if that has a name."""
    match value:
        case ir.RecordWith(target=target) | ir.MapWith(target=target):
            return target if isinstance(target, ir.Local | ir.StateRef) else _read_before(target)
        case _:
            return None


def _put_node(expr: ir.Expr, old: ir.Expr, new: ir.Expr) -> ir.Expr:
    """An expression with one node replaced."""
    return fold(expr, _by_identity(old, new))


# --- bodies --------------------------------------------------------------------------------------


def of_moments(body: Body, skipped: frozenset[int], lets: int = 0) -> Iterator[Edit[Body]]:
    """The edits of a body, but for its lines in `skipped`. The first `lets` lines are shared with
    other bodies: what they bind is read in others, and they stay."""
    for i in range(len(body)):
        if i not in skipped:
            yield from read_old_lines(body, i, skipped | {*range(lets)})
            if i >= lets:
                yield from chain(_of_line(body, i), one_for_all(body, i))
                yield from swap_messages(body, i, skipped)
    yield from drop_checks(body, skipped)


def _of_line(body: Body, at: int) -> Iterator[Edit[Body]]:
    line = body[at]
    for expr in statement_expressions(line):
        for node in nodes(expr):
            for edit in _of_node(node):
                new = _with_node(line, node, edit.new)
                yield edit.around((*body[:at], new, *body[at + 1 :]))


def read_old_lines(body: Body, at: int, skipped: frozenset[int]) -> Iterator[Edit[Body]]:
    """The lines below a `let` of an updated value: each place reads the value before the update."""
    line = body[at]
    if not isinstance(line, ir.Bind):
        return
    for i in range(at + 1, len(body)):
        other = body[i]
        for expr in statement_expressions(other) if i not in skipped else ():
            for edit in _read_old(line.name, line.value, expr):
                new = rewrite_statement(other, _by_identity(expr, edit.new))
                yield edit.around((*body[:i], new, *body[i + 1 :]))


def one_for_all(body: Body, at: int) -> Iterator[Edit[Body]]:
    """An update of a whole map, or a message for each of several, for any one of them."""
    line = body[at]
    match line:
        case ir.Assign(value=value) if isinstance(value.type, ty.Map) and not isinstance(
            value, ir.MapWith | ir.Local
        ):
            key = value.type.key
            one = ir.Local("one#only", type=key, span=line.span)
            old = ir.StateRef(line.variable, type=value.type, span=line.span)
            entry = ir.MapGet(value, one, type=value.type.value, span=value.span)
            only = ir.MapWith(old, ((one, entry),), type=value.type, span=value.span)
            new: ir.Statement = replace(line, value=only)
            says = f"one entry alone is updated of `{text_at(line.span)}`"
        case ir.Send(each=(name, domain)) | ir.Clear(each=(name, domain)):
            key = _element(domain)
            one = ir.Local("one#only", type=key, span=line.span)
            those = ir.SetNew((one,), type=domain.type, span=domain.span)
            fewer = ir.Binary("intersection", domain, those, type=domain.type, span=domain.span)
            new = replace(line, each=(name, fewer))
            says = f"`{text_at(line.span)}` is done for one of them"
        case _:
            return
    every = ir.Domain(type=ty.Set(key), span=line.span)
    pick = ir.Pick("one#only", key, None, every, or_none=False, span=line.span)
    text = f"pick one in {show_expr(every)}; {text_at(line.span)} (for one)"
    yield Edit(
        "one-for-all", says, line.span, text, show_statement(line),
        (*body[:at], pick, new, *body[at + 1 :]),
    )  # fmt: skip


def swap_messages(body: Body, at: int, skipped: frozenset[int]) -> Iterator[Edit[Body]]:
    """Two statements that change the same channel, in the other order."""
    first = body[at]
    if not isinstance(first, ir.Send | ir.Clear):
        return
    for i in range(at + 1, len(body)):
        second = body[i]
        if i in skipped or not isinstance(second, ir.Send | ir.Clear):
            continue
        if second.channel == first.channel:
            says = f"`{text_at(second.span)}` comes before `{text_at(first.span)}`"
            new = (*body[:at], second, *body[at + 1 : i], first, *body[i + 1 :])
            text = f"{text_at(second.span)}; {text_at(first.span)}"
            mark = f"{show_statement(first)} {show_statement(second)}"
            yield Edit("swap-messages", says, first.span, text, mark, new)
            return


def drop_checks(body: Body, skipped: frozenset[int]) -> Iterator[Edit[Body]]:
    """A step that receives a message checks nothing again: what was so when the message was sent
    is taken to be so still."""
    received = {line.name for line in body if isinstance(line, ir.Receive)}
    checks = [i for i in _checks(body, received) if i not in skipped]
    if len(checks) < 2:
        return
    span = body[checks[0]].span
    texts = ", ".join(f"`{text_at(body[i].span)}`" for i in checks)
    mark = " ".join(show_statement(body[i]) for i in checks)
    rest = tuple(line for i, line in enumerate(body) if i not in checks)
    yield Edit("unchecked-wait", f"nothing is checked again: {texts}", span, "", mark, rest)


def _checks(body: Body, received: set[str]) -> Iterator[int]:
    """The conditions of a step on the state alone, where it receives a message."""
    if received:
        bound: set[str] = set()
        for i, line in enumerate(body):
            if isinstance(line, ir.CallOperation):
                bound.add(line.result)
            elif isinstance(line, ir.Require) and not bound & locals_of(line.condition):
                yield i


# --- helpers -------------------------------------------------------------------------------------


def _with_node(line: ir.Statement, old: ir.Expr, new: ir.Expr) -> ir.Statement:
    return rewrite_statement(line, _by_identity(old, new))


def _element(domain: ir.Expr) -> ty.Type:
    """The type of the members of a set."""
    assert isinstance(domain.type, ty.Set)
    return domain.type.inner


def _by_identity(old: ir.Expr, new: ir.Expr) -> Callable[[ir.Expr], ir.Expr]:
    """A rule that replaces one node: others may be equal."""
    return lambda node: new if node is old else node
