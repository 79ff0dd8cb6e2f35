"""Pages as a static site: names in code link to their declarations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import assert_never

from jinja2 import Template

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
)
from charter.render.text import environment

STYLE = "style.css"
SIZE = re.compile(r'<svg[^>]* width="(\d+)" height="(\d+)"')
SMALLEST = 0.8
"""A picture is made narrower with its page, but not by more: its texts could not be read."""


@lru_cache(maxsize=1)
def _template() -> Template:
    return environment("charter.render.pages", escapes=True).get_template("page.html.j2")


def style() -> str:
    """The style sheet of the site, the file `STYLE`."""
    return environment("charter.render.pages", escapes=True).get_template("style.css.j2").render()


def in_html(pages: Sequence[DocumentPage], chosen: DocumentPage) -> str:
    """One page of a site, with links to the others."""
    headings = [block for block in chosen.blocks if isinstance(block, Heading)]
    place = pages.index(chosen)
    return _template().render(
        pages=pages,
        page=chosen,
        previous=pages[place - 1] if place else None,
        following=pages[place + 1] if place + 1 < len(pages) else None,
        site=pages[0].title,
        headings=[heading for heading in headings if heading.level < 4],
        body="\n".join(map(_block, chosen.blocks)),
        style=STYLE,
    )


def _block(block: Block) -> str:
    match block:
        case Heading(level, text, is_code, anchor):
            shown = f"<code>{escape(text)}</code>" if is_code else escape(text)
            link = f'<a class="here" href="#{anchor}" aria-label="Link to this place">#</a>'
            return f'<h{level} id="{anchor}">{shown} {link}</h{level}>'
        case Paragraph(text, is_aside):
            opening = '<p class="aside">' if is_aside else "<p>"
            return f"{opening}{_inline(text)}</p>"
        case CodeBlock(text):
            return f"<pre><code>{_inline(text, in_code=True)}</code></pre>"
        case Table(header, rows):
            head = "".join(f"<th>{escape(name)}</th>" for name in header)
            lines = ("".join(f"<td>{_inline(cell)}</td>" for cell in row) for row in rows)
            body = "\n".join(f"<tr>{line}</tr>" for line in lines)
            return (
                f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
                f"<tbody>{body}</tbody></table></div>"
            )
        case Figure(path, svg, title, is_folded):
            image = f'<img src="{escape(path)}" alt="{escape(title)}" loading="lazy"{_size(svg)}>'
            shown = f'<figure class="scroll"><a href="{escape(path)}">{image}</a></figure>'
            if not is_folded:
                return shown
            return f"<details><summary>{escape(title)}</summary>\n{shown}</details>"
        case _:
            assert_never(block)


def _size(svg: str) -> str:
    """The attributes of an image by which a page keeps its place before it is there."""
    size = SIZE.match(svg)
    if size is None:
        return ""
    least = round(SMALLEST * int(size[1]))
    return f' width="{size[1]}" height="{size[2]}" style="min-width:{least}px"'


def _inline(text: Text, *, in_code: bool = False) -> str:
    return "".join(_piece(piece, in_code) for piece in text)


def _piece(piece: TextRun, in_code: bool) -> str:
    shown = escape(piece.text)
    if piece.kind == "code" and not in_code:
        shown = f"<code>{shown}</code>"
    if piece.kind == "comment":
        shown = f"<i>{shown}</i>"
    return (
        f'<a href="{escape(link_address(piece.target, ".html"))}">{shown}</a>'
        if piece.target
        else shown
    )
