"""Declarations as lines, apart from variants, mutants and overlays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from charter.syntax import nodes
from charter.syntax.documents import LINE, STEP, WIDTH, Doc, Group, Nest, brackets, flat, join
from charter.syntax.show_body import (
    alias_doc,
    cites_doc,
    operation_rows,
    state_rows,
    statement_rows,
)
from charter.syntax.show_expr import (
    IMPLIES,
    SUM,
    arguments_doc,
    binders_doc,
    bound_to,
    close,
    expression,
    params_doc,
    quote,
    type_doc,
)
from charter.syntax.text_lines import BLANK, TextLine, block, fits, has_comment, remark, rows_of

Plain = (
    nodes.SourceDecl | nodes.SortDecl | nodes.CounterDecl | nodes.ConstDecl | nodes.AliasDecl
    | nodes.EnumDecl | nodes.RecordDecl | nodes.UnionDecl | nodes.FunDecl | nodes.ComponentDecl
    | nodes.SystemDecl | nodes.PropertyDecl | nodes.EventuallyDecl | nodes.SetupDecl
    | nodes.InstanceDecl | nodes.FragmentDecl | nodes.ScenarioDecl
)  # fmt: skip


def plain_rows(item: Plain, indent: int, opening: str = "") -> list[TextLine]:
    """Any declaration but variants, mutants and overlays, after `opening`."""
    match item:
        case nodes.EnumDecl():
            return _enum(item, indent, opening)
        case nodes.RecordDecl(name, fields, alias):
            inner = [row for each in fields for row in _field(each, indent + STEP)]
            title = Group((f"{opening}record {name.text}", alias_doc(alias)))
            return block(item, title, inner, indent)
        case nodes.UnionDecl():
            return _union(item, indent, opening)
        case nodes.ComponentDecl(name, members):
            inner = _members(members, indent + STEP)
            return block(item, f"{opening}component {name.text}", inner, indent)
        case nodes.SystemDecl(name, members):
            inner = _members(members, indent + STEP)
            return block(item, f"{opening}system {name.text}", inner, indent)
        case nodes.SetupDecl(name, given, machine, likes, body):
            inner = [row for each in body for row in _bound(each, indent + STEP)]
            given_doc = params_doc(given) if given else ""
            of: Doc = (given_doc, f" of {machine.text}", _likes(likes))
            return block(item, Group((f"{opening}setup {name.text}", of)), inner, indent)
        case nodes.InstanceDecl(name, machine, likes, body):
            inner = [row for each in body for row in _bound(each, indent + STEP)]
            of = (f" of {machine.text}", _likes(likes))
            return block(item, Group((f"{opening}instance {name.text}", of)), inner, indent)
        case nodes.FragmentDecl(name, given, machine, lines):
            inner = _lines(lines, indent + STEP)
            of = (params_doc(given), f" of {machine.text}")
            return block(item, Group((f"{opening}fragment {name.text}", of)), inner, indent)
        case nodes.ScenarioDecl():
            return _scenario(item, indent, opening)
        case _:
            return remark(item, rows_of((opening, _simple(item)), indent), indent)


def _simple(
    item: nodes.SourceDecl
    | nodes.SortDecl
    | nodes.CounterDecl
    | nodes.ConstDecl
    | nodes.AliasDecl
    | nodes.FunDecl
    | nodes.PropertyDecl
    | nodes.EventuallyDecl,
) -> Doc:
    match item:
        case nodes.SourceDecl(name, title, url, anchors):
            source = f"source {name.text} {quote(title)}"
            at: Doc = Nest((LINE, f"at {quote(url)}")) if url else ""
            each = [f"{quote(section)}: {quote(anchor)}" for section, anchor in anchors]
            listed = (" ", brackets("{", join((",", LINE), each), "}", LINE)) if each else ""
            return Group((source, at, listed))
        case nodes.SortDecl(name):
            return f"sort {name.text}"
        case nodes.CounterDecl(name, opaque, ordered):
            words = f"{'opaque ' if opaque else ''}{'counter ' if ordered else ''}"
            return f"{words}{name.text}"
        case nodes.ConstDecl(name, type_):
            return (f"const {name.text}: ", type_doc(type_))
        case nodes.AliasDecl(name, type_):
            return (f"type {name.text} = ", type_doc(type_))
        case nodes.FunDecl(name, params, result, citations, body, machine):
            of = f" of {machine.text}" if machine else ""
            head: Doc = (f"fun {name.text}", params_doc(params), f"{of} -> ", type_doc(result))
            header: Doc = Group((head, alias_doc(item.alias), cites_doc(citations), " ="))
            return Group((header, Nest((LINE, expression(body)))))
        case nodes.PropertyDecl(kind, name, machine, citations, body):
            header = Group((f"{kind} {name.text} of {machine.text}", cites_doc(citations), ":"))
            return Group((header, Nest((LINE, expression(body)))))
        case nodes.EventuallyDecl():
            return _eventually(item)
        case _:
            assert_never(item)


def _eventually(item: nodes.EventuallyDecl) -> Doc:
    title = f"eventually {item.name.text} of {item.machine.text}"
    header = Group((title, cites_doc(item.citations), _fairness(item.fairness), ":"))
    if item.trigger is None:
        return Group((header, Nest((LINE, expression(item.goal)))))
    body: Doc = Group(
        (close(item.trigger, IMPLIES), Nest((LINE, "leads to ", expression(item.goal))))
    )
    if item.binders:
        body = Group(("forall ", binders_doc(item.binders), ":", Nest((LINE, body))))
    return Group((header, Nest((LINE, body))))


def _fairness(fairness: tuple[nodes.Fair, ...]) -> Doc:
    if not fairness:
        return ""
    each = [
        f"{fair.step.text}({', '.join(p.text for p in fair.params)})"
        if fair.params
        else fair.step.text
        for fair in fairness
    ]
    return Nest((LINE, "fair ", Nest(_fill(each))))


def _enum(item: nodes.EnumDecl, indent: int, opening: str) -> list[TextLine]:
    header = f"{opening}enum {item.name.text}"
    members = [member.text for member in item.members]
    short = f"{header} {{ {', '.join(members)} }}"
    if fits(short, indent):
        return remark(item, rows_of(short, indent), indent)
    lines = [""]
    for member in members:
        if lines[-1] and indent + STEP + len(lines[-1]) + len(member) + 2 > WIDTH:
            lines.append("")
        lines[-1] += f" {member}," if lines[-1] else f"{member},"
    lines[-1] = lines[-1].removesuffix(",")
    inner = [TextLine(" " * (indent + STEP) + line) for line in lines]
    return block(item, header, inner, indent)


def _field(item: nodes.FieldDecl, indent: int) -> list[TextLine]:
    names = ", ".join(name.text for name in item.names)
    return remark(item, rows_of((names, ": ", type_doc(item.type)), indent), indent)


def _case(item: nodes.CaseDecl) -> Doc:
    return (item.name.text, params_doc(item.params) if item.params else "")


def _union(item: nodes.UnionDecl, indent: int, opening: str) -> list[TextLine]:
    header = f"{opening}union {item.name.text}"
    short = f"{header} {{ {', '.join(flat(_case(case)) for case in item.cases)} }}"
    quiet = not item.closing and not any(has_comment(case) for case in item.cases)
    if quiet and fits(short, indent):
        return remark(item, rows_of(short, indent), indent)
    inner = [
        row
        for case in item.cases
        for row in remark(case, rows_of(_case(case), indent + STEP), indent + STEP)
    ]
    return block(item, header, inner, indent)


# --- components and systems ----------------------------------------------------------------------

Member = (
    nodes.StateDecl | nodes.Operation | nodes.ObserveDecl
    | nodes.PartDecl | nodes.ChannelDecl | nodes.StepDecl
)  # fmt: skip


def _members(members: tuple[Member, ...], indent: int) -> list[TextLine]:
    """State, parts and channels without blank lines between them; members with a body have blank
    lines around them."""
    found: list[TextLine] = []
    bodies = nodes.Operation | nodes.ObserveDecl | nodes.StepDecl
    for position, member in enumerate(members):
        before = members[position - 1]
        if position and (isinstance(member, bodies) or isinstance(before, bodies)):
            found.append(BLANK)
        found.extend(_member(member, indent))
    return found


def _member(item: Member, indent: int) -> list[TextLine]:
    match item:
        case nodes.StateDecl():
            return state_rows(item, indent)
        case nodes.Operation():
            return operation_rows(item, indent)
        case nodes.ObserveDecl(level, entries):
            inner = [row for entry in entries for row in _show_observed(entry, indent + STEP)]
            return block(item, f"observe {level.text}", inner, indent)
        case nodes.PartDecl(name, index, component):
            each: Doc = ("map ", type_doc(index), " -> ") if index else ""
            return remark(item, rows_of((name.text, ": ", each, component.text), indent), indent)
        case nodes.ChannelDecl():
            return remark(item, rows_of(_channel(item), indent), indent)
        case nodes.StepDecl():
            return step_rows(item, indent)
        case _:
            assert_never(item)


def step_rows(item: nodes.StepDecl, indent: int, opening: str = "") -> list[TextLine]:
    """A step after `opening`."""
    called = f"{opening}step {item.name.text}"
    ending = f" budget {item.budget.text}" if item.budget else ""
    head = Group((called, params_doc(item.params), cites_doc(item.citations), ending))
    inner = [row for each in item.body for row in statement_rows(each, indent + STEP)]
    return block(item, head, inner, indent)


def _show_observed(item: nodes.Observed, indent: int) -> list[TextLine]:
    path = ".".join(name.text for name in item.path)
    text = f"{path}: {item.mode}" if item.mode else path
    return remark(item, rows_of(text, indent), indent)


def _channel(item: nodes.ChannelDecl) -> Doc:
    ends: Doc = type_doc(item.ends[0])
    if len(item.ends) > 1:
        ends = (ends, " -> ", type_doc(item.ends[1]))
    weak = f"{' lossy' if item.lossy else ''}{' duplicating' if item.duplicating else ''}"
    limit: Doc = "" if item.limit is None else (" max ", close(item.limit, SUM))
    carried = (" carries ", type_doc(item.message), f" {item.discipline}", limit, weak)
    return (f"channel {item.name.text}: ", ends, carried)


# --- instances and scenarios ---------------------------------------------------------------------


def _likes(likes: tuple[nodes.Like, ...]) -> Doc:
    if not likes:
        return ""
    each = [(x.name.text, arguments_doc(x.args) if x.args else "") for x in likes]
    return Nest((LINE, "like ", Nest(_fill(each))))


def _fill(each: Sequence[Doc]) -> Doc:
    """Items with commas between them, as many as fit in each line."""
    first, *others = each
    return (first, tuple((",", Group((LINE, other))) for other in others))


def _bound(item: nodes.Setting, indent: int) -> list[TextLine]:
    doc: Doc
    match item:
        case nodes.Bound(name, value):
            doc = bound_to(f"{name.text} =", value)
        case nodes.Start(name, value):
            doc = bound_to(f"start {name.text} =", value)
        case nodes.Prelude(body):
            return block(item, "prelude", _lines(body, indent + STEP), indent)
        case nodes.Offers(operations):
            first, *others = (name.text for name in operations)
            more = tuple((",", LINE, other) for other in others)
            doc = Group(("offers ", Nest((first, more))))
        case nodes.Misses(missed):
            doc = ("misses ", Nest(_fill([name.text for name in missed])))
        case nodes.Fails(failing):
            doc = ("fails ", Nest(_fill([name.text for name in failing])))
        case nodes.Only(operation, condition):
            doc = bound_to(f"only {operation.text} if", condition)
        case _:
            assert_never(item)
    return remark(item, rows_of(doc, indent), indent)


def _scenario(item: nodes.ScenarioDecl, indent: int, opening: str) -> list[TextLine]:
    head = (f"{opening}scenario {quote(item.title)} of {item.machine.text}", _likes(item.likes))
    inner = _lines(item.body, indent + STEP)
    return block(item, Group((*head, cites_doc(item.citations))), inner, indent)


_Line = nodes.Bound | nodes.Start | nodes.Prelude | nodes.Line


def _lines(body: tuple[_Line, ...], indent: int) -> list[TextLine]:
    inner: list[TextLine] = []
    for each in body:
        if isinstance(each, nodes.Moment) and inner:
            inner.append(BLANK)
        inner.extend(_scenario_item(each, indent))
    return inner


def _scenario_item(item: _Line, indent: int) -> list[TextLine]:
    doc: Doc
    match item:
        case nodes.Bound() | nodes.Start() | nodes.Prelude():
            return _bound(item, indent)
        case nodes.Let():
            return statement_rows(item, indent)
        case nodes.Do(operation, args, branch, reply, never):
            taken = f" -> {branch.text}" if branch else ""
            answer: Doc = "" if reply is None else Group(Nest((LINE, bound_to("reply", reply))))
            verb = "never do" if never else "do"
            doc = (f"{verb} {operation.text}", arguments_doc(args), taken, answer)
        case nodes.Include(name, args):
            doc = (f"include {name.text}", arguments_doc(args))
        case nodes.Expect(condition, never):
            doc = bound_to("never expect" if never else "expect", condition)
        case nodes.Moment(title):
            doc = f"step {quote(title)}"
        case _:
            assert_never(item)
    return remark(item, rows_of(doc, indent), indent)
