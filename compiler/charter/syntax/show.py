"""Formats a surface tree as canonical text. `parse(show(tree)) == tree`."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from charter.syntax import nodes
from charter.syntax.documents import LINE, STEP, Doc, Group, Nest
from charter.syntax.show_body import branch_rows, cites_doc, operation_rows, state_rows
from charter.syntax.show_decl import plain_rows, step_rows
from charter.syntax.show_expr import bound_to, quote, show_expr, show_type
from charter.syntax.text_lines import (
    BLANK,
    TextLine,
    block,
    comment_rows,
    fits,
    has_comment,
    remark,
    rows_of,
    text_of,
)

__all__ = ["show", "show_declaration", "show_expr", "show_type"]

ONE_LINERS = (
    nodes.SourceDecl | nodes.SortDecl | nodes.CounterDecl | nodes.ConstDecl | nodes.AliasDecl
)


def show(file: nodes.File) -> str:
    """The text of a whole file, with a newline at its end."""
    found = remark(file, rows_of(f"protocol {file.protocol.text}", 0), 0)
    before: nodes.Declaration | None = None
    for declaration in file.declarations:
        together = isinstance(declaration, ONE_LINERS) and type(before) is type(declaration)
        if not together:
            found.append(BLANK)
        found.extend(_declaration(declaration, 0))
        before = declaration
    if file.closing:
        found.extend((BLANK, *comment_rows(file.closing, 0)))
    return text_of(found)


def show_declaration(declaration: nodes.Declaration) -> str:
    """The text of one declaration, with a newline at its end."""
    return text_of(_declaration(declaration, 0))


def _declaration(item: nodes.Declaration, indent: int, opening: str = "") -> list[TextLine]:
    match item:
        case nodes.VariantDecl(name, after, citations, edits):
            follows = f" after {', '.join(each.text for each in after)}" if after else ""
            header = Group((f"{opening}variant {name.text}{follows}", cites_doc(citations)))
            return block(item, header, _edits(edits, indent + STEP), indent)
        case nodes.MutantDecl():
            return _mutant(item, indent, opening)
        case nodes.OverlayDecl(name, component, functions, entries):
            inner: list[TextLine] = []
            for function in functions:
                inner.extend([BLANK] if inner else [])
                inner.extend(plain_rows(function, indent + STEP))
            for entry in entries:
                inner.extend([BLANK] if inner else [])
                inner.extend(_entry(entry, indent + STEP))
            return block(item, f"{opening}overlay {name.text} of {component.text}", inner, indent)
        case _:
            return plain_rows(item, indent, opening)


def _mutant(item: nodes.MutantDecl, indent: int, opening: str) -> list[TextLine]:
    header = f"{opening}mutant {item.name.text} in {item.instance.text}"
    ending = f" caught by {item.caught_by.text}"
    inner = _edits(item.edits, indent + STEP)
    if len(inner) == 1 and not inner[0].trailing and not item.closing:
        short = f"{header} {{ {inner[0].text.strip()} }}{ending}"
        if fits(short, indent):
            return remark(item, rows_of(short, indent), indent)
    whole = block(item, header, inner, indent)
    whole[-1] = TextLine(whole[-1].text + ending, whole[-1].trailing)
    return whole


def _entry(item: nodes.OverlayEntry, indent: int) -> list[TextLine]:
    parts: list[Doc] = []
    if item.first_release or item.last_release:
        parts.append(f" for {quote(item.first_release)}..{quote(item.last_release)}")
    parts.append(cites_doc(item.citations))
    if item.evidence:
        parts.append(Nest((LINE, f"because {quote(item.evidence)}")))
    header = Group((f"entry {item.name.text} {item.verdict}", tuple(parts)))
    return block(item, header, _edits(item.edits, indent + STEP), indent)


# --- edits ---------------------------------------------------------------------------------------


def _edits(edits: tuple[nodes.Edit, ...], indent: int) -> list[TextLine]:
    """One-line edits without blank lines between them, longer ones with."""
    found: list[TextLine] = []
    before = 1
    for position, edit in enumerate(edits):
        rows = _edit(edit, indent)
        if position and (len(rows) > 1 or before > 1):
            found.append(BLANK)
        found.extend(rows)
        before = len(rows)
    return found


def _at(address: nodes.Address) -> str:
    operation = f".{address.operation.text}" if address.operation else ""
    branch = f"/{address.branch.text}" if address.branch else ""
    return f"{address.head.text}{operation}{branch}"


def _edit(item: nodes.Edit, indent: int) -> list[TextLine]:
    match item:
        case nodes.Replace(declaration):
            return _wrap(item, declaration, "replace ", indent)
        case nodes.ReplaceBranch(at, branch):
            return _wrap(item, branch, f"replace in {_at(at)} ", indent)
        case nodes.ReplaceOperation(at, operation):
            return _wrap(item, operation, f"replace in {_at(at)} ", indent)
        case nodes.Add(at, before, declaration):
            where = f"in {_at(at)} " if at else ""
            place = f"before {before.text} " if before else ""
            return _wrap(item, declaration, f"add {where}{place}", indent)
        case nodes.ReplaceFun(name, citations, value):
            head = Group((f"replace fun {name.text}", cites_doc(citations), " with"))
            return remark(item, rows_of(bound_to(head, value), indent), indent)
        case nodes.ReplacePart(what, name, at, value):
            opening = f"replace {what} {name.text} of {_at(at)} with"
            return remark(item, rows_of(bound_to(opening, value), indent), indent)
        case nodes.AddFault(at, fault):
            return remark(item, rows_of(_fault(at, fault), indent), indent)
        case nodes.Drop(what, name, at):
            return remark(item, rows_of(f"drop {_show_drop(what, name, at)}", indent), indent)
        case _:
            assert_never(item)


def _fault(at: nodes.Address, fault: nodes.FaultRule) -> Doc:
    saying = f" saying {quote(fault.saying)}" if fault.saying else ""
    opening = f"add fault {quote(fault.exception)}{saying} to {_at(at)}"
    return opening if fault.condition is None else bound_to(f"{opening} when", fault.condition)


def _show_drop(what: str, name: nodes.Name, at: nodes.Address | None) -> str:
    if what == "scenario":
        return f"scenario {quote(name.text)}"
    if at is None:
        return f"{what} {name.text}"
    if what in {"branch", "operation", "step"}:
        return f"{what} {_at(at)}"
    return f"{what} {name.text} of {_at(at)}"


def _wrap(
    item: nodes.Item,
    declaration: (
        nodes.Declaration | nodes.StateDecl | nodes.Operation | nodes.StepDecl | nodes.Branch
    ),
    opening: str,
    indent: int,
) -> list[TextLine]:
    """The new text of an edit, with the comments of the edit instead of its own."""
    if has_comment(item):
        declaration = replace(
            declaration,
            comments=(*item.comments, *declaration.comments),
            trailing=item.trailing or declaration.trailing,
        )
    match declaration:
        case nodes.StateDecl():
            return state_rows(declaration, indent, opening)
        case nodes.Operation():
            return operation_rows(declaration, indent, opening)
        case nodes.StepDecl():
            return step_rows(declaration, indent, opening)
        case nodes.Branch():
            return branch_rows(declaration, indent, opening)
        case _:
            return _declaration(declaration, indent, opening)
