"""What is said of opaque values that differ: which earlier ones they equal."""

import pytest

from charter.formats.opaque import OpaqueTypes
from charter.formats.types import read_types
from conform.judging.differ import Allowed, RelabelledStep
from conform.judging.equal_values import ONE_COUNTER, OpaqueSteps, equal_values

START = RelabelledStep(None, {"newest": {"l1": "#1", "l2": "#1"}})
FIRST = RelabelledStep("#2", {"newest": {"l1": "#2", "l2": "#1"}})


def explain(seen, expected, several=False, opaque=None):
    """What is said of the last step of `seen`, of which each but the first is a grant."""
    operations = ["", *["grant"] * (len(seen) - 1)]
    steps = OpaqueSteps(opaque or OpaqueTypes(), operations, seen)
    return equal_values(steps, Allowed("grant/granted", *expected), several)


def newest(l1: str, l2: str):
    return {"newest": {"l1": l1, "l2": l2}}


def test_value_that_must_equal_one_of_another_key_is_told_with_its_place():
    last = RelabelledStep("#3", newest("#2", "#3"))
    assert explain([START, FIRST, last], ("#2", newest("#2", "#2"))) == (
        'reply must equal newest.l1 before this step ("#2"); it is a new value, greater than all'
        ' before ("#3")',
        ONE_COUNTER,
    )


def test_value_that_must_be_new_is_told_with_the_one_that_it_equals():
    last = RelabelledStep("#2", newest("#2", "#2"))
    assert explain([START, FIRST, last], ("#3", newest("#2", "#3"))) == (
        'reply must be a new value, greater than all before ("#3"); it equals newest.l1 before this'
        ' step ("#2")',
    )


def test_value_that_only_an_earlier_step_showed_is_told_with_the_step():
    hidden = [RelabelledStep(step.reply, {}) for step in (START, FIRST, RelabelledStep("#3", {}))]
    assert explain([*hidden, RelabelledStep("#4", {})], ("#2", {}))[0] == (
        'reply must equal reply of step 1 ("#2"); it is a new value, greater than all before ("#4")'
    )


def test_value_that_must_stay_is_no_matter_of_counters():
    last = RelabelledStep(True, newest("#3", "#1"))
    assert explain([START, FIRST, last], (True, newest("#2", "#1"))) == (
        'newest.l1 must equal newest.l1 before this step ("#2"); it is a new value, greater than'
        ' all before ("#3")',
    )


def test_value_that_differs_from_the_reply_of_its_step_is_compared_with_it():
    last = RelabelledStep("#3", newest("#4", "#1"))
    assert explain([START, FIRST, last], ("#3", newest("#3", "#1"))) == (
        'newest.l1 must equal reply of this step ("#3"); it is a new value, greater than all before'
        ' ("#4")',
    )


@pytest.mark.parametrize(
    ("wanted", "came", "told"),
    [
        ("#3", "#1.5", 'it is a new value, not greater than all before ("#1.5")'),
        ("#3", "~1", 'it is a new value ("~1")'),
    ],
)
def test_new_value_is_told_with_its_order(wanted, came, told):
    last = RelabelledStep(came, newest("#2", "#1"))
    (sentence,) = explain([START, FIRST, last], (wanted, newest("#2", "#1")))
    assert sentence.endswith(told)


def test_two_new_values_in_the_wrong_order_are_told_with_each_other():
    start = RelabelledStep(None, {"held": {"a": None, "b": None}})
    last = RelabelledStep(True, {"held": {"a": "#2", "b": "#1"}})
    assert explain([start, last], (True, {"held": {"a": "#1", "b": "#2"}})) == (
        'held.a must be a new value, less than held.b of this step ("#1"); it is a new value,'
        ' greater than held.b of this step ("#2")',
        'held.b must be a new value, greater than held.a of this step ("#2"); it is a new value,'
        ' less than held.a of this step ("#1")',
    )


def test_new_value_beside_others_is_told_with_the_nearest():
    last = RelabelledStep("#5", newest("#4", "#3"))
    assert explain([START, FIRST, last], ("#3", newest("#4", "#5")))[-1] == (
        'reply must be a new value, less than newest.l1 of this step ("#3"); it is a new value,'
        ' greater than newest.l1 of this step ("#5")'
    )


def test_one_of_several_outcomes_is_told_as_one():
    last = RelabelledStep("#3", newest("#2", "#1"))
    (sentence, _) = explain([START, FIRST, last], ("#2", newest("#2", "#1")), several=True)
    assert sentence.startswith("reply in the nearest outcome must equal newest.l1")


def test_labels_of_two_types_are_not_taken_for_one_value():
    declared = read_types(
        {
            "names": {"Token": "ordered", "Life": "ordered"},
            "replies": {"grant": "Token"},
            "observes": {"life": "Life", "token": "Token"},
            "state": {"life": "Life", "token": "Token"},
        },
        "manifest.json",
    )
    steps = [
        RelabelledStep(None, {"life": "#1", "token": "#1"}),
        RelabelledStep("#2", {"life": "#2", "token": "#1"}),
        RelabelledStep("#3", {"life": "#2", "token": "#1"}),
    ]
    opaque = OpaqueTypes.of(declared)
    (sentence, _) = explain(steps, ("#2", {"life": "#2", "token": "#1"}), opaque=opaque)
    assert sentence.startswith('reply must equal reply of step 1 ("#2")')


@pytest.mark.parametrize("reply", [{"fault": "Boom"}, None, {"case": "busy"}])
def test_nothing_is_said_where_no_label_came(reply):
    last = RelabelledStep(reply, newest("#2", "#1"), fault=reply == {"fault": "Boom"})
    assert explain([START, FIRST, last], ("#3", newest("#2", "#1"))) == ()
