"""A search of rules that changed finds what a search without earlier questions finds."""

from dataclasses import replace
from importlib import resources
from pathlib import Path

from charter.core.obligations import obligations
from charter.project.sources import read_sources
from charter.suites import make
from charter.suites.found import Found
from charter.suites.search import NO_SOLVER, is_stale, opened, outdated, search
from charter.suites.smoke import smoke
from charter.suites.subject import Subject

CONDITION = "mcdc renew/lost 1 holds[2] false"


def looked(subject: Subject, earlier: Found) -> Found:
    return search(replace(subject, found=earlier), lambda *_: None, False)


def titles(found: Found) -> set[str]:
    return {asked.title for asked in found.asked}


def test_instances_are_searched_again_when_the_rules_changed() -> None:
    """Every branch and reply is covered without the question that is missing."""
    charter = Path(str(resources.files("conform"))) / "templates" / "charters" / "lease.charter"
    subject = make.open_subject(charter, read_sources(charter), "", "")
    fresh = looked(subject, Found())
    assert CONDITION in titles(fresh)
    less = replace(fresh, asked=tuple(q for q in fresh.asked if q.title != CONDITION))
    every = obligations(subject.model, subject.component)
    noted = replace(less, notes={one.name: "was open then" for one in every})
    assert CONDITION not in titles(looked(subject, noted))
    assert titles(looked(subject, replace(noted, rules="others"))) == titles(fresh)


def test_what_a_removed_scenario_covered_is_looked_for(tmp_path: Path) -> None:
    text = BOX.replace("used == cap\n", "took clear\n")
    before = written(tmp_path, text + 'scenario "full" of c { cap = 2 do take(2) -> taken }\n')
    found = looked(before, Found())
    assert not opened(replace(before, found=found))
    after = replace(written(tmp_path, text), found=found)
    assert opened(after) and not is_stale(after)
    again = looked(after, found)
    assert titles(again) > titles(found) and not opened(replace(after, found=again))


def test_a_search_without_the_solver_is_stale_once_it_is_installed(tmp_path: Path) -> None:
    about = written(tmp_path, BOX)
    found = looked(about, Found())
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


def written(folder: Path, text: str) -> Subject:
    charter = folder / "a.charter"
    charter.write_text(text, encoding="utf-8")
    return make.open_subject(charter, read_sources(charter), "", "")


def test_questions_of_an_instance_that_was_edited_are_found_anew(tmp_path: Path) -> None:
    found = looked(written(tmp_path, BOX), Found())
    assert {asked.question.consts["cap"] for asked in found.asked} == {3}
    edited = written(tmp_path, BOX.replace("cap = 3", "cap = 2"))
    subject = replace(edited, found=found)
    assert not outdated(replace(written(tmp_path, BOX), found=found))
    assert outdated(subject)
    stale = smoke(subject)
    assert len(stale.stale) == len(found.asked) and not stale.entries
    again = looked(edited, found)
    assert {asked.question.consts["cap"] for asked in again.asked} == {2}
    assert titles(again) == titles(found)


def test_a_property_that_excludes_the_state_of_a_question_makes_it_outdated(
    tmp_path: Path,
) -> None:
    first = written(tmp_path, BOX)
    found = search(first, lambda *_: None, True)
    given = [asked for asked in found.asked if asked.source == "solver"]
    loaded = replace(looked(first, Found()).asked[0], source="solver")
    used = replace(loaded, question=replace(loaded.question, given={"used": 3}))
    never = BOX + "always never_full of c: used < cap\n"
    with_full = replace(found, asked=(*given, used))
    assert not outdated(replace(first, found=with_full))
    assert outdated(replace(written(tmp_path, never), found=with_full))


def test_rules_that_the_solver_cannot_encode_are_searched_without_it(tmp_path: Path) -> None:
    found = search(written(tmp_path, SET), lambda *_: None, True)
    assert titles(found) == {"branch clear/done"}
    assert not found.proofs
