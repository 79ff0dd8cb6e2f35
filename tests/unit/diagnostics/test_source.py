"""Excerpts of source texts."""

from __future__ import annotations

import pytest

from charter.diagnostics import Span
from charter.diagnostics.source import EXCERPT_COLUMNS, Source


@pytest.mark.parametrize("at", [0, 3, 99, 40_000, 79_995])
def test_an_excerpt_of_a_long_line_is_cut_around_the_place(at: int) -> None:
    text = "x" * at + "WRONG" + "x" * (79_995 - at)
    line, carets = Span(Source("long.charter", text), at, at + 5).excerpt().split("\n")
    assert len(line) <= EXCERPT_COLUMNS + len("    1 | ") + 2 * len("...")
    assert line[carets.index("^") : carets.rindex("^") + 1] == "WRONG"
    assert line.endswith("...") == (at < 79_000) and line[8:].startswith("...") == (at > 90)


def test_a_place_that_is_longer_than_an_excerpt_is_cut() -> None:
    whole = Span(Source("long.charter", "y" * 80_000), 10, 70_000).excerpt()
    assert len(whole) < 3 * EXCERPT_COLUMNS and "^\n" not in whole and whole.endswith("^")


def test_a_line_of_usual_length_is_shown_whole() -> None:
    span = Span(Source("short.charter", "a\tbad b"), 2, 5)
    assert span.excerpt() == "    1 | a\tbad b\n      |  \t^^^"
