"""Builds the surface tree: variants, mutants, overlays, and the file that holds it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from charter.syntax import nodes
from charter.syntax.build_body import attach_comments, branch, in_sections, operation, state
from charter.syntax.build_decl import plain_declaration, step
from charter.syntax.build_expr import (
    TreeReader,
    citations,
    expr,
    name,
    names,
    optional_name,
    text,
)
from charter.syntax.concrete import Part, Tree, leaf, tree, trees

What = Literal[
    "conjunct", "update", "branch", "operation", "step", "property", "witness", "scenario"
]
WHAT: Final[Mapping[str, What]] = {
    "conjunct": "conjunct", "update": "update", "branch": "branch", "operation": "operation",
    "step": "step", "property": "property", "witness": "witness", "scenario": "scenario",
}  # fmt: skip
Replaced = Literal["conjunct", "update", "pick", "let", "history", "image"]
PARTS: Final[Mapping[str, Replaced]] = {
    "conjunct": "conjunct", "update": "update", "pick": "pick",
}  # fmt: skip
VERDICT: Final[Mapping[str, nodes.Verdict]] = {
    "charter_gap": "charter_gap", "by_design": "by_design", "harmless": "harmless",
    "known_defect": "known_defect", "suspected_defect": "suspected_defect",
}  # fmt: skip


def file(reader: TreeReader, part: Part) -> nodes.File:
    """A whole file."""
    node = tree(part)
    head, *rest = trees(node.children)
    dotted = ".".join(leaf(child).text for child in head.children)
    item = nodes.File(
        nodes.Name(dotted, span=reader.span(head)),
        in_sections(_declaration(reader, child) for child in rest),
        span=reader.span(node),
    )
    return attach_comments(reader, node, item)


def _declaration(reader: TreeReader, node: Tree) -> nodes.Declaration:
    match node.rule:
        case "variant_decl":
            return attach_comments(reader, node, _variant(reader, node))
        case "mutant_decl":
            return attach_comments(reader, node, _mutant(reader, node))
        case "overlay_decl":
            return attach_comments(reader, node, _overlay(reader, node))
        case _:
            return plain_declaration(reader, node)


def _variant(reader: TreeReader, node: Tree) -> nodes.VariantDecl:
    called, after, cites, *rest = node.children
    return nodes.VariantDecl(
        name(reader, called),
        names(reader, after),
        citations(reader, cites),
        tuple(_edit(reader, child) for child in rest),
        span=reader.span(node),
    )


def _edits(reader: TreeReader, part: Part) -> tuple[nodes.Edit, ...]:
    return tuple(_edit(reader, child) for child in tree(part).children)


def _mutant(reader: TreeReader, node: Tree) -> nodes.MutantDecl:
    called, instance, body, caught_by = node.children
    return nodes.MutantDecl(
        name(reader, called),
        name(reader, instance),
        _edits(reader, body),
        name(reader, caught_by),
        span=reader.span(node),
    )


def _overlay(reader: TreeReader, node: Tree) -> nodes.OverlayDecl:
    called, component, *rest = node.children
    functions = [child for child in trees(tuple(rest)) if child.rule == "fun_decl"]
    return nodes.OverlayDecl(
        name(reader, called),
        name(reader, component),
        tuple(_fun(reader, child) for child in functions),
        tuple(_entry(reader, child) for child in trees(tuple(rest[len(functions) :]))),
        span=reader.span(node),
    )


def _fun(reader: TreeReader, node: Tree) -> nodes.FunDecl:
    made = plain_declaration(reader, node)
    assert isinstance(made, nodes.FunDecl)
    return made


def _entry(reader: TreeReader, node: Tree) -> nodes.OverlayEntry:
    called, verdict, first, last, cites, evidence, body = node.children
    item = nodes.OverlayEntry(
        name(reader, called),
        VERDICT[leaf(tree(verdict).children[0]).text],
        text(first),
        text(last),
        citations(reader, cites),
        text(evidence),
        _edits(reader, body),
        span=reader.span(node),
    )
    return attach_comments(reader, node, item)


# --- edits ---------------------------------------------------------------------------------------


def _address(reader: TreeReader, part: Part) -> nodes.Address:
    node = tree(part)
    head, called, taken = node.children
    return nodes.Address(
        name(reader, head),
        optional_name(reader, called),
        optional_name(reader, taken),
        span=reader.span(node),
    )


def _edit(reader: TreeReader, part: Part) -> nodes.Edit:
    node = tree(part)
    match node.rule:
        case "replace" | "replace_branch" | "replace_operation":
            return attach_comments(reader, node, _replace(reader, node))
        case "replace_fun" | "replace_part" | "replace_let" | "replace_history" | "replace_image":
            return attach_comments(reader, node, _replace_with(reader, node))
        case "add" | "add_in":
            return attach_comments(reader, node, _add(reader, node))
        case "add_fault":
            return attach_comments(reader, node, _add_fault(reader, node))
        case _:
            return attach_comments(reader, node, _drop(reader, node))


def _replace(reader: TreeReader, node: Tree) -> nodes.Edit:
    span = reader.span(node)
    match node.rule, node.children:
        case "replace", (new,):
            declaration = plain_declaration(reader, new)
            assert isinstance(
                declaration,
                nodes.FunDecl
                | nodes.PropertyDecl
                | nodes.EventuallyDecl
                | nodes.RecordDecl
                | nodes.EnumDecl
                | nodes.UnionDecl
                | nodes.AliasDecl,
            )
            return nodes.Replace(declaration, span=span)
        case "replace_branch", (at, new):
            return nodes.ReplaceBranch(_address(reader, at), branch(reader, new), span=span)
        case "replace_operation", (at, new):
            made = step(reader, new) if tree(new).rule == "step_decl" else operation(reader, new)
            return nodes.ReplaceOperation(_address(reader, at), made, span=span)
        case _:
            raise AssertionError(node.rule)


def _replace_with(reader: TreeReader, node: Tree) -> nodes.Edit:
    span = reader.span(node)
    match node.rule, node.children:
        case "replace_fun", (called, cites, new):
            cited = citations(reader, cites)
            return nodes.ReplaceFun(name(reader, called), cited, expr(reader, new), span=span)
        case "replace_let", (called, at, new):
            what: Replaced = "let"
        case "replace_history", (called, at, new):
            what = "history"
        case "replace_image", (called, at, new):
            what = "image"
        case "replace_part", (word, called, at, new):
            what = PARTS[leaf(word).text]
        case _:
            raise AssertionError(node.rule)
    return nodes.ReplacePart(
        what, name(reader, called), _address(reader, at), expr(reader, new), span=span
    )


def _drop(reader: TreeReader, node: Tree) -> nodes.Drop:
    what = WHAT[leaf(node.children[0]).text]
    span = reader.span(node)
    match node.rule, node.children:
        case "drop_part", (_, part, at):
            return nodes.Drop(what, name(reader, part), _address(reader, at), span=span)
        case "drop_at", (_, at):
            address = _address(reader, at)
            last = address.branch or address.operation or address.head
            return nodes.Drop(what, last, address, span=span)
        case "drop_named", (_, named):
            token = leaf(named)
            called = text(token) if token.kind == "STRING" else token.text
            return nodes.Drop(what, nodes.Name(called, span=reader.span(token)), None, span=span)
        case _:
            raise AssertionError(node.rule)


def _add(reader: TreeReader, node: Tree) -> nodes.Add:
    span = reader.span(node)
    if node.rule == "add":
        return nodes.Add(None, None, plain_declaration(reader, node.children[0]), span=span)
    at, before, new = node.children
    declaration: nodes.StateDecl | nodes.Operation | nodes.StepDecl | nodes.Branch
    match tree(new).rule:
        case "state_decl" | "history":
            declaration = state(reader, new)
        case "operation":
            declaration = operation(reader, new)
        case "step_decl":
            declaration = step(reader, new)
        case _:
            declaration = branch(reader, new)
    return nodes.Add(_address(reader, at), optional_name(reader, before), declaration, span=span)


def _add_fault(reader: TreeReader, node: Tree) -> nodes.AddFault:
    exception, saying, at, condition = node.children
    fault = nodes.FaultRule(
        text(exception),
        text(saying),
        None if condition is None else expr(reader, condition),
        span=reader.span(node),
    )
    return nodes.AddFault(_address(reader, at), fault, span=reader.span(node))
