"""Patterns of binders and behind `is`, beside what they stand for."""

from __future__ import annotations

import pytest
from tests.support.charters import WORDS, body, codes, dump, load

from charter.core.show import show_expr
from charter.diagnostics import Source
from charter.project.pipeline import check_texts

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
    (item,) = check_texts((Source("test", text),)).errors
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


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("o is present(r) and r.epoch == e and r.isr == {}",
         "o != none and value(o).epoch == e and value(o).isr == {}"),
        ("o is present(r) and r.owner is present(b) implies b in r.isr",
         "o != none and value(o).owner != none implies value(value(o).owner) in value(o).isr"),
        ("if o is present(r) then r.epoch == e else true",
         "if o != none then value(o).epoch == e else true"),
        ("{ t in Topic if m[t] is present(r) and r.epoch == e } == {}",
         "{ t in Topic if m[t] != none and value(m[t]).epoch == e } == {}"),
        ("not o is present(_)", "not o != none"),
    ],
)  # fmt: skip
def test_is_compares_with_none_when_core_is_read(short: str, long: str) -> None:
    assert body(short, params=PARAMS) == body(long, params=PARAMS)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("o is present(r) or r.epoch == e", "name/unknown"),
        ("not (o is present(r)) and r.epoch == e", "name/unknown"),
        ("(if o is present(r) then true else r.epoch == e)", "name/unknown"),
        ("o is present(e) and true", "name/shadows"),
        ("o is present(r) and o is present(r)", "name/shadows"),
        ("o is present(r, q)", "type/arity"),
        ("o is granted(r)", "name/unknown"),
        ("e is present(r)", "type/mismatch"),
        ("missing is present(r) and r.epoch == e", "name/unknown"),
    ],
)
def test_what_is_cannot_ask_is_an_error(text: str, code: str) -> None:
    assert codes(f"fun f({PARAMS}) -> bool = {text}\n") == [code]


def test_what_a_guard_has_named_is_read_in_all_that_follows() -> None:
    lines = dump(
        """component c {
  state row: map Topic -> option Row = [t in Topic: none]
  operation go(t: Topic, b: Broker) -> bool {
    branch old when there: row[t] is present(r) and owned: r.owner is present(o) and o != b {
      let isr = r.isr
      row[t]' = present(r with { isr: isr | {o} })
      reply r.epoch == 0
    }
    branch new reply true
  }
}
witness w of c: took go/old"""
    )
    start = lines.index("    branch old")
    assert [line.strip() for line in lines[start + 1 : start + 6]] == [
        "when there: (@row[t] ne none)",
        "when owned: ((value!(@row[t]).owner ne none) and (value!(value!(@row[t]).owner) ne b))",
        "let isr: set Broker = value!(@row[t]).isr",
        "@row' = (@row with [t: present((value!(@row[t]) with {isr: (isr union "
        "{value!(value!(@row[t]).owner)})}))])",
        "reply (value!(@row[t]).epoch eq Epoch#0)",
    ]


def test_what_a_step_requires_is_named_in_what_follows() -> None:
    text = """component c {
  state row: map Topic -> option Row = [t in Topic: none]
  operation go(b: Broker) -> bool { branch only { reply true } }
}
system s {
  c: c
  step go(t: Topic) {
    require c.row[t] is present(r) and r.isr == {}
    require r.owner is present(o)
    c.go(o)
  }
}
witness w of s: took go
"""
    assert dump(text)[-5:-2] == [
        "    require ((@c.row[t] ne none) and (value!(@c.row[t]).isr eq {}))",
        "    require (value!(@c.row[t]).owner ne none)",
        "    c.go(value!(value!(@c.row[t]).owner))",
    ]
