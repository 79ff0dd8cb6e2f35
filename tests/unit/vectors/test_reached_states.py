"""Where a small instance was searched to its end, the solver's states are among those that it
reached: nobody is blamed for what an implementation does in a state that cannot be."""

from dataclasses import replace
from pathlib import Path

from charter.project.sources import read_sources
from charter.suites import make
from charter.suites.search import search
from charter.suites.smoke import smoke
from charter.suites.solving import UNREACHED

PAIR = """protocol pairs
component pair {
  state left: int 0..3 = 0
  state right: int 0..3 = 0
  operation both() -> bool cites silent {
    branch full when left == 3 or right == 3 reply false
    branch grown { left' = left + 1  right' = right + 1  reply true }
  }
  operation compare() -> bool cites silent {
    branch odd when left != right reply false
    branch same reply true
  }
  observe all { left right }
}
witness some_left of pair: left == 1
always small of pair: left <= 3
instance tiny of pair {}
mutant forgets in tiny {
  replace in pair.compare branch odd when left != right reply true
} caught by small
"""


def write(folder: Path, text: str) -> make.Subject:
    charter = folder / "pairs.charter"
    charter.write_text(text, encoding="utf-8")
    return make.open_subject(charter, read_sources(charter), "", "")


def test_no_question_begins_in_a_state_that_no_run_reaches(tmp_path: Path) -> None:
    about = write(tmp_path, PAIR)
    found = search(about, lambda *_: None, True)
    given = [one.question.given for one in found.asked if isinstance(one.question.given, dict)]
    assert all(state["left"] == state["right"] for state in given)
    rows = {row.name: row for row in smoke(replace(about, found=found)).ledger.rows}
    assert rows["branch compare/odd"].status == "open"
    assert UNREACHED in rows["branch compare/odd"].note


def test_an_instance_with_few_operations_says_nothing_of_the_states_that_others_reach(
    tmp_path: Path,
) -> None:
    about = write(tmp_path, PAIR.replace("tiny of pair {}", "tiny of pair { offers both }"))
    found = search(about, lambda *_: None, True)
    assert any(one.title == "branch compare/odd" for one in found.asked)
