"""Hints for what is written in other languages."""

from __future__ import annotations

import pytest
from tests.support.charters import WORDS

from charter.diagnostics import Source
from charter.project.pipeline import check_texts


def list_messages(text: str) -> list[tuple[str, str]]:
    """The messages and hints of all errors."""
    errors = check_texts((Source("t", WORDS + text),)).errors
    return [(item.message, item.hint) for item in errors]


@pytest.mark.parametrize("name", ["nil", "null", "None"])
def test_another_name_of_none_is_told(name: str) -> None:
    text = f"fun f(r: option Reply) -> bool = r == {name}\ncomponent c {{}}\nwitness w of c: true"
    assert list_messages(text) == [(f"`{name}` is not declared", "no value is `none`")]


def test_a_type_that_is_not_finite_is_told_with_those_that_are() -> None:
    text = "opaque Tag\nfun f(m: map Tag -> bool) -> bool = true\ncomponent c {}\n"
    assert list_messages(f"{text}witness w of c: true") == [
        (
            "the keys of a map are of a finite type, Tag is not",
            "use a sort, whose elements an instance lists, an enum, `bool` or `int a..b`",
        )
    ]


@pytest.mark.parametrize(
    "domain",
    [
        "if known == {} then Broker else known or none",
        "let more = known in more or none",
        "if known == {} then Broker else if known == Broker then known else {b} or none",
    ],
)
def test_or_none_that_belongs_to_the_expression_before_it_is_the_only_error(domain: str) -> None:
    text = f"""component c {{
  state known: set Broker = {{}}
  operation f(b: Broker) -> bool cites silent {{
    branch a {{ pick x in {domain}  known' = known | {{b}}  reply x == none }}
  }}
}}
witness w of c: known != {{}}
"""
    message = "this `or none` is a part of the expression before it"
    hint = "put parentheses around the set: `pick x in (if c then S else T) or none`"
    assert list_messages(text) == [(message, hint)]


@pytest.mark.parametrize(
    ("name", "written"), [("take", "keep(r, group)"), ("drop", "remove(r, x)")]
)
def test_what_a_ranking_lacks_has_a_hint_with_what_to_write_instead(
    name: str, written: str
) -> None:
    text = f"fun f(r: ranking Broker) -> ranking Broker = {name}(r, 1)\ncomponent c {{}}\n"
    ((message, hint),) = list_messages(f"{text}witness w of c: true")
    assert message == f"`{name}` takes a sequence, found ranking Broker"
    assert hint.startswith(f"`{written}` ")
