"""Answers that are computed on a model are those that a suite would have."""

from types import SimpleNamespace

import pytest

from charter.formats.opaque import OpaqueTypes
from conform.judging.answer import CannotAnswer, answer_of


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
