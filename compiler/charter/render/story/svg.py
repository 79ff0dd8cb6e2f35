"""Draws the frame that all pictures have as SVG documents."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def document(size: tuple[int, int], title: str, parts: Iterable[str], said: str = "") -> str:
    """An SVG document that stands alone, with `parts` on white: width and height in pixels, its
    title, and what it says for those who do not see it ("": nothing more)."""
    width, height = size
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        *([f"<desc>{escape(said)}</desc>"] if said else []),
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *parts,
        "</svg>\n",
    ])  # fmt: skip
