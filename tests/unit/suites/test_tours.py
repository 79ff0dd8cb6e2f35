"""Tours ask every transition of an instance, one after another, from the first state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from charter.diagnostics import Source
from charter.formats.reading import BadVector
from charter.formats.vector import Vector, Why, read_why
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.suites.explored import ExploredInstance
from charter.suites.subject import subject
from charter.suites.touring.tours import OPERATIONS_MAX, Tours
from charter.suites.vector_texts import VectorRecord, merge
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

COINS = """protocol coins

enum Side { heads, tails, none_yet }

component coins {
  state shown: Side = none_yet
  state hidden: Side = none_yet
  operation show() -> bool {
    branch shown when unseen: shown == none_yet {
      pick s in {heads, tails}  shown' = s  reply true
    }
    branch again reply false
  }
  operation hide() -> bool {
    branch hidden when unseen: hidden == none_yet {
      pick s in {heads, tails}  hidden' = s  reply true
    }
    branch again reply false
  }
  observe all { shown }
}
witness both of coins: shown == heads and hidden == heads

instance tiny of coins {
}
"""

STAIRS = """protocol stairs

component stairs {
  state level: int 0..4 = 0
  operation climb() -> bool {
    branch top when highest: level == 4 reply false
    branch climbed { level' = level + 1  reply true }
  }
  operation jump() -> bool {
    branch short when high: level > 2 reply false
    branch jumped { level' = level + 2  reply true }
  }
  observe all { level }
}
witness above of stairs: level == 4

instance tiny of stairs {
}
"""


GAPS = """protocol gaps

sort Person
opaque counter Ticket

component desk {
  state held: map Person -> option Ticket = [p in Person: none]
  state last: Ticket = 0
  state open: bool = false
  operation unlock() -> bool {
    branch unlocked when shut: not open { open' = true  reply true }
    branch already reply false
  }
  operation take(p: Person) -> option Ticket {
    branch has_one when present: held[p] != none or not open reply held[p]
    branch taken {
      held' = held with [p: present(bump(last))]
      last' = bump(last)
      open' = false
      reply present(bump(last))
    }
  }
  operation jump(p: Person) -> bool {
    branch has_one when present: held[p] != none or open reply false
    branch taken {
      held' = held with [p: present(bump(bump(last)))]
      last' = bump(bump(last))
      reply true
    }
  }
  operation give_back(p: Person, ticket: Ticket) -> bool {
    branch given when right: held[p] == present(ticket) {
      held' = held with [p: none]
      reply true
    }
    branch old when small: ticket < last reply true
    branch refused reply false
  }
  observe all { held, last, open }
}
witness opened of desk: open

instance tiny of desk {
  Person = {ann}
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
        for number, node in (*((k, 0) for k in vector.why.asks), *vector.why.asks_behind):
            counted[rows[number - 1][node]] += 1
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
    kept = [*merge(sorted(map(VectorRecord.of, found), key=lambda record: record.id))]
    assert len(kept) < len(found)
    # Both operations have one state before the first roll; behind it the die decides which.
    assert [one.reasons().asks for one in kept if one.reasons().asks] == [(1, 2)]
    assert tours.total == 2 * 9 == sum(one.reasons().asked for one in kept)
    assert tours.behind_choice == 0


def test_what_comes_behind_a_choice_names_the_state_that_is_meant() -> None:
    model = subject([Source("coins.charter", COINS)], "").model
    tours = Tours.of(ExploredInstance.of(model, model.instances[0]))
    vectors = [*tours.vectors()]
    for vector in vectors:
        for step, node in vector.why.asks_behind:
            observations = vector.answer.observations
            alike = [one.observation for one in vector.answer.steps[step - 1]]
            assert alike.count(alike[node]) == 1
            assert observations[alike[node]]["shown"] != "none_yet"
    # Nothing shows what lies under the cup.
    assert tours.behind_choice > 0


def test_no_tour_has_an_operation_that_a_target_lacks() -> None:
    explored = explore()
    tours = Tours.of(explored, ("call_next",))
    found = [*tours.vectors()]
    used = {call.operation for vector in found for call in vector.question.operations}
    assert used == {"unlock", "take", "give_back"}
    lost = sum(one.step.operation == "call_next" for one in explore().list_asked())
    assert tours.unsupported == lost
    assert sum(vector.why.asked for vector in found) == tours.total - lost


def test_a_tour_goes_around_an_operation_that_a_target_lacks() -> None:
    model = subject([Source("stairs.charter", STAIRS)], "").model
    tours = Tours.of(ExploredInstance.of(model, model.instances[0]), ("jump",))
    (vector,) = tours.vectors()
    assert [call.operation for call in vector.question.operations] == ["climb"] * 5
    assert (vector.why.asks, tours.unsupported) == ((1, 2, 3, 4, 5), 5)


def test_what_only_a_lacking_operation_leads_to_is_not_asked() -> None:
    tours = Tours.of(explore(), ("unlock",))
    found = [*tours.vectors()]
    assert 0 < sum(vector.why.asked for vector in found) == tours.total - tours.unsupported
    led = Tours.of(explore(OPENED), ("unlock",))
    assert ([*led.vectors()], led.unsupported) == ([], led.total)


def test_what_has_no_counterpart_behind_a_way_around_is_unsupported() -> None:
    model = subject([Source("gaps.charter", GAPS)], "").model
    tours = Tours.of(ExploredInstance.of(model, model.instances[0]), ("jump",))
    found = [*tours.vectors()]
    calls = {call.operation for vector in found for call in vector.question.operations}
    assert calls == {"unlock", "take", "give_back"}
    asked = sum(vector.why.asked for vector in found)
    assert 0 < asked == tours.total - tours.unsupported
    assert tours.unsupported > sum(
        one.step.operation == "jump" for one in tours.explored.list_asked()
    )


def test_a_node_behind_a_choice_survives_writing_and_reading() -> None:
    why = Why(asks=(1, 2), asks_behind=((3, 1), (4, 0)))
    assert read_why(why.json()) == why
    assert (why.asked, Why().json().keys() & {"asks", "asks_behind"}) == (4, set())
    with pytest.raises(BadVector, match="not a step and a node"):
        read_why(why.json() | {"asks_behind": [[3]]})


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
