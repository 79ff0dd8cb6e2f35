"""Where comments go, and that none is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.comparing.sampled import sample

from charter.diagnostics import Diagnostics, Source
from charter.syntax import nodes
from charter.syntax.parse import parse
from charter.syntax.show import show

ROOT = Path(__file__).parents[3]


def parse_text(text: str) -> nodes.File:
    diagnostics = Diagnostics()
    tree = parse(Source("test", text), diagnostics)
    assert tree is not None, [item.show() for item in diagnostics]
    return tree


def test_comments_go_to_what_follows_when_they_have_their_own_line() -> None:
    tree = parse_text(
        "-- about\n\n-- p\nprotocol p\n-- one\n--two\nsort A\n-- three\nsort B\n-- end\n"
    )
    assert tree.comments == ("about", "", "p")
    assert [item.comments for item in tree.declarations] == [("one", "two"), ("three",)]
    assert tree.closing == ("end",)


def test_a_comment_goes_to_what_ends_when_it_stands_behind() -> None:
    tree = parse_text(
        "protocol p -- head\nsort A -- a\nrecord R { f: T, -- field\n g: T } -- record\n"
    )
    assert tree.trailing == "head"
    sort, record = tree.declarations
    assert sort.trailing == "a"
    assert isinstance(record, nodes.RecordDecl)
    assert [item.trailing for item in record.fields] == ["field", ""]
    assert record.trailing == "record"


def test_a_comment_goes_to_the_block_when_it_stands_behind_its_brace() -> None:
    text = "protocol p\nrecord R { -- open\n  -- field\n  f: T\n  -- last\n}\n"
    tree = parse_text(text)
    (record,) = tree.declarations
    assert isinstance(record, nodes.RecordDecl)
    assert record.trailing == "open"
    assert record.fields[0].comments == ("field",)
    assert record.closing == ("last",)
    assert show(tree) == text.replace("\nrecord", "\n\nrecord").replace("{ --", "{  --")


def test_comments_move_above_when_they_stand_inside_an_expression() -> None:
    head = "protocol p\n-- above\nfun f(a: T -- param\n) -> T = -- body\n"
    text = f"{head}  -- sum\n  a + -- one\n  1 -- end"
    (fun,) = parse_text(text).declarations
    assert fun.comments == ("above", "param", "body", "sum", "one")
    assert fun.trailing == "end"


def test_a_conjunct_keeps_its_comments_when_the_guard_has_several_lines() -> None:
    guard = "when\n-- first\na -- behind\n-- second\nand k: b -- last\n"
    text = f"protocol p\ncomponent c {{ operation f() -> T {{ branch x {guard} reply 1 }} }}"
    shown = show(parse_text(text))
    assert "      when\n        -- first\n        a         -- behind\n" in shown
    assert "        -- second\n        and k: b  -- last\n      reply 1\n" in shown


def test_comments_stand_above_a_group_when_they_were_inside_it() -> None:
    guard = "when\n-- first\nk: a -- behind\n-- second\nand b -- last\n"
    text = f"protocol p\ncomponent c {{ operation f() -> T {{ branch x {guard} reply 1 }} }}"
    shown = show(parse_text(text))
    assert (
        "      when\n        -- first\n        -- behind\n        -- second\n"
        "        k: a and b  -- last\n      reply 1\n"
    ) in shown


def test_an_edit_has_the_comments_when_its_declaration_had_them() -> None:
    text = "protocol p\nvariant v {\n -- why\n add -- what\n fun f() -> T = 1 -- how\n}"
    (variant,) = parse_text(text).declarations
    assert isinstance(variant, nodes.VariantDecl)
    (edit,) = variant.edits
    assert edit.comments == ("why", "what")
    assert edit.trailing == "how"


@pytest.mark.parametrize("text", ['source S "a -- b"', 'source S "\\" -- b"'])
def test_dashes_are_no_comment_when_they_stand_in_a_text(text: str) -> None:
    tree = parse_text(f"protocol p\n{text}")
    assert tree.declarations[0].trailing == ""
    assert show(tree) == f"protocol p\n\n{text}\n"


FILES = sorted([*ROOT.glob("spec/**/*.charter"), *ROOT.glob("tests/golden/surface/*.charter")])


@pytest.mark.parametrize("path", sample(FILES, 10, lambda path: path.name))
def test_a_charter_keeps_tree_and_comments_when_it_is_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = parse_text(text)
    shown = show(tree)
    assert parse_text(shown) == tree
    assert show(parse_text(shown)) == shown
    assert sorted(_comments(shown)) == sorted(_comments(text))


def _comments(text: str) -> list[str]:
    """Comments of texts whose string literals have no dashes."""
    return [found.strip() for found in re.findall(r"--(.*)", text) if found.strip()]


def test_a_comment_without_text_stays_and_a_blank_line_is_another_thing() -> None:
    text = "protocol p\n\n-- one\n--\n-- two\n\n-- three\nsort A\n"
    tree = parse_text(text)
    assert tree.declarations[0].comments == ("one", " ", "two", "", "three")
    assert tree.declarations[0].section == "one\n\ntwo"
    assert show(tree) == text


@pytest.mark.parametrize("statement", ["flush x", "crash process", "clear calls[a]"])
def test_a_comment_behind_a_statement_stays_there_when_it_is_formatted(statement: str) -> None:
    branch = f"branch b {{\n        {statement}  -- why\n        reply 0\n      }}"
    body = f"component c {{\n    operation o() -> T {{\n      {branch}\n    }}\n  }}"
    if statement.startswith("clear"):
        body = f"system c {{\n    step s() {{\n      {statement}  -- why\n    }}\n  }}"
    text = show(parse_text(f"protocol p\n{body}"))
    assert f"{statement}  -- why\n" in text
    assert show(parse_text(text)) == text
