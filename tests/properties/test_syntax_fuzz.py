"""Whatever the text: a tree or diagnostics, never a traceback, and never both or neither."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.comparing.sampled import few_or_all

from charter.diagnostics import Diagnostics, Source
from charter.syntax.parse import parse, parse_rest
from charter.syntax.show import show

GOLDEN = Path(__file__).parents[1] / "golden" / "surface" / "everything.charter"
VALID = GOLDEN.read_text(encoding="utf-8")
SPLINTERS = [
    "(", ")", "{", "}", "[", "]", "<", ">", "'", '"', "--", "\n", " ", ",", ":", "=", "==", "..",
    "|", "&", "- ", "and", "or", "in", "let", "when", "with", "reply", "match", "forall", "not",
    "0", "x", "§", "\\", "\t", "\r", "\0", "in any order", "protocol", "none", "9" * 40,
]  # fmt: skip


def check(text: str) -> None:
    source = Source("fuzz", text)
    diagnostics = Diagnostics()
    tree = parse(source, diagnostics)
    assert (tree is None) == bool(diagnostics.errors), text
    for item in diagnostics:
        assert item.code.startswith("syntax/") and item.show(), text
        assert 0 <= item.span.start <= len(text), text
    found = Diagnostics()
    rest = parse_rest(source, found)
    assert found.items == diagnostics.items, text
    if tree is None and rest is not None:
        assert rest.broken and len(found.errors) >= len(rest.broken) > 0, text
        starts = [span.start for span in rest.broken]
        assert len({*starts}) == len(starts) and all(s.start < s.end for s in rest.broken), text
        assert not any(s.holds(d.span) for s in rest.broken for d in rest.declarations), text
    if tree is not None:
        assert rest == tree, text
        assert parse(Source("shown", show(tree)), diagnostics) == tree, text


DRAWN = settings(deadline=None, derandomize=True)


@few_or_all(40, 200)
def test_random_text_is_refused_with_diagnostics_when_it_is_parsed(examples: int) -> None:
    @settings(DRAWN, max_examples=examples)
    @given(st.text() | st.lists(st.sampled_from(SPLINTERS)).map(" ".join))
    def refuse(text: str) -> None:
        check(text)
        check(f"protocol p\n{text}")
        check(f"protocol p\nalways a of b: {text}")

    refuse()


@few_or_all(4, 80)
def test_a_mutated_charter_is_parsed_or_refused_when_it_is_damaged(examples: int) -> None:
    @settings(DRAWN, max_examples=examples)
    @given(
        st.integers(0, len(VALID)),
        st.integers(0, 12),
        st.sampled_from(["", *SPLINTERS]),
        st.integers(0, len(VALID)),
    )
    def check_text(start: int, length: int, splinter: str, begin: int) -> None:
        near = VALID[max(0, begin - 40) : begin]
        check(VALID[:start] + splinter + VALID[start + length :])
        check(VALID[:start] + near + VALID[start:])

    check_text()


@pytest.mark.parametrize(
    "inner",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "not " * 3000 + "a",
        "- " * 3000 + "1",
        "if a then " * 2000 + "b" + " else c" * 2000,
        "{" * 3000,
        "a" + " + a" * 3000,
        "a" + ".f" * 3000,
        "a" + " implies a" * 3000,
        "forall x in S: " * 2000 + "x",
        "let x = 1 in " * 2000 + "x",
        "f(" * 1000 + ")" * 1000,
    ],
)
def test_nesting_is_refused_when_it_is_too_deep(inner: str) -> None:
    diagnostics = Diagnostics()
    assert parse(Source("deep", f"protocol p\nalways a of b: {inner}"), diagnostics) is None
    (found,) = diagnostics.errors
    assert found.code in {"syntax/too-deep", "syntax/unexpected"}
    assert found.show()


def test_nesting_is_accepted_when_it_is_as_deep_as_people_write() -> None:
    inner = "(" * 40 + "x" + ")" * 40 + " + x" * 40
    diagnostics = Diagnostics()
    assert parse(Source("deep", f"protocol p\nalways a of b: {inner}"), diagnostics) is not None


def test_a_line_of_dashes_behind_a_name_is_read_in_no_time() -> None:
    text = "protocol p\nalways a of b: x " + "-" * 5000 + "\n" * 5000 + "-" * 5000
    assert parse(Source("dashes", text), Diagnostics()) is not None
