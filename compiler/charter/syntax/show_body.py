"""Shows statements, branches and operations as lines."""

from __future__ import annotations

from typing import assert_never

from charter.syntax import nodes
from charter.syntax.documents import LINE, STEP, Doc, Group, Nest, flat, join
from charter.syntax.nodes import Expr
from charter.syntax.show_expr import (
    LOGIC,
    LOGICAL,
    NOT,
    SUM,
    arguments_doc,
    binder_doc,
    bound_to,
    close,
    expression,
    last,
    params_doc,
    quote,
    type_doc,
)
from charter.syntax.text_lines import (
    TextLine,
    block,
    comment_rows,
    fits,
    has_comment,
    remark,
    rows_of,
)


def cites_doc(citations: tuple[nodes.Citation, ...]) -> Doc:
    """` cites S1 "§2", silent`, or nothing; it may go to the next line."""
    if not citations:
        return ""
    shown = [
        f"{each.source} {quote(each.section)}" if each.section else each.source
        for each in citations
    ]
    return Nest((LINE, "cites ", ", ".join(shown)))


def alias_doc(alias: str) -> Doc:
    """` alias "handleBrokerFenced"`, or nothing; it may go to the next line."""
    return Nest((LINE, "alias ", quote(alias))) if alias else ""


# --- statements ----------------------------------------------------------------------------------


def statement_rows(item: nodes.Statement, indent: int) -> list[TextLine]:
    """Any statement."""
    return remark(item, rows_of(_statement(item), indent), indent)


def _statement(item: nodes.Statement) -> Doc:
    match item:
        case nodes.Let(name, value):
            return bound_to(f"let {name.text} =", value)
        case nodes.Pick(name, index, domain, or_none):
            each: Doc = ("for ", binder_doc(index), " ") if index else ""
            otherwise = " or none" if or_none else ""
            chosen = (close(domain, SUM), otherwise)
            return Group((f"pick {name.text} ", each, "in", Nest((LINE, chosen))))
        case nodes.Assign(target, value):
            return bound_to((expression(target), "' ="), value)
        case nodes.Flush(name, end, condition):
            to: Doc = "" if end is None else (" to ", expression(end))
            given: Doc = "" if condition is None else (LINE, "if ", expression(condition))
            return Group((f"flush {name.text}", to, Nest(given)))
        case nodes.Crash(of, kept, end):
            if kept is None or end is None:
                return f"crash {of}"
            return (f"crash {of} keeping {kept.text} to ", expression(end))
        case nodes.Reply(value):
            return bound_to("reply", value)
        case nodes.Require((nodes.Conjunct(None, condition),)):
            return bound_to("require", condition)
        case nodes.Require(guard):
            return Group(("require ", Nest(join((LINE, "and "), _conjuncts(guard)))))
        case nodes.CallOperation():
            return _call(item)
        case nodes.Send(channel, keys, message, done):
            shown = expression(message)
            if flat(shown).startswith("["):
                shown = ("(", shown, ")")  # without parentheses it would be parsed as another key
            return Group(("send ", channel.text, _keys(keys), " ", shown, Nest(_each(done))))
        case nodes.Receive(name, many, channel, keys):
            count: Doc = "" if many is None else ("[", close(many, SUM), "]")
            return ("receive ", name.text, count, " from ", channel.text, _keys(keys))
        case nodes.Clear(channel, keys, done):
            return Group(("clear ", channel.text, _keys(keys), Nest(_each(done))))
        case _:
            assert_never(item)


def _each(each: nodes.Each) -> Doc:
    ranging: Doc = "" if each.binder is None else (LINE, "for ", binder_doc(each.binder))
    condition: Doc = "" if each.condition is None else (LINE, "if ", expression(each.condition))
    return (ranging, condition)


def _keys(keys: tuple[Expr, ...]) -> Doc:
    return tuple(("[", expression(key), "]") for key in keys)


def _call(item: nodes.CallOperation) -> Doc:
    result = f"let {item.result.text} = " if item.result else ""
    index = () if item.index is None else (item.index,)
    called = (item.instance.text, _keys(index), ".", item.operation.text)
    return (result, called, arguments_doc(item.args))


# --- branches ------------------------------------------------------------------------------------


def _conjunct(conjunct: nodes.Conjunct, follower: nodes.Conjunct | None, alone: bool) -> Doc:
    """A conjunct of a guard. A label extends to the next one, so `and` and `or` behind it need no
    parentheses."""
    condition = conjunct.condition
    label = f"{conjunct.label.text}: " if conjunct.label else ""
    op = condition.op if isinstance(condition, nodes.Binary) else ""
    if alone and (op in ("or", "implies") or (op == "and" and label)):
        return (label, expression(condition))
    if op in LOGICAL and label and (follower is None or follower.label):
        shown = expression(condition) if follower is None else close(condition, LOGIC)
        return (label, shown)
    shown = last(condition, NOT) if follower is None else close(condition, NOT)
    return (label, Nest(shown))


def _conjuncts(guard: tuple[nodes.Conjunct, ...]) -> list[Doc]:
    followers = [*guard[1:], None]
    return [
        _conjunct(each, follower, len(guard) == 1)
        for each, follower in zip(guard, followers, strict=True)
    ]


def _guard_rows(guard: tuple[nodes.Conjunct, ...], indent: int) -> list[TextLine]:
    """`when a`, and each further conjunct on a line of its own below it."""
    found: list[TextLine] = []
    for position, (each, doc) in enumerate(zip(guard, _conjuncts(guard), strict=True)):
        deeper = indent + STEP
        if position:
            found.extend(remark(each, rows_of(Nest(doc), deeper, "and "), deeper))
        elif each.comments:
            found.append(TextLine(" " * indent + "when"))
            found.extend(remark(each, rows_of(doc, deeper), deeper))
        else:
            found.extend(remark(each, rows_of(Nest(doc), indent, "when "), indent))
    return found


def branch_rows(item: nodes.Branch, indent: int, opening: str = "") -> list[TextLine]:
    """A branch after `opening`; a body of one reply needs no braces."""
    header: Doc = Group((f"{opening}branch {item.name.text}", cites_doc(item.citations)))
    guard: Doc = ""
    if item.guard:
        guard = (" when ", join(" and ", _conjuncts(item.guard)))
    quiet = not any(has_comment(each) for each in item.guard)
    reply = item.body[0] if len(item.body) == 1 else None
    bare = reply is not None and not has_comment(reply) and not item.closing
    if bare and reply is not None:
        ending = _statement(reply)
        if quiet and fits((header, guard, " ", ending), indent):
            return remark(item, rows_of(flat((header, guard, " ", ending)), indent), indent)
        head = _branch_head(item, header, guard if quiet else None, indent)
        return remark(item, [*head, *rows_of(ending, indent + STEP)], indent)
    inner = [row for each in item.body for row in statement_rows(each, indent + STEP)]
    if quiet and fits((header, guard, " {"), indent):
        return block(item, flat((header, guard)), inner, indent)
    head = _branch_head(item, header, None, indent)
    inner = [*inner, *comment_rows(item.closing, indent + STEP)]
    edges = TextLine(" " * indent + "{"), TextLine(" " * indent + "}")
    return remark(item, [*head, edges[0], *inner, edges[1]], indent, len(head))


def _branch_head(item: nodes.Branch, header: Doc, guard: Doc | None, indent: int) -> list[TextLine]:
    if guard is not None and fits((header, guard), indent):
        return rows_of(flat((header, guard)), indent)
    if not any(has_comment(each) for each in item.guard):
        whole = ("when ", join(" and ", _conjuncts(item.guard)))
        if item.guard and fits(whole, indent + STEP):
            return [*rows_of(header, indent), *rows_of(flat(whole), indent + STEP)]
    return [*rows_of(header, indent), *_guard_rows(item.guard, indent + STEP)]


# --- operations and state ------------------------------------------------------------------------


def operation_rows(item: nodes.Operation, indent: int, opening: str = "") -> list[TextLine]:
    """An operation after `opening`."""
    header = Group(
        (
            (f"{opening}operation {item.name.text}", params_doc(item.params)),
            (" -> ", type_doc(item.result)),
            alias_doc(item.alias),
            cites_doc(item.citations),
        )
    )
    inner = [row for member in item.body for row in _member_rows(member, indent + STEP)]
    return block(item, header, inner, indent)


def _member_rows(item: nodes.OperationLine, indent: int) -> list[TextLine]:
    match item:
        case nodes.Assume(label, citations, condition):
            name: Doc = (f" {label.text}", cites_doc(citations), ":") if label else ""
            return remark(item, rows_of(bound_to(("assume", name), condition), indent), indent)
        case nodes.Let():
            return statement_rows(item, indent)
        case nodes.Branch():
            return branch_rows(item, indent)
        case nodes.AnyOrder(branches):
            inner = [row for each in branches for row in branch_rows(each, indent + STEP)]
            return block(item, "in any order", inner, indent)
        case _:
            assert_never(item)


def state_rows(item: nodes.StateDecl, indent: int, opening: str = "") -> list[TextLine]:
    """`[volatile | cached | ghost] state x: T = e on disk y`, or `history x: T = e then f`, after
    `opening`."""
    if item.becomes is not None:
        return remark(item, rows_of(_history(item, item.becomes, opening), indent), indent)
    kind = "" if item.kind == "durable" else f"{item.kind} "
    header: Doc = (f"{opening}{kind}state {item.name.text}: ", type_doc(item.type), " =")
    if item.on_disk is None:
        return remark(item, rows_of(bound_to(header, item.initial), indent), indent)
    disk: Doc = Nest((LINE, f"on disk {item.on_disk.text}"))
    whole = Group((bound_to(header, item.initial), disk))
    return remark(item, rows_of(whole, indent), indent)


def _history(item: nodes.StateDecl, becomes: nodes.Expr, opening: str) -> Doc:
    header: Doc = (f"{opening}history {item.name.text}: ", type_doc(item.type), " = ")
    then: Doc = ("then ", Nest(expression(becomes)))
    return Group((header, expression(item.initial), Nest((LINE, then))))
