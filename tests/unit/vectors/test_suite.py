"""A suite of a small charter: what is in it, how records merge, and that it is the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.suites import seal, write_suite
from tests.support.toy.vectors import random_vectors

from charter import api
from charter import prove as smt
from charter.core.obligations import obligations
from charter.formats.suite import Manifest, read_lines, read_manifest
from charter.formats.vector import Vector, Why
from charter.suites import build, make
from charter.suites import smoke as small_suites
from charter.suites.committed_suite import publish
from charter.suites.search_results import (
    NOT_AS_WRITTEN,
    Found,
    place,
    read_found,
    rules_digest,
    tells_of_search,
    write_found,
)
from charter.suites.smoke import Smoke, smoke
from charter.suites.vector_texts import VectorRecord, merge, pack, unpack
from charter.suites.write_suite import write_records
from charter.vectors.kills import Kill
from charter.vectors.ledger import Ledger, Searched, ledger
from conform.cli import main as cli

IN_PROCESSES = build._make_parts
"""What the tests' conftest.py replaces."""

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

always counted of lamp cites silent: presses <= 9
witness shines of lamp: lit
instance tiny_lamp of lamp { }
scenario "on and off" of lamp cites silent {
  do press(1) -> on
  do press(2) -> off
  expect presses == 3
}
mutant stays_lit in tiny_lamp { drop update lit of lamp.press/off } caught by counted
"""

QUEUE = """protocol queue

sort Guest

component queue {
  state line: ranking Guest = <>
  state seated: set Guest = {}
  operation arrange(target: ranking Guest, keep: set Guest) -> bool cites silent {
    branch arranged { line' = target  seated' = keep  reply true }
  }
  operation ask(wishes: option ranking Guest) -> bool cites silent {
    branch asked { reply wishes == none }
  }
  observe all { line, seated }
}

witness waits of queue: line != <>
instance tiny of queue { Guest = 2 }
"""

COIN = """protocol coin

fun sides(heads: bool) -> set bool cites silent = if heads then {true} else {false}

component coin {
  state wanted: bool = false
  state shown: bool = false
  operation toss(heads: bool) -> bool cites silent {
    branch tossed {
      pick side in sides(heads) or none
      shown' = side == present(true)
      wanted' = heads
      reply side == present(true)
    }
  }
  observe all { shown }
}

always honest of coin: shown == wanted
witness heads of coin: shown
instance tiny_coin of coin { }
scenario "heads" of coin cites silent { do toss(true) -> tossed }
mutant falls in tiny_coin {
  replace fun sides(heads: bool) -> set bool cites silent = {true, false}
} caught by honest
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
    assert after.ledger.count_rows("covered") > before.ledger.count_rows("covered")
    assert after.ledger.count_rows("open") == 0
    assert subject(lamp).found == found.found


def test_proofs_count_only_for_the_rules_that_they_are_about(lamp: Path) -> None:
    about = subject(lamp)
    row = obligations(about.model, about.component)[0].name
    rules = rules_digest(about.model, ())
    found = Found((), {row: "by hand"}, (), rules, {"another": "its bound"})
    write_found(place(lamp, ""), found)
    assert read_found(place(lamp, "")) == found
    assert found.select_current(about.model, "lamp").proofs == {row: "by hand"}
    lamp.write_text(LAMP.replace("> 9", "> 8"))
    changed = found.select_current(subject(lamp).model, "lamp")
    assert changed == Searched({}, {}, "the rules changed since the last search")


def test_made_up_proofs_are_open_and_told(lamp: Path) -> None:
    """A row that was added by hand does not fit the digest that the search wrote."""
    about = subject(lamp)
    row, other = (obligation.name for obligation in obligations(about.model, about.component)[:2])
    folder = place(lamp, "")
    write_found(folder, Found((), {row: "the rules"}, (), rules_digest(about.model, ())))
    path = folder / "proofs.json"
    held = json.loads(path.read_text())
    assert read_found(folder).proofs == {row: "the rules"}
    for wrong in ({**held, "proofs": {**held["proofs"], other: "..."}}, {**held, "digest": ""}):
        path.write_text(json.dumps(wrong))
        found = read_found(folder)
        assert found.proofs == {}
        notes = found.select_current(about.model, "lamp").notes
        assert notes == dict.fromkeys(wrong["proofs"], NOT_AS_WRITTEN)
        assert not tells_of_search(NOT_AS_WRITTEN)


def test_rules_have_the_same_digest_when_only_comments_and_citations_change(lamp: Path) -> None:
    before = rules_digest(subject(lamp).model, ())
    lamp.write_text("-- a comment\n" + LAMP)
    assert rules_digest(subject(lamp).model, ()) == before
    cited = LAMP.replace("component", 'source BOX "the box"\ncomponent', 1)
    cited = cited.replace("bool cites silent", 'bool cites BOX "§1"')
    lamp.write_text(cited.replace("branch off {", 'branch off cites BOX "§2" {'))
    assert rules_digest(subject(lamp).model, ()) == before
    used = 'fun once() -> bool = true\nscenario "two" of lamp cites silent { expect once() }\n'
    lamp.write_text(LAMP + used)
    assert rules_digest(subject(lamp).model, ()) == before
    lamp.write_text(LAMP.replace("> 9", "> 8"))
    assert rules_digest(subject(lamp).model, ()) != before


def test_questions_that_no_longer_fit_are_counted(lamp: Path) -> None:
    make.look(subject(lamp), lamp, quiet)
    lamp.write_text(LAMP.replace("times", "count"))
    assert smoke(subject(lamp)).counts()["stale_questions"] > 0


def test_a_full_suite_is_written_twice_alike(
    lamp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By this process, as in other tests, and by two."""
    monkeypatch.setattr(build, "read_kept", lambda task: None)
    assert build._make_parts is not IN_PROCESSES
    two = make.make(subject(lamp), "full", tmp_path / "2", quiet).manifest
    monkeypatch.setattr(build, "_make_parts", IN_PROCESSES)
    one = make.make(subject(lamp), "full", tmp_path / "1", quiet).manifest
    assert one == two == read_manifest(tmp_path / "1")
    vectors = list(read_lines(tmp_path / "1" / "vectors.jsonl"))
    assert seal(one, vectors) == one and len(vectors) == one.vectors
    assert {v.why.source for v in vectors} >= {"scenario", "exploration", "random"}
    assert one.counts["state_branch_pairs"] > 10


def test_records_of_one_question_are_joined_and_keep_the_better_reason(lamp: Path) -> None:
    vector = smoke(subject(lamp)).entries[0].vector
    record = VectorRecord.of(vector)
    assert unpack(pack(record)) == record
    assert record.line() == vector.line()
    other = VectorRecord.of(replace(vector, why=Why(("branch press/on", "more"), "random")))
    (joined,) = merge([other, record])
    assert joined.reasons().source == "scenario"
    assert set(joined.reasons().obligations) == {*vector.why.obligations, "branch press/on", "more"}


def test_rows_are_covered_infeasible_or_open(lamp: Path) -> None:
    about = subject(lamp)
    first, second, third, *_ = wanted = obligations(about.model, about.component)
    searched = Searched({second.name: "a proof"}, {third.name: "its own bound"}, "a bound")
    book = ledger(wanted, {first.name: ["a", "b"]}, searched)
    assert [row.status for row in book.rows[:4]] == ["covered", "infeasible", "open", "open"]
    assert book.rows[0].count == 2 and book.rows[1].note == "a proof"
    assert [row.note for row in book.rows[2:4]] == ["its own bound", "a bound"]
    opened, proved = book.markdown("Lamp").split("## Open")[1].split("## Infeasible")
    assert f"Searched in vain: its own bound.\n\n- {third.name}\n" in opened
    assert proved.startswith(f"\n\nA proof:\n\n- {book.rows[1].name}\n")
    assert f"| {book.rows[0].name.partition(' ')[2]} | 2 | a |" in proved


def test_a_mutant_that_only_some_runs_tell_is_not_killed() -> None:
    """It is a class of its own: in the counts, in kills.json, in the ledger and for reports."""
    kills = (
        Kill("dead", ("a",), ("b",)),
        Kill("lucky", (), ("b",)),
        Kill("alive", (), ()),
    )
    assert [kill.outcome for kill in kills] == ["killed", "killed_in_some_runs", "survives"]
    small = Smoke((), Ledger((), kills), kills, ())
    counts = small.counts()
    assert counts["mutants"] == 3
    assert counts["mutants_killed"] == 1
    assert counts["mutants_killed_in_some_runs"] == 1
    told = small.ledger.markdown("Lamp").split("## Mutants")[1]
    assert "| lucky | killed in some runs | b |" in told


def test_what_tells_mutants_is_kept_until_the_charter_or_a_vector_changes(
    lamp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHARTER_CACHE", str(lamp.parent / "cache"))
    first = smoke(subject(lamp))
    compiled: list[str] = []
    mutant_model = small_suites.mutant_model

    def note(about, files, mutant):  # type: ignore[no-untyped-def]
        compiled.append(mutant)
        return mutant_model(about, files, mutant)

    monkeypatch.setattr(small_suites, "mutant_model", note)
    assert smoke(subject(lamp)).kills == first.kills
    assert not compiled
    lamp.write_text(LAMP.replace("drop update lit", "drop update presses"))
    assert smoke(subject(lamp)).kills
    assert compiled == ["stays_lit"]
    lamp.write_text(LAMP.replace('"on and off"', '"off and on"'))
    smoke(subject(lamp))
    assert compiled == ["stays_lit", "stays_lit"]


def test_a_coin_that_may_fall_either_way_does_not_kill(tmp_path: Path) -> None:
    """The mutant may do what the charter does not allow, and may not: no vector is sure of it."""
    path = tmp_path / "coin.charter"
    path.write_text(COIN)
    about = subject(path)
    about = make.look(about, path, quiet)
    made, (kill,) = publish(about), smoke(about).kills
    assert (kill.mutant, kill.outcome) == ("falls", "killed_in_some_runs")
    (name,) = (name for name in made.files if name.endswith("kills.json"))
    told = json.loads(made.files[name])["falls"]
    assert (told["killed"], told["killed_in_some_runs"]) == (False, True)
    (name,) = (name for name in made.files if name.endswith("sections.json"))
    (row,) = json.loads(made.files[name])["mutants"]
    assert (row["killed"], row["killed_in_some_runs"]) == (False, True)
    assert row["vector"]


POT = """
protocol pot

const cap: int 1..9
type Level = int 0..cap

component pot {
  state level: Level = 0
  state owed: Level = 0

  operation lend() -> bool cites silent {
    branch full cites silent when owed == cap reply false
    branch lent cites silent {
      owed' = owed + 1
      level' = the n in Level: n == level + 1
      reply true
    }
  }

  operation back() -> bool cites silent {
    branch nothing cites silent when owed == 0 reply false
    branch given cites silent {
      owed' = owed - 1
      level' = the n in Level: n == level - 1
      reply true
    }
  }

  observe all { owed }
}

always as_owed of pot cites silent: level == owed
witness lent of pot: took lend/lent
instance tiny of pot { cap = 2 }

mutant loses in tiny { drop update level of pot.lend/lent } caught by as_owed

scenario "lent and given back" of pot {
  cap = 2
  do lend() -> lent
  do back() -> given
}
"""


def test_a_mutant_that_has_no_value_is_not_told_from_the_charter(tmp_path: Path) -> None:
    """As a canary its model breaks, and a judge cannot say of what breaks that it deviates."""
    path = tmp_path / "pot.charter"
    path.write_text(POT)
    small = smoke(subject(path))
    assert len(small.entries) == 1
    assert [(kill.mutant, kill.outcome) for kill in small.kills] == [("loses", "survives")]


def test_sections_name_parameters_that_are_rankings_as_ordered(tmp_path: Path) -> None:
    """Arguments are printed in their order, like the variables and fields that hold them."""
    path = tmp_path / "queue.charter"
    path.write_text(QUEUE)
    made = publish(subject(path))
    (name,) = (name for name in made.files if name.endswith("sections.json"))
    assert json.loads(made.files[name])["ordered"] == ["line", "target", "wishes"]


def test_each_open_obligation_states_its_own_bound_and_the_reason_of_the_solver(
    lamp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The instance is not one that is explored, nothing walks, and Z3 may do next to nothing."""
    monkeypatch.setattr("charter.suites.walked.WALKS", 0)
    monkeypatch.setattr("charter.suites.walked.WALKS_FOR_OPEN", 0)
    lamp.write_text(LAMP.replace("tiny_lamp", "dark_room"))
    single, reach = smt.single_step, smt.reach
    monkeypatch.setattr(smt, "single_step", lambda machine, question: single(
        machine, question, rlimit=1))  # fmt: skip
    monkeypatch.setattr(smt, "reach", lambda machine, goals, depth: reach(
        machine, goals, depth, rlimit=1))  # fmt: skip
    assert cli.main(["vectors", str(lamp), "--search", "--out", str(lamp.parent / "out")]) == 0
    book = smoke(subject(lamp)).ledger
    left = {row.name: row.note for row in book.rows if row.status == "open"}
    assert left
    said = capsys.readouterr().out
    for name, note in left.items():
        assert "dark_room" in note and "gave up" in note and "canceled" in note
        (rows,) = (part for part in said.split("open, ")[1:] if part.startswith(f"{note}:\n"))
        assert f"  {name}\n" in rows


def test_what_was_never_searched_for_says_so(lamp: Path) -> None:
    rows = smoke(subject(lamp)).ledger.rows
    assert {row.note for row in rows if row.status == "open"} == {"no search was made"}


def test_earlier_suite_stays_until_the_new_one_is_written(tmp_path: Path) -> None:
    """Also if the process that writes it is killed: nothing is in the place of a file before."""
    vectors = random_vectors(3)
    write_suite(tmp_path, vectors, Manifest("", "toy.lease", "", "keeper", "5eed", 0))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def make_broken() -> Iterator[Vector]:
        yield vectors[0]
        assert {name: (tmp_path / name).read_bytes() for name in before} == before
        raise KeyboardInterrupt

    records = (VectorRecord.of(vector) for vector in make_broken())
    with pytest.raises(KeyboardInterrupt):
        write_records(tmp_path, records, Manifest("", "toy.lease", "", "keeper", "5eed", 0))
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert read_manifest(tmp_path).vectors == 3
