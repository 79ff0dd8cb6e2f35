"""A search of rules that changed finds what a search without earlier questions finds."""

import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from charter.core.obligations import obligations
from charter.project.sources import read_sources
from charter.semantics.machine import Machine
from charter.suites import make
from charter.suites.search import NO_SOLVER, is_outdated, is_stale, leaves_open, search
from charter.suites.search_results import Found, list_renewed, place, read_found, write_found
from charter.suites.smoke import smoke
from charter.suites.subject import Subject
from charter.vectors.answer import Answers
from charter.vectors.kills import tells
from conform.cli import main as cli

CONDITION = "mcdc renew/lost 1 holds[2] false"


def look(subject: Subject, earlier: Found) -> Found:
    return search(replace(subject, found=earlier), lambda *_: None, False)


def titles(found: Found) -> set[str]:
    return {asked.title for asked in found.asked}


def test_instances_are_searched_again_when_the_rules_changed() -> None:
    """Every branch and reply is covered without the question that is missing."""
    charter = Path(str(resources.files("conform"))) / "templates" / "charters" / "lease.charter"
    subject = make.open_subject(charter, read_sources(charter), "", "")
    fresh = look(subject, Found())
    entries = smoke(replace(subject, found=fresh)).entries
    show = {entry.vector.id for entry in entries if CONDITION in entry.meets}
    assert show
    less = replace(fresh, asked=tuple(q for q in fresh.asked if q.question.id not in show))
    every = obligations(subject.model, subject.component)
    noted = replace(less, notes={one.name: "was open then" for one in every})
    assert look(subject, noted) == fresh
    assert look(subject, replace(noted, rules="others")) == fresh


def test_what_a_removed_scenario_covered_is_looked_for(tmp_path: Path) -> None:
    text = BOX.replace("used == cap\n", "took clear\n")
    before = write(tmp_path, text + 'scenario "full" of c { cap = 2 do take(2) -> taken }\n')
    found = look(before, Found())
    assert not leaves_open(replace(before, found=found))
    after = replace(write(tmp_path, text), found=found)
    assert leaves_open(after) and not is_stale(after)
    again = look(after, found)
    assert titles(again) > titles(found) and not leaves_open(replace(after, found=again))


def test_a_search_without_the_solver_is_stale_once_it_is_installed(tmp_path: Path) -> None:
    about = write(tmp_path, BOX)
    found = look(about, Found())
    assert not is_stale(replace(about, found=found))
    noted = replace(found, notes={"mcdc take/full over false": f"not met; {NO_SOLVER}"})
    assert is_stale(replace(about, found=noted))


BOX = """protocol box
const cap: int 1..9
component c {
  state used: int 0..cap = 0
  operation take(n: int 1..cap) -> bool cites silent {
    branch full when over: used + n > cap reply false
    branch taken { used' = used + n  reply true } }
  operation clear() -> bool cites silent { branch cleared { used' = 0  reply true } }
  observe all { used }
}
witness fills of c: used == cap
instance tiny of c { cap = 3 }
"""
SET = """protocol ids
counter Id
component c {
  state items: set Id = {}
  operation clear() -> bool cites silent { branch done { items' = {}  reply true } }
  observe all { items }
}
always empty of c: items == {}
witness clears of c: took clear
instance tiny of c { }
"""


def write(folder: Path, text: str) -> Subject:
    charter = folder / "a.charter"
    charter.write_text(text, encoding="utf-8")
    return make.open_subject(charter, read_sources(charter), "", "")


def test_questions_of_an_instance_that_was_edited_are_found_anew(tmp_path: Path) -> None:
    found = look(write(tmp_path, BOX), Found())
    assert {asked.question.consts["cap"] for asked in found.asked} == {3}
    edited = write(tmp_path, BOX.replace("cap = 3", "cap = 2"))
    subject = replace(edited, found=found)
    assert not is_outdated(replace(write(tmp_path, BOX), found=found))
    assert is_outdated(subject)
    stale = smoke(subject)
    assert len(stale.stale) == len(found.asked) and not stale.entries
    again = look(edited, found)
    assert {asked.question.consts["cap"] for asked in again.asked} == {2}
    assert titles(again) == titles(found)


def test_a_property_that_excludes_the_state_of_a_question_makes_it_outdated(
    tmp_path: Path,
) -> None:
    first = write(tmp_path, BOX)
    found = search(first, lambda *_: None, True)
    given = [asked for asked in found.asked if asked.source == "solver"]
    loaded = replace(look(first, Found()).asked[0], source="solver")
    used = replace(loaded, question=replace(loaded.question, given={"used": 3}))
    never = BOX + "always never_full of c: used < cap\n"
    with_full = replace(found, asked=(*given, used))
    assert not is_outdated(replace(first, found=with_full))
    assert is_outdated(replace(write(tmp_path, never), found=with_full))


def test_rules_that_the_solver_cannot_encode_are_searched_without_it(tmp_path: Path) -> None:
    found = search(write(tmp_path, SET), lambda *_: None, True)
    assert titles(found) == {"branch clear/done", "clear/done, then clear/done"}
    assert not found.proofs


LARGER = BOX + "instance tiny_larger of c { cap = 5 }\n"


BRANCHES = ("take/full", "take/taken", "clear/cleared")


def branches_with(subject: Subject, found: Found, cap: int) -> set[str]:
    """The branches that the small suite takes with this value of the constant."""
    entries = smoke(replace(subject, found=found)).entries
    mine = (e for e in entries if e.vector.question.consts["cap"] == cap)
    return {name.removeprefix("branch ") for e in mine for name in e.meets if "branch" in name}


def test_each_branch_is_asked_for_with_the_constants_of_each_instance(tmp_path: Path) -> None:
    about = write(tmp_path, LARGER)
    found = look(about, Found())
    assert branches_with(about, found, 3) == branches_with(about, found, 5) == {*BRANCHES}
    assert not any("with cap" in row.name for row in smoke(replace(about, found=found)).ledger.rows)


def test_a_new_or_changed_instance_is_searched(tmp_path: Path) -> None:
    first = look(write(tmp_path, BOX), Found())
    about = write(tmp_path, LARGER)
    assert is_stale(replace(about, found=first)) and list_renewed(about.model, "c", first) == (
        "tiny_larger",
    )
    found = look(about, first)
    assert branches_with(about, found, 5) == {*BRANCHES}
    assert not is_stale(replace(about, found=found))
    write_found(place(tmp_path / "a.charter", ""), found)
    kept = make.open_subject(tmp_path / "a.charter", read_sources(tmp_path / "a.charter"), "", "")
    assert kept.found == found and not list_renewed(kept.model, "c", kept.found)
    changed = write(tmp_path, LARGER.replace("cap = 5", "cap = 5 only take if n < 3"))
    assert list_renewed(changed.model, "c", found) == ("tiny_larger",)
    noted = write(tmp_path, LARGER.replace("cap = 5", "cap = 5 -- a comment\n"))
    assert not is_stale(replace(noted, found=found))


MUTANT = """mutant early in tiny {
  replace conjunct over of c.take/full with used + n >= cap
} caught by small
"""
WITH_MUTANT = LARGER + "always small of c: used <= cap\n" + MUTANT


def test_the_suite_does_not_depend_on_the_order_of_edits(tmp_path: Path) -> None:
    """An instance that is added, one that is edited, a witness, a property and a mutant: each
    searched on its own, and all at once."""
    steps = (BOX, BOX.replace("cap = 3", "cap = 2"), BOX, LARGER, WITH_MUTANT)
    found = Found()
    for text in steps:
        found = look(write(tmp_path, text), found)
    assert found == look(write(tmp_path, WITH_MUTANT), Found())


def test_a_mutant_that_is_new_or_edited_is_asked_for(tmp_path: Path) -> None:
    without = WITH_MUTANT.removesuffix(MUTANT)
    first = look(write(tmp_path, without), Found())
    assert not is_stale(replace(write(tmp_path, without), found=first))
    about = write(tmp_path, WITH_MUTANT)
    assert is_stale(replace(about, found=first))
    found = look(about, first)
    assert not is_stale(replace(about, found=found))
    write_found(place(tmp_path / "a.charter", ""), found)
    assert read_found(place(tmp_path / "a.charter", "")) == found
    noted = write(tmp_path, WITH_MUTANT.replace("in tiny {", "in tiny { -- a comment\n"))
    assert not is_stale(replace(noted, found=found))
    edited = write(tmp_path, WITH_MUTANT.replace("with used + n >= cap", "with used > 0"))
    assert is_stale(replace(edited, found=found))


def test_a_question_for_a_finding_stays_when_all_others_are_made_anew(tmp_path: Path) -> None:
    about = write(tmp_path, BOX)
    fresh = look(about, Found())
    one = replace(fresh.asked[0], source="finding", title="seen in a real system")
    again = look(about, replace(fresh, asked=(one,), rules="others"))
    assert one in again.asked and len(again.asked) > 1


def test_a_search_that_did_not_note_its_instances_is_not_stale(tmp_path: Path) -> None:
    about = write(tmp_path, LARGER)
    found = replace(look(about, Found()), instances={})
    assert not is_stale(replace(about, found=found))


def test_the_command_tells_an_instance_that_was_not_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charter = tmp_path / "a.charter"
    command = ["vectors", str(charter), "--out", str(tmp_path / "suite")]
    charter.write_text(BOX, encoding="utf-8")
    assert cli.main([*command, "--search"]) == 0
    charter.write_text(LARGER, encoding="utf-8")
    capsys.readouterr()
    assert cli.main(command) == 0
    told = capsys.readouterr().err
    assert "new, or with other bounds, since the last search for questions: tiny_larger" in told
    assert f"`conform vectors {charter} --search` looks there" in told
    assert cli.main([*command, "--search"]) == cli.main(command) == 0
    assert "other bounds" not in capsys.readouterr().err


def test_a_component_without_an_instance_has_open_obligations(tmp_path: Path) -> None:
    about = write(tmp_path, BOX[: BOX.index("instance")])
    found = search(about, lambda *_: None, True)
    assert found.notes["branch take/full"] == "c has no instance" and not found.asked


BELL = """
component bell {
  state rung: bool = false
  operation ring() -> bool cites silent { branch rung { rung' = true  reply true } }
  observe all { rung }
}
witness rings of bell: rung
instance tiny_bell of bell { }
"""


def test_components_of_one_charter_keep_their_questions(tmp_path: Path) -> None:
    charter = tmp_path / "a.charter"
    charter.write_text(BOX + BELL, encoding="utf-8")

    def about(component: str) -> Subject:
        return make.open_subject(charter, read_sources(charter), "", component)

    for component in ("", "bell"):
        make.look(about(component), charter, lambda *_: None)
    for component in ("c", "bell"):
        assert not is_stale(about(component))
        assert not smoke(about(component)).counts()["obligations_open"]
    assert {a.question.component for a in read_found(place(charter, "")).asked} == {"c"}


def test_an_implementation_that_keeps_the_constants_of_the_first_question_is_told(
    tmp_path: Path,
) -> None:
    about = write(tmp_path, LARGER)
    entries = smoke(replace(about, found=look(about, Found()))).entries
    kept, other = about.model.instances
    machine = Machine.of(about.model, replace(kept, offers=(), only=()))
    answers = Answers(machine, machine.outcomes)
    asked = [e.vector for e in entries if e.instance.name == other.name]
    assert any(tells(answers, v.question, v.answer) == "always" for v in asked)


@pytest.mark.parametrize("native", [True, False])
def test_an_instance_with_too_many_states_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: bool
) -> None:
    if not native:
        monkeypatch.setitem(sys.modules, "llvmlite", None)
    about = write(tmp_path, LARGE)
    told: list[str] = []
    found = search(about, lambda name, *_: told.append(name), False, 3)
    assert found.left_out == {"tiny": 3}
    assert "tiny" not in {asked.instance for asked in found.asked}
    assert {asked.instance for asked in found.asked} == {"tiny_one"}
    assert any(name.startswith("tiny: ") and name.endswith(" states") for name in told)
    alone = write(tmp_path, LARGE[: LARGE.index("instance tiny_one")])
    notes = search(alone, lambda *_: None, False, 3).notes.values()
    assert notes and all("left out, with more than 3 states (tiny)" in note for note in notes)


def test_an_instance_that_was_left_out_is_searched_once_more_states_may_be(
    tmp_path: Path,
) -> None:
    about = write(tmp_path, LARGE)
    folder = tmp_path / "found"
    write_found(folder, search(about, lambda *_: None, False, 3))
    again = replace(about, found=read_found(folder))
    assert again.found.left_out == {"tiny": 3}
    assert not is_stale(again, 3) and not is_stale(again, 2)
    assert is_stale(again, 4) and is_stale(again, 0)
    whole = search(again, lambda *_: None, False, 0)
    assert not whole.left_out and "tiny" in {asked.instance for asked in whole.asked}


LARGE = BOX.replace("instance tiny of c { cap = 3 }", "instance tiny of c { cap = 9 }\n") + (
    "instance tiny_one of c { cap = 1 }\n"
)
