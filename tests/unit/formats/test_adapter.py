"""Messages of the adapter protocol."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import charter.formats.adapter
from charter.formats.adapter import BadMessage, Welcome, hello, read_results, read_welcome
from charter.formats.status import Status
from conform import sdk

SCHEMA = json.loads(
    (Path(charter.formats.adapter.__file__).parent / "schemas" / "adapter.json").read_text()
)
WELCOME = Welcome("x", "1", "c", frozenset({"load"}), frozenset({"a", "b"}), ("s",), sessions=1)
ABOUT = sdk.About("x", "1", "c", ("b", "a"), ("s",), ("load",))


class Silent(sdk.Adapter):
    def __init__(self, about):
        self.about = about


def greet(about):
    """The SDK's answer to hello."""
    return sdk.answer_message(Silent(about), hello("", "", {}, {}))


HELLO = greet(ABOUT)


def answer(**changes):
    result = {"id": "q", "nonce": "n", "status": "ok", "detail": "", "steps": [[-1, 0, -1]]}
    return {"run": 4, "values": [{}], "results": [{**result, **changes}]}


def test_messages_are_in_the_schema():
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.validate(hello("4.3.1", "", {"A": "B"}, {"ttl": "int 1..9"}))
    validator.validate(hello("", "", {}, {}))
    validator.validate(HELLO)
    validator.validate(answer())
    validator.validate({"bye": True})
    begun = {"id": "q", "nonce": "n", "sorts": {}, "given": None, "delta": "each"}
    step = {"id": "q", "nonce": "n", "operation": "a", "args": {}}
    validator.validate({"run": 5, "end": ["p"], "begin": [begun], "steps": [step]})
    assert not validator.is_valid({"run": 5, "begin": [begun]})
    assert not validator.is_valid({"run": 5, "end": [], "begin": [step], "steps": [step]})
    assert not validator.is_valid({"run": 1})
    assert not validator.is_valid(answer(status="fine"))


def test_welcome_is_read():
    assert read_welcome(HELLO) == WELCOME
    assert WELCOME.consts == frozenset() and "consts" not in HELLO
    without = {name: value for name, value in HELLO.items() if name != "sessions"}
    assert read_welcome(without).sessions == 0
    knows = replace(WELCOME, consts=frozenset({"ttl"}))
    assert read_welcome(greet(ABOUT._replace(consts=("ttl",)))) == knows


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ([], "not an answer to hello"),
        ({"hello": 2}, "speaks version 2"),
        ({"hello": 1}, "lacks the text 'name'"),
        ({**HELLO, "observes": "s"}, "lacks the list 'observes'"),
        ({**HELLO, "sessions": True}, "`sessions` in the answer to hello is True, not a number"),
        ({**HELLO, "sessions": -1}, "is -1, not a number"),
    ],
)
def test_welcome_that_is_none(message, sentence):
    with pytest.raises(BadMessage, match=sentence):
        read_welcome(message)


def test_results_are_read():
    found = read_results(answer(status="unresolved"), 4, [("q", "n")])
    assert found.results[0].status is Status.UNRESOLVED


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"run": 3}, "not the answer to run 4"),
        ({"run": 4}, "values or results are missing"),
        ({"run": 4, "values": [], "results": []}, "there are 0 results instead of 1"),
        (answer(id="other"), "the id 'other' instead of 'q'"),
        (answer(nonce="old"), "does not bring back the nonce"),
        (answer(status="great"), "'great' is not in the protocol"),
        (answer(steps=None), "has no steps"),
    ],
)
def test_results_that_are_none(message, sentence):
    with pytest.raises(BadMessage, match=sentence):
        read_results(message, 4, [("q", "n")])


@pytest.mark.parametrize("status", [None, [], {}, {"case": "ok"}, 1, "fine"])
def test_status_of_another_kind_is_outside_the_protocol(status):
    result = {"id": "a", "nonce": "n", "status": status, "steps": []}
    with pytest.raises(BadMessage, match="is not in the protocol"):
        read_results({"run": 1, "values": [], "results": [result]}, 1, [("a", "n")])


def test_a_question_without_constants_can_be_copied_and_written():
    """Authors of adapters keep questions, and write them to logs."""
    question = sdk.Question("v1", {}, None)
    assert deepcopy(question) == question
    assert json.dumps(question.consts) == "{}"
