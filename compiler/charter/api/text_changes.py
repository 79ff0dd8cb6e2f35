"""Shows how a generated file differs from what it should be."""

from __future__ import annotations

import difflib


def show_changes(path: str, old: str, new: str) -> str:
    """The difference of two texts, the first lines of it, each cut: lines of JSON are long."""
    known, wanted = (text.splitlines() for text in (old, new))
    titles = f"{path} (as it is)", f"{path} (as it should be)"
    lines = [*difflib.unified_diff(known, wanted, *titles, lineterm="")]
    shown = [line if len(line) <= _WIDEST else f"{line[: _WIDEST - 4]} ..." for line in lines]
    left = len(shown) - _LINES
    more = [f"... and {left} lines more"] if left > 0 else []
    told = "".join(f"{line}\n" for line in [*shown[:_LINES], *more])
    return told.encode(errors="backslashreplace").decode()


_LINES, _WIDEST = 40, 160
"""How much of a difference is shown: lines, and characters of each."""
