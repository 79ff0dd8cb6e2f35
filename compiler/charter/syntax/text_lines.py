"""Lines of a formatted text with the comments behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from charter.syntax import nodes
from charter.syntax.documents import STEP, WIDTH, Doc, flat, lines

FARTHEST: Final = 60
"""Comments behind neighbouring lines are aligned up to this column."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line with its indentation, and the comment behind it."""

    text: str
    trailing: str = ""


BLANK: Final = TextLine("")


def rows_of(doc: Doc, indent: int, opening: str = "") -> list[TextLine]:
    """`doc` laid out `indent` columns from the left, after `opening`."""
    first, *others = lines((opening, doc), indent)
    return [TextLine(" " * indent + first), *(TextLine(line) for line in others)]


def fits(doc: Doc, indent: int) -> bool:
    """Whether `doc` is short enough for one line."""
    return indent + len(flat(doc)) <= WIDTH


def comment_rows(comments: tuple[str, ...], indent: int) -> list[TextLine]:
    """Comments on lines of their own; "" is a blank line, " " a comment without text."""
    return [TextLine(f"{' ' * indent}-- {line}".rstrip() if line else "") for line in comments]


def remark(item: nodes.Item, body: list[TextLine], indent: int, at: int = -1) -> list[TextLine]:
    """`body` with the comments of `item` above it and behind its line number `at`."""
    body = list(body)
    if item.trailing:
        body[at] = replace(body[at], trailing=item.trailing)
    return [*comment_rows(item.comments, indent), *body]


def block(item: nodes.Item, header: Doc, inner: list[TextLine], indent: int) -> list[TextLine]:
    """`header { inner }`, with the comments of `item`; `inner` is indented already."""
    inner = [*inner, *comment_rows(item.closing, indent + STEP)]
    if not inner:
        body = rows_of((header, " { }"), indent)
        return remark(item, body, indent, len(body) - 1)
    head = rows_of((header, " {"), indent)
    if len(head) > 1 and not head[-1].text.lstrip().startswith(")"):
        head = [*rows_of(header, indent), TextLine(" " * indent + "{")]
    body = [*head, *inner, TextLine(" " * indent + "}")]
    return remark(item, body, indent, len(head) - 1)


def has_comment(item: nodes.Item) -> bool:
    """Whether `item` has any comment."""
    return bool(item.comments or item.trailing or item.closing)


def text_of(rows: list[TextLine]) -> str:
    """The text, with comments behind neighbouring lines aligned."""
    done: list[str] = []
    position = 0
    while position < len(rows):
        end = position
        while end < len(rows) and rows[end].text:
            end += 1
        done.extend(_align(rows[position:end]))
        if end < len(rows):
            done.append("")
        position = end + 1
    return "".join(f"{line}\n" for line in done)


def _align(rows: list[TextLine]) -> list[str]:
    columns = [len(row.text) for row in rows if row.trailing and len(row.text) <= FARTHEST]
    column = max(columns, default=0)
    return [
        f"{row.text.ljust(column)}  -- {row.trailing}" if row.trailing else row.text for row in rows
    ]
