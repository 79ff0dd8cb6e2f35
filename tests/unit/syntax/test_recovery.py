"""The parser goes on behind a declaration that it cannot read."""

from __future__ import annotations

import pytest
from tests.support import spec

from charter.diagnostics import Diagnostics, Source
from charter.project.pipeline import check_texts
from charter.syntax import nodes
from charter.syntax.mistakes.frequent_mistakes import DECLARING
from charter.syntax.mistakes.recovery import find_lost_names, head_of
from charter.syntax.parse import acceptable, parse, parse_rest

HEAD = "protocol p\n"


def rest_of(text: str) -> tuple[nodes.File, list[str]]:
    """What can be parsed, and where each error is told."""
    diagnostics = Diagnostics()
    tree = parse_rest(Source("t", text), diagnostics)
    assert tree is not None
    return tree, [item.span.where().removeprefix("t:") for item in diagnostics]


def names(tree: nodes.File) -> list[str]:
    return [getattr(d, "title", "") or d.name.text for d in tree.declarations]  # type: ignore[union-attr]


def heads(tree: nodes.File) -> list[tuple[str, str]]:
    return [head_of(span) for span in tree.broken]


def test_each_declaration_tells_its_first_error_and_the_others_are_read() -> None:
    text = (
        f"{HEAD}-- about A\nsort A\nfun f(a: A -> bool = !\n-- about B\nsort B\n"
        'scenario "x" of c {\n  do f(\n  expect ) (\n}\ninstance tiny of c { A = }\nsort C'
    )
    tree, told = rest_of(text)
    assert told == ["4:12", "9:12", "11:26"]
    assert names(tree) == ["A", "B", "C"]
    assert [d.comments for d in tree.declarations] == [("about A",), ("about B",), ()]
    assert heads(tree) == [("fun", "f"), ("scenario", "x"), ("instance", "tiny")]
    assert parse(Source("t", text), Diagnostics()) is None


def test_comments_of_what_is_left_out_are_left_out_too() -> None:
    tree, _ = rest_of(f"{HEAD}-- of A\nsort A A\n\n-- of B\nsort B\n-- of C\nsort C )")
    assert [(*d.comments,) for d in tree.declarations] == [("of B",)]
    assert tree.closing == ()


@pytest.mark.parametrize(
    ("text", "kept", "lost"),
    [
        # A word at the margin may be the head of another declaration, so the one before stands.
        ("sort A\nsortt B\nsort C", ["A", "C"], [("", "")]),
        ("sort A\nmodule x\n", ["A"], [("", "")]),
        # What cannot be a head is a mistake in the declaration before.
        ('scenario "x" of c { do f() } }\nsort C', ["C"], [("scenario", "x")]),
        ('scenario "x" of c { do f() }\n}\nsort C', ["C"], [("scenario", "x")]),
        ('scenario "x" of c { do f() }\ndo g()\nsort C', ["C"], [("scenario", "x")]),
        # A declaration that is not finished may hide the one behind it.
        ('scenario "x" of c {\nsortt B\nsort C', ["C"], [("", "")]),
        # But not if its braces are closed: then a line at the margin is a part of it.
        ('scenario "x" of c {\nfoo bar\n  do f()\n}\nsort C', ["C"], [("scenario", "x")]),
        ('scenario "x" of c { -- {\nfoo bar\n}\nsort C', ["C"], [("scenario", "x")]),
        ('scenario "x" of c {\nfoo bar { }\nsort C', ["C"], [("", "")]),
        # A keyword that is mistyped, where what was meant is about something of its own.
        ('sort A\nscenaro "x" of c {\n  do f()\n}\nsort C', ["A", "C"], [("scenario", "x")]),
        ("sort A\ninstnce tiny of c { A = 2 }\nsort C", ["A", "C"], [("instance", "tiny")]),
        ("sort A\nmutan m in tiny {\n  drop x\n}\nsort C", ["A", "C"], [("mutant", "m")]),
        # What is not at the margin is no beginning.
        ("component c {\n  state x: = 1\n  fun nested\n}\nsort C", ["C"], [("component", "c")]),
        ("sort A\ncounter 1\nopaque counter T )", ["A"], [("counter", ""), ("opaque", "T")]),
    ],
)  # fmt: skip
def test_what_is_left_out_ends_where_the_next_declaration_begins(
    text: str, kept: list[str], lost: list[tuple[str, str]]
) -> None:
    tree, _ = rest_of(HEAD + text)
    assert (names(tree), heads(tree)) == (kept, lost)


def test_an_error_of_the_reader_leaves_its_declaration_out() -> None:
    deep = "(" * 200 + "x" + ")" * 200
    text = f"{HEAD}always a of b: x + y | z\nsort A\nalways b of b: {deep}\nsort B"
    tree, told = rest_of(text)
    assert len(told) == 2
    assert names(tree) == ["A", "B"]
    assert sorted(heads(tree)) == [("always", "a"), ("always", "b")]


def test_nothing_is_read_when_the_head_of_the_file_is_wrong() -> None:
    for text in ("", "protocl p\nsort A", "protocol\nsort A", "protocol p-q\nsort A"):
        diagnostics = Diagnostics()
        assert parse_rest(Source("t", text), diagnostics) is None
        assert len(diagnostics.errors) == 1


def test_every_keyword_of_a_declaration_is_known() -> None:
    assert {word for word in acceptable(HEAD + "sort A\n") if word != "$END"} == DECLARING


def test_lost_names_are_those_that_others_use() -> None:
    text = f"{HEAD}enum E {{ one, two, 3 }}\nfun f(x: E) -> bool = y +\nnonsense here\n"
    tree, _ = rest_of(text)
    assert {"E", "one", "two"} <= find_lost_names(tree.broken)
    tree, _ = rest_of(f"{HEAD}fun f(x: E) -> bool = y +\n")
    assert find_lost_names(tree.broken) == {"f"}


@pytest.mark.parametrize("name", ["ring_election", pytest.param("paxos", marks=pytest.mark.slow)])
def test_each_broken_declaration_is_one_error_and_none_follows(name: str) -> None:
    text = (spec.SPEC / "examples" / f"{name}.charter").read_text(encoding="utf-8")
    tree = parse(Source("t", text), Diagnostics())
    assert tree is not None
    for node in tree.declarations:
        line = text.find("\n", node.span.start)
        broken = f"{text[:line]}\n !! {text[line:]}"
        assert [item.code for item in check_texts((Source("t", broken),))] == [
            "syntax/unexpected"
        ], broken[node.span.start : line + 4]


def test_the_checks_tell_what_else_is_wrong() -> None:
    text = (
        f"{HEAD}sort A\nfun f(a: A) -> bool = (\nfun g(a: A) -> bool = f(a) and h(a)\n"
        "fun k(a: B) -> bool = true"
    )
    found = check_texts((Source("t", text),))
    assert [(item.code, item.span.where()) for item in found] == [
        ("syntax/unexpected", "t:4:5"),
        ("name/unknown", "t:4:32"),
        ("name/unknown", "t:5:10"),
    ]


READ_FROM_ELSEWHERE = """\
protocol test.reads
sort B
component c {
  state config: int 0..3 = 0
  operation go(b: set B) -> int 0..3 cites silent { branch done reply far(b) }
}
fun near(b: set B) of c -> int 0..3 cites silent = if b == {} then 0 else config
fun far(b: set B) of c -> int 0..3 cites silent = near(b)
component d {
  state other: int 0..3 = 0
  operation look(b: set B) -> int 0..3 cites silent {
    branch done reply far(b, config: other)
  }
}
witness looked of d: took look/done
witness gone of c: took go/done
"""


@pytest.mark.parametrize("broken", ["config: int 0..3 = 0", "else config"])
def test_arguments_of_a_function_that_may_read_more_are_not_counted(broken: str) -> None:
    """What a function reads is not known if its machine, or a function that it calls, is lost."""
    assert not check_texts((Source("t", READ_FROM_ELSEWHERE),)).items
    text = READ_FROM_ELSEWHERE.replace(broken, f"{broken} !!", 1)
    found = [item.code for item in check_texts((Source("t", text),))]
    assert found == ["syntax/unexpected"]


def test_an_argument_that_no_parameter_has_is_not_counted_too() -> None:
    text = READ_FROM_ELSEWHERE.replace("far(b, config: other)", "far(b, config: other, conf: 1)")
    (found,) = check_texts((Source("t", text),))
    assert (found.code, found.message) == ("name/unknown", "`far` has no parameter `conf`")
