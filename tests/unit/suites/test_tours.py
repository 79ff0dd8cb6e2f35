"""Tours ask every transition of an instance, one after another, from the first state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from charter.diagnostics import Source
from charter.formats.vector import Vector
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.suites.explored import ExploredInstance
from charter.suites.subject import subject
from charter.suites.touring.tours import OPERATIONS_MAX, Tours
from charter.vectors.answer import Answers

DESK = """protocol desk

sort Person
opaque ordered counter Ticket

component desk {
  state held: map Person -> option Ticket = [p in Person: none]
  state last: Ticket = 0
  state open: bool = false
  state calm: bool = true
  operation unlock() -> bool {
    branch unlocked when shut: not open { open' = true  reply true }
    branch already reply false
  }
  operation take(p: Person) -> option Ticket {
    assume open
    branch has_one when present: held[p] != none reply held[p]
    branch taken {
      let ticket = bump(last)
      held' = held with [p: present(ticket)]
      last' = ticket
      reply present(ticket)
    }
  }
  operation give_back(p: Person, ticket: Ticket) -> bool {
    branch given when right: held[p] == present(ticket) {
      held' = held with [p: none]
      reply true
    }
    branch refused reply false
  }
  operation call_next() -> bool {
    branch called when waiting: { p in Person if held[p] != none } != {} {
      pick p in { p in Person if held[p] != none }
      held' = held with [p: none]
      reply true
    }
    branch nobody reply false
  }
  observe metadata { held, open }
}
witness full of desk: forall p in Person: held[p] != none

instance tiny of desk {
  Person = {ann, bob, cid}
  START
}
"""
OPENED = (
    "start open = true\n  prelude { do unlock() -> unlocked }\n  offers take, give_back, call_next"
)

DICE = """protocol dice

enum Face { one, two, three }

component dice {
  state last: Face = one
  state before: Face = one
  operation roll() -> bool {
    branch rolled { pick face in {one, two, three}  last' = face  before' = last  reply true }
  }
  operation clear() -> bool {
    branch cleared { last' = one  before' = one  reply true }
  }
  observe all { last, before }
}
witness high of dice: last == three

instance tiny of dice {
}
"""


def explore(start: str = "") -> ExploredInstance:
    model = subject([Source("desk.charter", DESK.replace("START", start))], "").model
    return ExploredInstance.of(model, model.instances[0])


def make(explored: ExploredInstance) -> list[Vector]:
    return [*Tours.of(explored).vectors()]


Row = tuple[object, str, frozenset[tuple[str, object]]]
"""A transition up to renaming: the state before it, its operation, its branches with the states
after them."""


class Noted:
    """Transitions that were performed."""

    def __init__(self, form: Callable[[State], object]) -> None:
        self.form = form
        self.rows: list[Row] = []

    def note(self, state: State, name: str, _: object, outcomes: tuple[Outcome, ...]) -> None:
        """Add one."""
        ends = frozenset((outcome.branch, self.form(outcome.state)) for outcome in outcomes)
        self.rows.append((self.form(state), name, ends))


def list_rows(explored: ExploredInstance, vector: Vector) -> list[list[Row]]:
    """For each operation of a vector the transitions that some allowed trace makes, by the
    definition."""
    machine, form = explored.opened.machine, explored.opened.asked.form
    answers, question = Answers(machine, machine.outcomes), vector.question
    found: list[list[Row]] = []
    for count in range(1, len(question.operations) + 1):
        noted = Noted(form)
        shorter = replace(question, operations=question.operations[:count])
        answers.answer(shorter, None, noted.note)
        found.append(noted.rows[sum(map(len, found)) :])
    return found


@pytest.mark.parametrize("start", ["", OPENED])
def test_every_transition_is_asked_once(start: str) -> None:
    explored = explore(start)
    wanted: Counter[Row] = Counter()
    for transition in explored.list_asked():
        state, step = explored.graph.states[transition.source], transition.step
        outcomes = explored.graph.successors.outcomes(state, step.operation, step.args)
        form = explored.opened.asked.form
        ends = frozenset((outcome.branch, form(outcome.state)) for outcome in outcomes)
        wanted[form(state), step.operation, ends] += 1
    counted: Counter[Row] = Counter()
    for vector in make(explored):
        rows = list_rows(explored, vector)
        for number in vector.why.asks:
            (only,) = rows[number - 1][:1]
            counted[only] += 1
    assert counted == wanted


@pytest.mark.parametrize("start", ["", OPENED])
def test_a_tour_begins_in_the_first_state_and_is_bounded(start: str) -> None:
    explored = explore(start)
    found = make(explored)
    prelude = 1 if start else 0
    assert all(vector.question.given is None for vector in found)
    assert all(len(v.question.operations) <= prelude + OPERATIONS_MAX for v in found)
    alone = [len(explored.trace(one.source)) + 1 + prelude for one in explored.list_asked()]
    assert len(found) < len(alone) / 3
    assert sum(len(v.question.operations) for v in found) < sum(alone) / 2


def test_what_leads_to_one_of_several_states_is_the_last_of_its_tour() -> None:
    explored = explore(OPENED)
    for vector in make(explored):
        rows = list_rows(explored, vector)
        forks = [k for k, row in enumerate(rows, 1) if any(len({*one[2]}) > 1 for one in row)]
        assert all(number not in vector.why.asks or number == len(rows) for number in forks)


def test_tours_of_one_question_ask_no_transition_twice() -> None:
    model = subject([Source("dice.charter", DICE)], "").model
    tours = Tours.of(ExploredInstance.of(model, model.instances[0]))
    found = [*tours.vectors()]
    questions = {vector.question.id: vector for vector in found}
    assert len(questions) < len(found)
    # Both operations count before the first roll; behind it nobody knows the state.
    assert [v.why.asks for v in questions.values() if v.why.asks] == [(1, 2)]
    assert tours.total == 2 * 9 == 2 + tours.behind_choice


def test_the_same_tours_are_made_again() -> None:
    one, other = ([v.line() for v in make(explore(OPENED))] for _ in range(2))
    assert one == other


def test_a_state_to_which_no_prelude_leads_is_given() -> None:
    found = make(explore("start open = true"))
    assert found
    assert all(vector.question.given is not None for vector in found)


def test_what_no_tour_can_ask_is_asked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sum(len(vector.why.asks) for vector in make(explore()))

    def refuse(self: Tours, number: int) -> None:
        del self, number

    monkeypatch.setattr(Tours, "_begin", refuse)
    found = make(explore())
    assert sum(len(vector.why.asks) for vector in found) == whole
    assert {len(vector.why.asks) for vector in found} == {1}
