"""The answer to a question is the same by the definition and by the explorer's flat functions, and
every scenario has one."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
from tests.support import spec

from charter.core import nodes as n
from charter.formats.vector import Vector, read_line
from charter.semantics.machine import Machine
from charter.semantics.scenario import follow
from charter.suites.explored import ExploredInstance
from charter.suites.planning.random_walks import Walks
from charter.suites.smoke import Desk
from charter.vectors.answer import answer


def kafka() -> n.Model:
    return spec.model("kafka")


def instance_of(name: str) -> n.Instance:
    return next(i for i in kafka().instances if i.name == name)


@cache
def scenarios(every: int) -> tuple[list[n.Scenario], list[Vector]]:
    """One in so many of the controller's scenarios, with their vectors."""
    mine = tuple(s for s in kafka().scenarios if s.instance.machine == "controller")[::every]
    desk = Desk(replace(kafka(), scenarios=mine), ())
    return [*mine], [entry.vector for entry in desk.scenarios("controller")]


def by_definition(vector: Vector, instance: n.Instance) -> bool:
    machine = Machine.of(kafka(), replace(instance, offers=(), only=()))
    return answer(machine, vector.question) == vector.answer


@pytest.mark.slow
def test_every_scenario_bears_itself_out() -> None:
    """As `conform check` says, which computes once what scenarios have in common."""
    assert not [s.title for s in kafka().scenarios if not follow(kafka(), s)]


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_scenarios_are_vectors_whose_answers_both_engines_give(every: int) -> None:
    """One in so many; `conform generate --check` makes the vectors of all anew."""
    mine, found = scenarios(every)
    assert len(found) == len(mine)
    for vector in found:
        instance = next(s.instance for s in mine if s.title == vector.why.title)
        assert by_definition(vector, instance)


def test_loaded_vectors_have_the_same_answer_by_both_engines() -> None:
    explored = ExploredInstance.of(kafka(), instance_of("tiny_shutdown"))
    found = list(islice(explored.list_loaded(every=37), 120))
    assert len(found) == 120
    assert all(by_definition(vector, instance_of("tiny_shutdown")) for vector in found)
    assert {len(v.question.operations) for v in found} > {1}


@pytest.mark.parametrize("name", ["tiny_topics", "standard"])
def test_walks_have_the_same_answer_by_both_engines(name: str) -> None:
    found = list(Walks.of(kafka(), instance_of(name)).vectors(25))
    assert len(found) > 15
    assert all(by_definition(vector, instance_of(name)) for vector in found)


def test_a_vector_reads_back_when_it_was_written() -> None:
    _, (vector, *_) = scenarios(4)
    again = read_line(vector.line(), "line 1")
    assert again == vector and json.loads(vector.line())["answer"]["question"] == vector.id
