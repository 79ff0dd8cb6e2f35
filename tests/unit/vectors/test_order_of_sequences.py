"""Where items of a sequence are equal, an implementation may take the wrong end unseen: small
suites have sequences with unequal items wherever an operation shows or keeps their order."""

from dataclasses import replace
from pathlib import Path

import pytest

from charter.core.obligations import obligations
from charter.project.sources import read_sources
from charter.prove import Infeasible, SingleStep, StepQuestion, single_step
from charter.semantics.machine import Machine
from charter.suites import make
from charter.suites.search import leaves_open, search
from charter.suites.smoke import smoke

QUEUE = """protocol queues
sort Job
union Taken { got(job: Job), nothing }
component queue {
  state waiting: seq Job max 2 = <>
  operation add(job: Job) -> bool cites silent {
    branch full when no_room: size(waiting) == 2 reply false
    branch added { waiting' = append(waiting, job)  reply true }
  }
  operation take_one() -> Taken cites silent {
    branch empty when none_there: waiting == <> reply nothing
    branch taken {
      let job = waiting[0]
      waiting' = without_first(waiting, 1)
      reply got(job)
    }
  }
  operation clear() -> seq Job max 2 cites silent {
    branch cleared { waiting' = <>  reply waiting }
  }
  observe all { waiting }
}
always kept of queue: size(waiting) <= 2
fun without_first(jobs: seq Job max 2, first: int 0..2) -> seq Job max 2 cites silent =
  drop(jobs, first)
witness waits of queue: size(waiting) == 2
instance tiny of queue { Job = 2 }
mutant takes_the_last in tiny {
  replace let job of queue.take_one/taken with waiting[size(waiting) - 1]
} caught by kept
"""
"""The last line is never asked: a mutant is told by vectors, whatever its property says."""

ROWS = [
    "order add/added append(waiting, job)",
    "order take_one/taken waiting",
    "order clear/cleared waiting",
    "order take_one without_first jobs",
]


def write(folder: Path, text: str = QUEUE) -> make.Subject:
    charter = folder / "queues.charter"
    charter.write_text(text, encoding="utf-8")
    return make.open_subject(charter, read_sources(charter), "", "")


def rows_of_order(about: make.Subject) -> list[str]:
    return [o.name for o in obligations(about.model, about.component) if o.kind == "order"]


def test_a_sequence_whose_order_is_shown_or_kept_is_asked_for_with_unequal_items(
    tmp_path: Path,
) -> None:
    assert sorted(rows_of_order(write(tmp_path))) == sorted(ROWS)


def test_what_only_counts_items_is_not_asked_for_unequal_ones(tmp_path: Path) -> None:
    text = QUEUE.replace("reply waiting }", "reply <> }")
    assert "order clear/cleared waiting" not in rows_of_order(write(tmp_path, text))


@pytest.mark.parametrize("solver", [False, True])
def test_a_small_suite_has_unequal_items_and_tells_the_last_from_the_first(
    tmp_path: Path, solver: bool
) -> None:
    about = write(tmp_path, QUEUE.partition("mutant ")[0])
    found = search(about, lambda *_: None, solver)
    whole = smoke(replace(write(tmp_path), found=found))
    assert {row.status for row in whole.ledger.rows if row.kind == "order"} == {"covered"}
    assert [kill.outcome for kill in whole.kills] == ["killed"]


def test_unequal_items_are_proved_impossible_where_there_is_one_job(tmp_path: Path) -> None:
    about = write(tmp_path, QUEUE.partition("mutant ")[0].replace("Job = 2", "Job = 1"))
    found = search(about, lambda *_: None, True)
    rows = smoke(replace(about, found=found)).ledger.rows
    assert {row.status for row in rows if row.kind == "order"} == {"infeasible"}


@pytest.mark.parametrize(("jobs", "answer"), [(1, Infeasible), (2, SingleStep)])
def test_the_solver_and_the_definition_mean_the_same_sequences(
    tmp_path: Path, jobs: int, answer: type
) -> None:
    about = write(tmp_path, QUEUE.replace("Job = 2", f"Job = {jobs}"))
    wanted = obligations(about.model, about.component)
    machine = Machine.of(about.model, about.model.instances[0])
    asked = tuple(one for one in wanted if one.kind == "order")
    assert len(asked) == len(ROWS)
    found = list(single_step(machine, StepQuestion(asked, ())))  # it replays each step
    assert [type(one) for one in found] == [answer] * len(asked)


def test_an_earlier_search_without_unequal_items_is_made_again(tmp_path: Path) -> None:
    about = write(tmp_path, QUEUE.partition("mutant ")[0])
    found = search(about, lambda *_: None, False)
    before = tuple(one for one in found.asked if "order" not in one.title)
    assert not leaves_open(replace(about, found=found))
    assert leaves_open(replace(about, found=replace(found, asked=before)))
