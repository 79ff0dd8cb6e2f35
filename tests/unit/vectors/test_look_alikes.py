"""Full suites tell states apart that look the same: what an operation did to a variable that nobody
observes shows in what a later one does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from charter import api
from charter.formats.vector import Vector
from charter.semantics.machine import Machine
from charter.suites import explored as module
from charter.suites.explored import ExploredInstance
from charter.suites.look_alikes import MOST_ACTS, spread
from charter.vectors.answer import Answers
from charter.vectors.kills import tells

PURSE = """
protocol purse

const limit: int 1..9
type Amount = int 0..limit

component purse {
  state money: Amount = 0
  state spent: Amount = 0
  state reserved: bool = false

  operation put() -> bool cites silent {
    branch full cites silent when money == limit reply false
    branch done cites silent { money' = money + 1 reply true }
  }

  operation reserve() -> bool cites silent {
    branch refused cites silent when reserved or spent == limit reply false
    branch done cites silent { reserved' = true spent' = spent + 1 reply true }
  }

  operation release() -> bool cites silent {
    branch nothing cites silent when not reserved reply false
    branch done cites silent { reserved' = false reply true }
  }

  observe all { money }
}

always in_order of purse cites silent: reserved implies spent > 0
witness all_spent of purse: spent == limit and not reserved
instance tiny of purse { limit = 2 }
"""


RIGHT, WRONG = "reserved' = false reply true", "reserved' = false spent' = 0 reply true"


def explore_text(text: str = PURSE) -> ExploredInstance:
    model = api.load_text(text)
    return ExploredInstance.of(model, model.instances[0])


def telling(vectors: Iterable[Vector]) -> list[Vector]:
    """The vectors that tell a purse that gives back too much."""
    planted = api.load_text(PURSE.replace(RIGHT, WRONG))
    machine = Machine.of(planted, replace(planted.instances[0], offers=(), only=()))
    answers = Answers(machine, machine.outcomes)
    return [v for v in vectors if tells(answers, v.question, v.answer) == "always"]


def test_what_a_transition_did_to_a_hidden_variable_shows_in_what_follows() -> None:
    found = explore_text()
    assert not telling(found.list_loaded())
    told = telling(found.list_followed())
    assert told
    for vector in told:
        names = [call.operation for call in vector.question.operations]
        assert vector.question.given is None and "release" in names[:-1]


def test_every_way_with_every_operation_takes_its_place_where_these_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = [vector.id for vector in explore_text().list_followed()]
    assert [vector.id for vector in explore_text().arrivals()] != followed
    monkeypatch.setattr(module, "ARRIVALS", 10)
    assert [vector.id for vector in explore_text().arrivals()] == followed
    monkeypatch.setattr(module, "MOST_CASES", 10)
    assert not [*explore_text().arrivals()]


def test_no_state_is_followed_where_everything_is_observed() -> None:
    shown = PURSE.replace("all { money }", "all { money, spent, reserved }")
    assert not [*explore_text(shown).list_followed()]


def test_follow_ups_are_few_and_those_that_change_nothing_come_first() -> None:
    found = explore_text()
    alike = module.LookAlikes.of(found.opened.machine, found.graph.states, found.list_offered)
    seen = 0
    for state in found.graph.states:
        acts = alike.telling(state)
        assert len(acts) <= MOST_ACTS
        changes = [found.outcomes(state, act)[0].state != state for act in acts]
        assert changes == sorted(changes)
        seen += len(acts)
    assert seen


def test_of_too_many_ways_some_are_taken_from_all_over() -> None:
    assert [*spread([*range(10)], 3)] == [0, 3, 6]
    assert [*spread([1, 2], 5)] == [1, 2]
    assert [*spread([], 5)] == []
