"""What an adapter says of itself: refuted where it cannot be true, and only there."""

import orjson
import pytest
from tests.support.toy.vectors import question

from charter.formats.adapter import Result, Results
from charter.formats.status import Status
from conform.judging.read_result import BatchTexts
from conform.judging.refutations import lacks_image, refute, resolves

SHOWN = {"registration": {"n1": {"epoch": "@4"}, "n2": None}, "version": 0}
FAULT = {"fault": "java.lang.IllegalStateException", "message": ""}
BATCH = BatchTexts.of(Results([SHOWN, FAULT], []), None)
REGISTER = ("register", {"node": "n1"})


def result(status, *steps, detail=""):
    return Result("q", "n", status, detail, [list(step) for step in steps])


def write(*path, **more):
    reference = {"ref": list(path), **more}
    return ("write", {"node": "n1", "epoch": reference, "version": 1})


@pytest.mark.parametrize(
    ("status", "detail", "needs", "told"),
    [
        (Status.NOT_LOADABLE, "version is 0", "elect", "gives no state"),
        (Status.NOT_LOADABLE, "version is 0", "elect load", ""),
        (Status.UNSUPPORTED, "elect", "elect", "claims it"),
        (Status.UNSUPPORTED, "image", "elect", "claims it"),
        (Status.UNSUPPORTED, "votes", "elect", ""),
        (Status.ERROR, "elect", "elect", ""),
    ],
)
def test_status_without_steps(status, detail, needs, told):
    sentence = refute(needs, result(status, detail=detail), {"elect", "image"})
    assert told in sentence and bool(told) == bool(sentence)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (write(0, "registration", "n1", "epoch"), "each reference of step 1"),
        (write(0, "registration", "n2", "epoch"), ""),
        (write(0, "registration", "n2"), ""),
        (write(1, "registration", "n1", "epoch"), ""),
        (write(0, "log"), ""),
        (write(0, "version", plus=1), "each reference of step 1"),
        (write(0, "registration", plus=1), ""),
        (REGISTER, "each reference of step 1"),
    ],
)
def test_unresolved_is_true_where_a_reference_leads_nowhere(call, told):
    asked = question(call, REGISTER).json()
    sentence = resolves(asked, result(Status.UNRESOLVED, (-1, 0, -1)), BATCH)
    assert told in sentence and bool(told) == bool(sentence)


def test_unresolved_needs_a_state_before_and_an_operation_that_was_left():
    asked = question(REGISTER).json()
    assert "no state" in resolves(asked, result(Status.UNRESOLVED), BATCH)
    every = result(Status.UNRESOLVED, (-1, 0, -1), (0, 0, -1))
    assert "all operations" in resolves(asked, every, BATCH)


@pytest.mark.parametrize(
    ("delta", "steps", "lacks"),
    [
        ("each", [(-1, 0, 0), (0, 0, 0)], False),
        ("each", [(-1, 0, 0), (0, 0, -1)], True),
        ("each", [(-1, 0, -1), (0, 0, 0)], True),
        ("each", [(-1, 0, 0), (1, -1, -1)], False),
        ("each", [(-1, 0, 0), (0, 0, 1), (0, 0, -1)], False),
        ([1], [(-1, 0, -1), (0, 0, 0)], False),
        ([1], [(-1, 0, -1), (0, 0, -1)], True),
        ([2], [(-1, 0, -1), (0, 0, -1)], False),
        ([], [(-1, 0, -1), (0, 0, -1)], False),
    ],
)
def test_image_is_due_where_delta_says_and_not_after_a_fault(delta, steps, lacks):
    asked = {**question(REGISTER).json(), "delta": delta}
    text = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
    assert lacks_image(text, result(Status.OK, *steps), BATCH) is lacks
