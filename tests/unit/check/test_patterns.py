"""Binders that take values apart, beside what they stand for."""

from __future__ import annotations

import pytest
from tests.support.charters import WORDS, body, codes, load

from charter import api
from charter.core.show import show_expr
from charter.diagnostics import Source

PARAMS = "m: map Topic -> option Row, o: option Row, s: set option Row, rs: set Reply, e: Epoch"


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("forall t, present(r) in m: r.epoch == e",
         "forall t in Topic: match m[t] { none -> true, present(r) -> r.epoch == e }"),
        ("some t, present(r) in m: r.epoch == e",
         "some t in Topic: match m[t] { none -> false, present(r) -> r.epoch == e }"),
        ("exactly one t, present(r) in m: r.epoch == e",
         "exactly one t in Topic: match m[t] { none -> false, present(r) -> r.epoch == e }"),
        ("(the t, present(r) in m: r.epoch == e) in {}",
         "(the t in Topic: match m[t] { none -> false, present(r) -> r.epoch == e }) in {}"),
        ("forall t, r in m: r == o", "forall t in Topic: m[t] == o"),
        ("forall present(r) in o: r.epoch == e",
         "match o { none -> true, present(r) -> r.epoch == e }"),
        ("some present(r) in o: r.epoch == e",
         "match o { none -> false, present(r) -> r.epoch == e }"),
        ("exactly one present(r) in o: r.epoch == e",
         "match o { none -> false, present(r) -> r.epoch == e }"),
        ("some present(r) in s: r.epoch == e",
         "some each in s: match each { none -> false, present(r) -> r.epoch == e }"),
        ("forall granted(f) in rs: e == f",
         "forall each in rs: match each "
         "{ granted(f) -> e == f, rejected(_) -> true, nothing -> true }"),
        ("forall t, present(r) in m, b in r.isr, present(q) in o: b in q.isr",
         "forall t in Topic: match m[t] { none -> true, present(r) -> forall b in r.isr:"
         " match o { none -> true, present(q) -> b in q.isr } }"),
        ("some t, r in m with [t0: o]: r == o",
         "let entries = m with [t0: o] in some t in Topic: entries[t] == o"),
        ("{ t for t, present(r) in m if r.epoch == e } == {}",
         "{ t for t in Topic if match m[t] { none -> false, present(r) -> r.epoch == e } } == {}"),
        ("{ t for t, r in m } == {}", "{ t for t in Topic } == {}"),
        ("{ r.epoch for present(r) in o } == {}",
         "match o { none -> {}, present(r) -> {r.epoch} } == {}"),
    ],
)  # fmt: skip
def test_a_pattern_is_short_for_a_match_when_core_is_read(short: str, long: str) -> None:
    params = PARAMS + ", t0: Topic"
    assert body(short, params=params) == body(long, params=params)


def test_values_are_collected_where_the_case_holds() -> None:
    assert body("{ r.epoch for t, present(r) in m if r.owner == none } == {}", params=PARAMS) == (
        "(union{(match m[t] {none -> {}, present(r) -> "
        "(if (r.owner eq none) then {r.epoch} else {})}) for t in Topic if true} eq {})"
    )


def test_a_fresh_name_yields_to_the_authors() -> None:
    text = "some present(r) in s: let each = r.epoch in each == e"
    (function,) = load(f"fun f({PARAMS}) -> bool = {text}").functions
    assert show_expr(function.body) == (
        "(some each in s: (match each {none -> false, "
        "present(r) -> (let each_2 = r.epoch in (each_2 eq e))}))"
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("forall present(r) in m: true", "type/mismatch"),
        ("forall t, present(r) in s: true", "type/mismatch"),
        ("forall present(r) in rs: true", "name/unknown"),
        ("forall granted(a, b) in rs: true", "type/arity"),
        ("forall t, present(t) in m: true", "name/shadows"),
        ("forall t, nothing in m: true", "name/shadows"),
        ("forall present(r) in e: true", "type/mismatch"),
        ("forall t, present(r) in missing: true", "name/unknown"),
        ("(the present(r) in s: true) == o", "type/mismatch"),
        ("exactly one t, present(r) in m, b in r.isr: true", "type/arity"),
        ("{ present(r) in s if true } == {}", "syntax/unexpected"),
    ],
)
def test_what_means_nothing_is_an_error(text: str, code: str) -> None:
    assert code in codes(f"fun f({PARAMS}) -> bool = {text}\n")


def test_two_names_for_a_set_are_told_what_is_written() -> None:
    text = WORDS + "fun f(s: set Topic) -> bool = some x, y in s: x != y\n"
    (item,) = api.check_sources((Source("test", text),)).errors
    assert (item.code, item.hint) == ("type/mismatch", "each has a domain: `x in s, y in s`")


def test_a_variable_of_leads_to_is_no_pattern() -> None:
    text = """component c {
  state row: map Topic -> option Row = [t in Topic: none]
  operation go() -> bool { branch only { reply true } }
}
system s { c: c  step go() { c.go() } }
witness w of s: took go
eventually e of s: forall t, present(r) in c.row: r.isr == {} leads to true
"""
    assert codes(text) == ["type/mismatch", "name/unknown"]
