"""Answers that are computed on a model are those that a suite would have."""

import json
from types import SimpleNamespace

import pytest

from charter.formats.opaque import OpaqueTypes
from conform.judging.answer import CannotAnswer, GrowingAnswer, answer_of


class Coin:
    """A coin that falls on either face, is hidden, and whose face is then told."""

    def initial(self, *_):
        return 0

    def observe(self, state):
        return {"face": state}

    encode = observe

    def outcomes(self, state, operation, args):
        states = {"flip": (1, 2), "hide": (0,), "tell": (0,)}[operation]
        reply = args.get("face")
        return [SimpleNamespace(branch=f"{operation}/done", reply=reply, state=s) for s in states]


def test_traces_are_kept_apart_when_a_later_reference_tells_them_apart():
    calls = [("flip", {}), ("hide", {}), ("tell", {"face": {"ref": [1, "face"]}})]
    operations = [{"operation": name, "args": args} for name, args in calls]
    answer = answer_of(
        Coin(), {"sorts": {}, "given": None, "operations": operations}, OpaqueTypes()
    )
    told = [(node["from"], answer["replies"][node["reply"]]) for node in answer["steps"][3]]
    assert told == [([0], 1), ([1], 2)]
    assert [node["from"] for node in answer["steps"][2]] == [[0], [1]]
    answer = answer_of(
        Coin(), {"sorts": {}, "given": None, "operations": operations[:2]}, OpaqueTypes()
    )
    assert [node["from"] for node in answer["steps"][2]] == [[0, 1]]


class Undefined(Exception):
    """What each folder of generated models has."""


@pytest.mark.parametrize(("raised", "caught"), [(Undefined, CannotAnswer), (OSError, OSError)])
def test_a_question_without_a_value_has_no_answer(raised, caught):
    """A smaller constant can make a given state that the charter has no value for."""

    class Empty(Coin):
        def outcomes(self, state, operation, args):
            raise raised("the only one of 0")

    question = {"sorts": {}, "given": None, "operations": [{"operation": "flip", "args": {}}]}
    with pytest.raises(caught, match="the only one of 0"):
        answer_of(Empty(), question, OpaqueTypes())


def test_a_growing_answer_is_that_of_the_question_unless_a_later_reference_needs_more():
    calls = [
        {"operation": "flip", "args": {}},
        {"operation": "hide", "args": {}},
        {"operation": "tell", "args": {"face": {"ref": [1, "face"]}}},
    ]
    question = {"sorts": {}, "given": None, "operations": []}
    growing = GrowingAnswer.of(Coin(), question, OpaqueTypes())
    for count, call in enumerate(calls, 1):
        growing.add(call)
        whole = answer_of(Coin(), {**question, "operations": calls[:count]}, OpaqueTypes())
        assert growing.is_of(calls[:count]) == (growing.json() == whole) == (count < 3)


def test_an_operation_without_an_answer_leaves_nothing_behind():
    question = {"sorts": {}, "given": None, "operations": []}
    growing = GrowingAnswer.of(Coin(), question, OpaqueTypes())
    growing.add({"operation": "flip", "args": {}})
    before = json.dumps(growing.json())
    with pytest.raises(CannotAnswer):
        growing.add({"operation": "tell", "args": {"face": {"ref": [7, "face"]}}})
    assert json.dumps(growing.json()) == before
