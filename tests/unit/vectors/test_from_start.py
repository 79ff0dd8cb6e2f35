"""What only questions from given states show is also asked for from the first state, where a run
gets there: many adapters cannot load a state."""

from dataclasses import replace
from functools import cache

from charter.diagnostics import Source
from charter.suites.search import search
from charter.suites.smoke import Smoke, SmokeVector, smoke
from charter.suites.subject import subject

LINE = """protocol line

sort Guest

component desk {
  state served: option Guest = none
  state waiting: ranking Guest = <>
  state gone: set Guest = {}

  operation come(guest: Guest) -> bool cites silent {
    branch again when served == present(guest) or guest in set(waiting) | gone reply false
    branch served when served == none { served' = present(guest)  reply true }
    branch waits {
      waiting' = if size(waiting) == 2 then waiting else append(waiting, guest)
      reply true
    }
  }
  operation leave() -> bool cites silent {
    branch nobody when served == none reply false
    branch last when size(waiting) == 0 {
      served' = none
      gone' = gone | {value(served)}
      reply true
    }
    branch next_one {
      gone' = gone | {value(served)}
      served' = present(waiting[0])
      waiting' = keep(waiting, set(waiting) - {waiting[0]})
      reply true
    }
  }
  observe all { served, waiting, gone }
}

always two_wait of desk: size(waiting) <= 2
always gone_are_gone of desk: forall guest in gone: served != present(guest)

witness two_may_wait of desk: size(waiting) == 2

instance tiny of desk { Guest = 4 }

mutant everybody_waits in tiny {
  replace update waiting of desk.come/waits with append(waiting, guest)
} caught by two_wait

mutant third_stays in tiny {
  replace update served of desk.leave/last with if size(gone) == 2 then served else none
} caught by gone_are_gone
"""


@cache
def small() -> Smoke:
    """The small suite, searched without the solver."""
    about = subject((Source("line.charter", LINE),), "")
    return smoke(replace(about, found=search(about, lambda *_: None, False)))


def list_begun() -> tuple[SmokeVector, ...]:
    """The vectors that begin in the first state."""
    return tuple(e for e in small().entries if e.vector.question.given is None)


def test_what_a_run_shows_is_asked_for_from_the_first_state() -> None:
    """Also what needs a given state at first, since one operation shows it there. The question from
    the given state is dropped."""
    assert len(list_begun()) == len(small().entries)
    met = {name for entry in small().entries for name in entry.meets}
    assert met == {name for entry in list_begun() for name in entry.meets}


def test_such_a_question_names_what_it_was_made_for() -> None:
    named = {name for entry in list_begun() for name in entry.vector.why.obligations}
    assert {name for entry in small().entries for name in entry.meets} <= named


def test_mutants_are_told_from_the_first_state() -> None:
    """Also where no obligation needs as many steps."""
    assert [kill.mutant for kill in small().kills] == ["everybody_waits", "third_stays"]
    for kill in small().kills:
        assert kill.outcome == "killed"
        assert set(kill.surely) & {entry.vector.id for entry in list_begun()}
