"""Writes the output of the command line: results to stdout, everything else to stderr.

Text from outside (an adapter, a charter, a file) may hold characters that steer a terminal or turn
the direction of what follows. They are shown as escapes, such as \\u001b.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import orjson

from charter.formats.canonical import Json

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufeff\ufffe\uffff]"
)
"""Control characters except tab and newline, controls of direction and of lines, and what is no
character."""


def visible(text: str) -> str:
    """The text with each character that steers a terminal or a page written as its escape."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    """A text from outside as a part of one line: newlines are escapes, too."""
    return visible(text).replace("\n", "\\n")


def out(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(visible(text) + "\n")


def out_json(value: Json) -> None:
    """The result for `--json`: one JSON document."""
    content = orjson.dumps(value, option=orjson.OPT_INDENT_2)
    sys.stdout.write(visible(content.decode()) + "\n")


def say(text: str) -> None:
    """Print a sentence to stderr."""
    sys.stderr.write(visible(text) + "\n")
    sys.stderr.flush()


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows with their cells aligned to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def plural(count: int, one: str, many: str = "") -> str:
    """`1 vector`, `2 vectors`."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def number(count: int) -> str:
    """A count with thousands separated."""
    return f"{count:,}"


def shorten(text: str, width: int = 160) -> str:
    """A text as a part of one line, cut to `width` characters."""
    text = one_line(text)
    return text if len(text) <= width else text[: width - 1] + "…"
