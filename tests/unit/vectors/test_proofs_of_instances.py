"""An obligation is infeasible only if it is proved in every instance that is searched."""

from dataclasses import replace
from pathlib import Path

from charter.project.sources import read_sources
from charter.suites import make
from charter.suites.proofs import proof_instances
from charter.suites.search import is_stale, search
from charter.suites.search_results import Found, rules_digest
from charter.suites.smoke import smoke
from charter.suites.subject import Subject

LINE = """protocol line
const room: int 1..3
sort Guest
component c {
  state waiting: seq Guest max room = <>
  state hidden: bool = false
  state seen: bool = false
  operation come(guest: Guest) -> bool cites silent {
    branch crowded when both: seen and size(waiting) == 2 reply false
    branch full when no_room: size(waiting) >= room reply false
    branch queued { waiting' = append(waiting, guest)  seen' = hidden  reply true } }
  operation leave() -> bool cites silent {
    branch third when three: size(waiting) == 3 { waiting' = <>  reply true }
    branch left { waiting' = <>  reply true } }
  observe all { waiting }
}
always unseen of c: not seen
witness waits of c: waiting != <>
instance tiny of c { Guest = 1 room = 1 misses come/crowded, leave/third }
"""
LARGER = LINE + "instance tiny_long of c { Guest = 1 room = 3 offers leave }\n"
CROWDED = "branch come/crowded"
THIRD = "branch leave/third"


def write(folder: Path, text: str) -> Subject:
    charter = folder / "a.charter"
    charter.write_text(text, encoding="utf-8")
    return make.open_subject(charter, read_sources(charter), "", "")


def statuses(about: Subject, found: Found) -> dict[str, tuple[str, str]]:
    rows = smoke(replace(about, found=found)).ledger.rows
    return {row.name: (row.status, row.note) for row in rows}


def test_what_is_proved_in_the_only_instance_is_infeasible(tmp_path: Path) -> None:
    about = write(tmp_path, LINE)
    rows = statuses(about, search(about, lambda *_: None, True))
    assert rows[CROWDED] == rows[THIRD] == ("infeasible", "proved in tiny: the rules alone")


def test_what_a_larger_instance_may_meet_is_open(tmp_path: Path) -> None:
    about = write(tmp_path, LARGER)
    status, note = statuses(about, search(about, lambda *_: None, True))[CROWDED]
    assert status == "open"
    assert "no step meets it (tiny)" in note
    assert "no proof: a step from a state that no lemma excludes meets it (tiny_long)" in note


def test_what_a_larger_instance_meets_is_covered(tmp_path: Path) -> None:
    about = write(tmp_path, LARGER)
    assert statuses(about, search(about, lambda *_: None, True))[THIRD] == ("covered", "")


def test_what_is_proved_in_each_instance_names_them(tmp_path: Path) -> None:
    text = LARGER.replace("seen' = hidden  ", "").replace("always unseen", "always kept")
    about = write(tmp_path, text)
    found = search(about, lambda *_: None, True)
    assert statuses(about, found)[CROWDED] == ("infeasible", "proved in tiny, tiny_long: kept")
    assert not is_stale(replace(about, found=found))


def test_an_earlier_proof_in_one_instance_is_open_and_stale(tmp_path: Path) -> None:
    about = write(tmp_path, LARGER)
    now = search(about, lambda *_: None, True)
    old = {CROWDED: "proved in tiny: the rules alone"}
    found = replace(now, proofs=old, notes={})
    assert statuses(about, found)[CROWDED] == ("open", "proved in tiny only, not in tiny_long")
    assert is_stale(replace(about, found=found)) and not is_stale(replace(about, found=now))
    assert found.rules == rules_digest(about.model, found.lemmas)


def test_an_instance_covers_those_with_less_of_each_sort(tmp_path: Path) -> None:
    """A constant that the rules read must be the same; others are only bounds of types."""
    read = LARGER.replace("Guest = 1 room = 3", "Guest = 2 room = 3")
    about = write(tmp_path, read)
    assert [i.name for i in proof_instances(about.model, "c")] == ["tiny", "tiny_long"]
    bound = write(tmp_path, read.replace("size(waiting) >= room", "size(waiting) >= 1"))
    assert [i.name for i in proof_instances(bound.model, "c")] == ["tiny_long"]
    more = read + "instance standard of c { Guest = 3 room = 3 }\n"
    several = write(tmp_path, more)
    assert [i.name for i in proof_instances(several.model, "c")] == ["standard", "tiny"]
