"""Draws the frame that all pictures have as SVG documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

LINE_HEIGHT = 15
"""Pixels from one line of text to the next below a picture."""


def draw_text(x: int, y: int, text: str, *, css: str) -> str:
    """A text with its baseline at `y`."""
    return f'<text x="{x}" y="{y}" {css}>{escape(text)}</text>'


def draw_finding(top: int, width: int, end: str, why: Sequence[str]) -> Iterator[str]:
    """What a picture ends with in a box ("": nothing), and below it the lines that say why."""
    if end:
        yield f'<rect x="8" y="{top}" width="{width - 16}" height="24" rx="4" fill="#fde8e6"/>'
        yield draw_text(18, top + 17, end, css='fill="#b42318" font-weight="bold"')
    for number, line in enumerate(why):
        yield draw_text(18, top + 40 + LINE_HEIGHT * number, line, css='fill="#20242a"')


def document(
    size: tuple[int, int], title: str, parts: Iterable[str], said: str = "", *, bare: bool = False
) -> str:
    """An SVG document that stands alone, with `parts` on white: width and height in pixels, its
    title, which is not drawn if it is `bare`, and what it says for those who do not see it ("":
    nothing more)."""
    width, height = size
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        *([f"<desc>{escape(said)}</desc>"] if said else []),
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *([] if bare else [draw_text(16, 20, title, css='font-weight="bold"')]),
        *parts,
        "</svg>\n",
    ])  # fmt: skip
