"""Shortens why a vector was not judged, for readers of a published report."""

from __future__ import annotations

import re

from charter.formats.verdict import BETWEEN, STDERR

_STDERR_LINES = 2
_FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:;,'\"]+/)+")
"""The folders of an absolute path."""


def brief(detail: str) -> str:
    """Why a vector was not judged, for readers elsewhere: of what an adapter wrote to stderr the
    first and the last line, and of each absolute path the name."""
    how, mark, said = detail.partition(STDERR)
    lines = said.split(BETWEEN)
    if len(lines) > _STDERR_LINES:
        lines = [lines[0], "…", lines[-1]]
    return how + mark + _FOLDERS.sub("", BETWEEN.join(lines))
