"""Writes a page as Markdown. Code has no links there."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import assert_never

from charter.render.pages.blocks import (
    Block,
    CodeBlock,
    DocumentPage,
    Figure,
    Heading,
    Paragraph,
    Table,
    Text,
    TextRun,
    link_address,
    plain,
)

TICKS = re.compile(r"```+")
ITEM = re.compile(r"^(\d*)([-+.)])(?=\s|$)")
WIDTH = 110
WIDE = 20
"""Tables with more columns have no spaces around their bars, which were a third of the table of
verdicts."""
SPECIAL = re.compile(r"([\\`*_\[\]<>#])")


def in_markdown(page: DocumentPage) -> str:
    """The text of a page."""
    parts = [
        f"# {_escape(page.title)}",
        *(part for block in page.blocks for part in _block(block)),
    ]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text, is_code):
            yield f"{'#' * level} {f'`{text}`' if is_code else _escape(text)}"
        case Paragraph(text):
            yield _wrap(_inline(text))
        case CodeBlock(text):
            fence = max(["``", *TICKS.findall(plain(text))], key=len) + "`"
            yield f"{fence}charter\n{plain(text)}\n{fence}"
        case Table(header, rows):
            lines = [header, ("---",) * len(header), *(map(_cell, row) for row in rows)]
            bar = " | " if len(header) <= WIDE else "|"
            yield "\n".join(f"{bar}{bar.join(line)}{bar}".strip() for line in lines)
        case Figure(path, _, title):
            yield f"![{_escape(title)}]({path})"
        case _:
            assert_never(block)


def _wrap(text: str) -> str:
    """A paragraph in lines. None of them begins like an item of a list."""
    lines = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(ITEM.sub(r"\1\\\2", line) for line in lines)


def _cell(text: Text) -> str:
    return _inline(text).replace("|", "\\|").replace("\n", " ")


def _inline(text: Text) -> str:
    return "".join(_piece(piece) for piece in text)


def _piece(piece: TextRun) -> str:
    shown = f"`{piece.text}`" if piece.kind == "code" else _escape(piece.text)
    return f"[{shown}]({link_address(piece.target, '.md')})" if piece.target else shown


def _escape(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)
