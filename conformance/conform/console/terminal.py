"""Writes the output of the command line: results to stdout, everything else to stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import orjson

from charter.formats.canonical import Json


def out(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(text + "\n")


def out_json(value: Json) -> None:
    """The result for `--json`: one JSON document."""
    content = orjson.dumps(value, option=orjson.OPT_INDENT_2)
    sys.stdout.write(content.decode() + "\n")


def say(text: str) -> None:
    """Print a sentence to stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows with their cells aligned to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def number(count: int) -> str:
    """A count with thousands separated."""
    return f"{count:,}"


def shortened(text: str, width: int = 160) -> str:
    """A text cut to `width` characters."""
    return text if len(text) <= width else text[: width - 1] + "…"
