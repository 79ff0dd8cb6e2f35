"""Reads the documentation of declarations: the comments directly above them or behind them."""

from __future__ import annotations

from collections.abc import Iterable

from charter.syntax import nodes as sx


def doc_of(item: sx.Item) -> str:
    """The comment directly above an item, and its alias. An empty comment line separates
    paragraphs; a comment followed by a blank line opens a section (`Item.section`) and is not
    included."""
    lines = item.comments
    first = max((position + 1 for position, line in enumerate(lines) if not line), default=0)
    match item:
        case sx.RecordDecl(alias=alias) | sx.FunDecl(alias=alias) | sx.Operation(alias=alias):
            also = f"Also called `{alias}`." if alias else ""
        case _:
            also = ""
    return "\n".join([*(line.strip() for line in lines[first:]), also]).strip()


def type_docs(nodes: Iterable[sx.Declaration]) -> Iterable[tuple[str, str]]:
    """The comments above or behind types, fields and cases, with their names: `Partition`,
    `Partition.isr`."""
    for node in nodes:
        match node:
            case sx.SortDecl() | sx.CounterDecl() | sx.ConstDecl() | sx.EnumDecl() | sx.AliasDecl():
                yield from _doc(node.name.text, node)
            case sx.RecordDecl():
                yield from _doc(node.name.text, node)
                for line in node.fields:
                    for name in line.names:
                        yield from _doc(f"{node.name.text}.{name.text}", line)
            case sx.UnionDecl():
                yield from _doc(node.name.text, node)
                for case in node.cases:
                    yield from _doc(f"{node.name.text}.{case.name.text}", case)
            case _:
                pass


def _doc(key: str, item: sx.Item) -> Iterable[tuple[str, str]]:
    text = doc_of(item) or item.trailing.strip()
    if text:
        yield key, text
