"""The text of a span as messages quote it."""

from __future__ import annotations

import pytest

from charter.diagnostics.source import NOWHERE, Source, Span


@pytest.mark.parametrize(
    ("marked", "quoted"),
    [
        ("f([a or b])", "a or b"),
        ("[a or (b and c]) implies", "a or (b and c)"),
        ("x = ([a) or b]", "(a) or b"),
        ("(([a or b) and c) or (d and (e]))", "((a or b) and c) or (d and (e))"),
        ("[a or\n  (b\n  and c]\n  )", "a or (b and c )"),
        ("[(a]", "(a"),
        ("[a)]", "a)"),
        ("f(x)\n[a -- one) of two\n  or b]", "a -- one) of two or b"),
    ],
)
def test_a_quote_has_the_parentheses_of_its_parts(marked: str, quoted: str) -> None:
    text = marked.replace("[", "").replace("]", "")
    start, end = marked.index("["), marked.index("]") - 1
    assert Span(Source("f", text), start, end).quote() == quoted


def test_the_span_of_what_is_in_no_file_quotes_nothing() -> None:
    assert NOWHERE.quote() == ""
