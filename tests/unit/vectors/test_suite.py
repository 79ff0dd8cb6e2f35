"""A suite of a small charter: what is in it, how records merge, and that it is the same again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from charter import api
from charter.backends.vectors.ledger import ledger
from charter.formats.suite import read_lines, read_manifest, suite_digest
from charter.formats.vector import Why
from charter.ir.obligations import obligations
from charter.suite import make
from charter.suite.found import Found, place, read_found, rules_digest, write_found
from charter.suite.record import Record, merged, packed, unpacked
from charter.suite.smoke import smoke

LAMP = """protocol lamp

component lamp {
  state lit: bool = false
  state presses: int 0..9 = 0
  operation press(times: int 1..3) -> bool cites silent {
    branch worn when old: presses + times > 9 reply false
    branch on when dark: not lit { lit' = true  presses' = presses + times  reply true }
    branch off { lit' = false  presses' = presses + times  reply true }
  }
  observe all { lit, presses }
}

witness shines of lamp: lit
instance tiny_lamp of lamp { }
scenario "on and off" of lamp cites silent {
  do press(1) -> on
  do press(2) -> off
  expect presses == 3
}
mutant stays_lit in tiny_lamp { drop update lit of lamp.press/off } caught by shines
"""


def quiet(_name: str, _done: int, _total: int) -> None:
    pass


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    path = tmp_path / "lamp.charter"
    path.write_text(LAMP)
    return path


def subject(path: Path) -> make.Subject:
    return make.open_subject(path, api.read_sources(path), "", "")


def test_the_small_suite_holds_scenarios_and_what_was_found(lamp: Path) -> None:
    about = subject(lamp)
    before = smoke(about)
    found = make.look(about, lamp, quiet)
    after = smoke(found)
    assert before.counts()["scenarios"] == 1
    assert after.ledger.counted("covered") > before.ledger.counted("covered")
    assert after.ledger.counted("open") == 0
    assert subject(lamp).found == found.found


def test_proofs_count_only_for_the_rules_that_they_are_about(lamp: Path) -> None:
    about = subject(lamp)
    row = obligations(about.model, about.component)[0].name
    rules = rules_digest(about.model, ())
    found = Found((), {row: "by hand"}, (), rules, "nothing")
    write_found(place(lamp, ""), found)
    assert read_found(place(lamp, "")) == found
    assert found.proofs_for(about.model) == {row: "by hand"}
    lamp.write_text(LAMP.replace("> 9", "> 8"))
    assert found.proofs_for(subject(lamp).model) == {}


def test_rules_have_the_same_digest_when_only_comments_change(lamp: Path) -> None:
    before = rules_digest(subject(lamp).model, ())
    lamp.write_text("-- a comment\n" + LAMP)
    assert rules_digest(subject(lamp).model, ()) == before
    lamp.write_text(LAMP.replace("> 9", "> 8"))
    assert rules_digest(subject(lamp).model, ()) != before


def test_questions_that_no_longer_fit_are_counted(lamp: Path) -> None:
    make.look(subject(lamp), lamp, quiet)
    lamp.write_text(LAMP.replace("times", "count"))
    assert smoke(subject(lamp)).counts()["stale_questions"] > 0


def test_a_full_suite_is_written_twice_alike(lamp: Path, tmp_path: Path) -> None:
    one, two = (
        make.make(subject(lamp), "full", tmp_path / name, quiet).manifest for name in ("1", "2")
    )
    assert one == two == read_manifest(tmp_path / "1")
    vectors = list(read_lines(tmp_path / "1" / "vectors.jsonl"))
    assert suite_digest(vectors) == one.digest and len(vectors) == one.vectors
    assert {v.why.source for v in vectors} >= {"scenario", "exploration", "random"}
    assert one.counts["state_branch_pairs"] > 10


def test_records_of_one_question_are_joined_and_keep_the_better_reason(lamp: Path) -> None:
    vector = smoke(subject(lamp)).entries[0].vector
    record = Record.of(vector)
    assert unpacked(packed(record)) == record
    assert record.line() == vector.line()
    other = Record.of(replace(vector, why=Why(("branch press/on", "more"), "random")))
    (joined,) = merged([other, record])
    assert joined.reasons().source == "scenario"
    assert set(joined.reasons().obligations) == {*vector.why.obligations, "branch press/on", "more"}


def test_rows_are_covered_infeasible_or_open(lamp: Path) -> None:
    about = subject(lamp)
    first, second, third, *_ = wanted = obligations(about.model, about.component)
    book = ledger(wanted, {first.name: ["a", "b"]}, {second.name: "a proof"}, "a bound")
    assert [row.status for row in book.rows[:3]] == ["covered", "infeasible", "open"]
    assert book.rows[0].count == 2 and book.rows[1].note == "a proof"
    assert third.name in book.markdown("Lamp").split("## Open")[1]
