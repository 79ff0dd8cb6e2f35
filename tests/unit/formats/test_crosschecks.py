"""The cross-checks of an adapter.toml, and questions with operations inserted."""

import pytest

from charter.formats.findings.crosschecks import list_calls, read_crosschecks
from charter.formats.resolve import insert_calls, leave_out_calls

LEADER = {
    "help": "there is a leader",
    "append": [{"operation": "start", "each": "Broker", "args": {"broker": "{Broker}"}}],
    "ends": {"partition.*.leader": "present", "partition.*.recovering": False},
}


def test_an_end_is_good_when_each_place_has_its_value():
    (check,) = read_crosschecks({"leader": LEADER})

    def observe(*partitions):
        return {"partition": {str(n): one for n, one in enumerate(partitions)}}

    good, none = {"leader": "b1", "recovering": False}, {"leader": None, "recovering": False}
    assert check.ends_well(observe(good, None))
    assert not check.ends_well(observe(good, none))
    assert not check.ends_well(observe({**good, "recovering": True}))
    assert not check.ends_well(observe(None)), "nothing is there"


def test_an_appended_operation_comes_once_for_each_element():
    (check,) = read_crosschecks({"leader": LEADER})
    calls = [*list_calls(check, {"Broker": {"b1": 0, "b2": 1}})]
    assert [call["args"] for call in calls] == [{"broker": "b1"}, {"broker": "b2"}]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"insert": ["a"]}, "lacks 'help'"),
        ({"help": "h"}, "must have one of"),
        ({"help": "h", "insert": ["a"], "deltas": True}, "must have one of"),
        ({"help": "h", "insert": []}, "checks nothing"),
        ({"help": "h", "insert": "a"}, "is no list of operations"),
        ({"help": "h", "deltas": False}, "checks nothing"),
        ({"help": "h", "append": [{"operation": "a"}]}, "both 'append' and 'ends'"),
        ({"help": "h", "append": [], "ends": {}}, "is no list of tables"),
        ({"help": "h", "append": [{"operation": "a", "args": 1}], "ends": {}}, "a table 'args'"),
        ({"help": "h", "insrt": ["a"]}, "unknown key 'insrt'"),
        ({"help": "h", "insert": ["a"], "open": [{"branches": ["a/b"]}]}, "lacks 'says'"),
        ({"help": "h", "insert": ["a"], "open": [{"says": "s"}]}, "lacks 'branches'"),
        ({"help": "h", "deltas": True, "open": [{"says": "s"}]}, "next to 'insert'"),
        ([], "is no table"),
    ],
)
def test_a_cross_check_is_refused_when_it_says_nothing(held, said):
    with pytest.raises(ValueError, match=said):
        read_crosschecks({"one": held})


def test_references_lead_to_the_same_step_when_operations_are_inserted():
    calls = [
        {"operation": "a", "args": {}},
        {"operation": "b", "args": {"x": {"ref": [1, "x"]}, "y": {"ref": [0, "y"]}}},
        {"operation": "c", "args": {"x": [{"ref": [2, "x"], "in": "reply"}, {"ref": [1, "x"]}]}},
    ]
    more = [{"operation": "m", "args": {}}, {"operation": "n", "args": {}}]
    longer = insert_calls(calls, 1, more)
    assert [call["operation"] for call in longer] == ["a", "m", "n", "b", "c"]
    assert longer[3]["args"] == {"x": {"ref": [1, "x"]}, "y": {"ref": [0, "y"]}}
    assert longer[4]["args"]["x"] == [{"ref": [4, "x"], "in": "reply"}, {"ref": [1, "x"]}]
    assert leave_out_calls(longer, 1, 2) == calls
