"""Lanes, pictures and rows: what of a state is drawn, and what is marked in it."""

from dataclasses import replace

import pytest
from tests.unit.reports import sample

from charter.formats.types import read_types
from charter.formats.vector import Why
from conform.judging.places import ValuePlaces
from conform.judging.written_values import call_text, show
from conform.reports.lanes import FLAG, MANY, ONE, lanes
from conform.reports.shapes import wrap
from conform.reports.spacetime import spacetime
from conform.reports.statepicture import state_picture
from conform.reports.traces import DeviationRow, ReportedStep, VectorTrace
from conform.reports.values import rows

SORTS = {"Broker": ["b1", "b2", "b3"], "Topic": ["t1"]}
TYPES = read_types(
    {
        "observes": {
            "partition": "map Topic -> {leader: option Broker, replicas: list Broker,"
            " isr: set Broker, elr: set Broker, last_known_elr: set Broker, leader_epoch: int}",
            "registration": "map Broker -> {fenced: bool}",
            "queue": "map Box -> list Message",
            "held": "map Reader -> option {box: Box, message: Message}",
            "isr": "set Broker",
            "replicas": "list Broker",
            "items": "list {x: Broker}",
        },
        "replies": {"drain": "list Message", "pick": "union took{all: list Message}"},
        "names": dict.fromkeys(("Broker", "Topic", "Box", "Message", "Reader"), "sort"),
    },
    "types",
)
PLACES = ValuePlaces(TYPES, frozenset({"target"}))
STATE = PLACES.observation


def deviation(observed, expected, **more):
    fields = {"step": 1, "operation": "expire", "args": {"broker": "b3"}, "branch": "expire/fenced",
              "severity": "state", "before": sample.STATES[1], "entry": "", "cause": "c",
              "paths": ()}  # fmt: skip
    return DeviationRow(observed=observed, expected=expected, **(fields | more))


def trace(*steps):
    question = sample.VECTORS["conforms"].question
    return VectorTrace("0" * 20, "diverges", "", 1, 0, question, Why(), steps)


def labels(picture):
    return [shape.title for shape in picture.shapes if shape.title]


def test_lanes_are_the_sort_that_occurs_most():
    found = lanes(sample.STATES, SORTS, STATE)
    assert found.names == ("b1", "b2", "b3")
    assert {(field.name, field.kind) for field in found.fields} == {
        ("leader", ONE),
        ("isr", MANY),
        ("elr", MANY),
        ("last_known_elr", MANY),
        ("fenced", FLAG),
    }
    assert [field.name for field, _ in found.steady] == ["replicas"]


def test_lanes_are_none_where_no_element_occurs():
    assert lanes([{"clock": 3, "done": True}], SORTS, STATE) is None


def test_marks_of_fields_with_one_name_are_told_apart():
    state = {"partition": {"t1": {"leader": "b1"}, "t2": {"leader": "b2"}}}
    found = lanes([state], {"Broker": ["b1", "b2"]}, STATE)
    assert sorted(found.label(field) for field in found.fields) == ["t1.leader", "t2.leader"]


def test_spacetime_marks_what_the_charter_expects():
    seen = {"reply": True, "observation": sample.STATES[1]}
    wanted = {"branch": "expire/fenced", "reply": True, "observation": sample.STATES[2]}
    start = ReportedStep(0, "", {}, "", "start", None, sample.STATES[1])
    wrong = ReportedStep(1, "expire", {"broker": "b3"}, "", "deviates", True, sample.STATES[1],
                 deviation(seen, (wanted,)))  # fmt: skip
    told = labels(spacetime(trace(start, wrong), STATE))
    assert "b3: partition.t1.isr (observed, but not allowed)" in told
    assert "b3: registration.fenced (expected, but not observed)" in told
    assert "b2: partition.t1.isr (as before)" in told


def test_spacetime_tells_the_fields_that_are_no_marks():
    observed = {"partition": {"t1": {"leader": "b1", "epoch": 3}}}
    expected = {"partition": {"t1": {"leader": "b1", "epoch": 4}}}
    wanted = {"branch": "expire/fenced", "reply": True, "observation": expected}
    found = deviation({"reply": True, "observation": observed}, (wanted,))
    step = ReportedStep(
        1, "expire", {}, "", "deviates", True, observed, found, found.differing(PLACES)
    )
    drawn = spacetime(trace(ReportedStep(0, "", {}, "", "start", None, observed), step), STATE)
    assert "t1.epoch: 3, charter: 4" in [shape.text for shape in drawn.shapes]


def test_spacetime_of_a_fault_has_a_row_without_marks():
    seen = {"reply": {"fault": "Oops"}, "observation": None}
    wanted = {"branch": "expire/fenced", "reply": True, "observation": sample.STATES[2]}
    start = ReportedStep(0, "", {}, "", "start", None, sample.STATES[1])
    fault = deviation(seen, (wanted,), severity="fault")
    drawn = trace(
        start, ReportedStep(1, "expire", {}, "", "deviates", {"fault": "Oops"}, None, fault)
    )
    assert spacetime(drawn, STATE) is not None
    assert state_picture(drawn, fault, STATE) is None
    assert [row.path for row in fault.differing(PLACES)] == ["reply", "reply.fault"]


def test_state_picture_shows_three_states_and_counters_that_differ():
    seen = {"reply": True, "observation": sample.STATES[1]}
    wanted = {"branch": "expire/fenced", "reply": True, "observation": sample.STATES[2]}
    found = deviation(seen, (wanted,))
    start = ReportedStep(0, "", {}, "", "start", None, sample.STATES[1])
    step = ReportedStep(1, "expire", {}, "", "deviates", True, sample.STATES[1], found)
    picture = state_picture(trace(start, step), found, STATE)
    texts = [shape.text for shape in picture.shapes]
    assert {"before", "charter", "observed", "t1.leader_epoch"} <= set(texts)
    assert "expected: leader {b1}, isr {b1, b2}" in picture.description
    assert picture.notes == ("In all three, replicas holds b1, b2 and b3.",)


def test_image_is_compared_only_with_what_it_shows():
    observed = {"reply": None, "observation": {"a": 1, "b": {"c": 2, "d": 3}},
                "image": {"b": {"c": 9}}}  # fmt: skip
    found = deviation(observed, ({"branch": "", "reply": None, "observation": {}},))
    assert [(row.path, row.kind) for row in found.differing(PLACES)] == [("b.c", "differs")]


def test_nearest_expectation_is_that_of_the_branch_that_differs_least():
    expected = ({"branch": "other", "reply": 1, "observation": {"a": 1}},
                {"branch": "expire/fenced", "reply": 2, "observation": {"a": 2}},
                {"branch": "expire/fenced", "reply": 1, "observation": {"a": 2}})  # fmt: skip
    assert deviation({"reply": 1, "observation": {"a": 1}}, expected).nearest is expected[2]


def test_rows_mark_members_that_the_other_side_lacks():
    (row,) = rows({"isr": ["b1"]}, {"observation": {"isr": ["b1", "b2"]}},
                  {"observation": {"isr": ["b1", "b3"]}}, (PLACES, "f"))  # fmt: skip
    assert row.kind == "differs"
    assert [token.text for token in row.expected if token.differs] == ["b2"]
    assert [token.text for token in row.observed if token.differs] == ["b3"]


def test_rows_compare_orders_as_a_whole():
    (row,) = rows({}, {"observation": {"replicas": ["b1", "b2"]}},
                  {"observation": {"replicas": ["b2", "b1"]}}, (PLACES, "f"))  # fmt: skip
    assert [token.text for token in row.expected] == ["<b1, b2>"]
    assert row.expected[0].differs


def test_values_are_shown_as_the_charter_writes_them():
    assert show({"case": "rejected", "error": "NO"}) == "rejected(NO)"
    assert show([]) == "[]"
    assert call_text("f", {"e": {"ref": [2, "a", "b"], "plus": -1}}) == "f(e: a.b after step 2 − 1)"
    asked = {"target": ["b2", "b1"], "isr": ["b1"]}
    assert call_text("f", asked, PLACES) == "f(target: <b2, b1>, isr: {b1})"
    assert show({"never_issued": True}) == "never issued"


def test_wrapped_lines_are_never_wider_than_the_room():
    assert wrap("a" * 50, 127, 3) == ["a" * 19 + "…"]
    lines = wrap("one two three four five six seven eight nine ten", 64, 3)
    assert len(lines) == 3
    assert all(len(line) <= 10 for line in lines)
    assert lines[-1].endswith("…")


def test_lists_of_records_are_no_members_of_a_lane():
    state = {"items": [{"x": "b1"}], "isr": ["b1", "b2"]}
    found = lanes([state], {"Broker": ["b1", "b2"]}, STATE)
    assert found is not None


BOX = {"Box": ["b"], "Message": ["x", "y"], "Reader": ["r"]}


def swap():
    """A step in which a queue has its elements in another order than the charter says."""
    before = {"queue": {"b": ["y"]}, "held": {"r": {"box": "b", "message": "x"}}}
    observed = {"queue": {"b": ["y", "x"]}, "held": {"r": None}}
    expected = {"queue": {"b": ["x", "y"]}, "held": {"r": None}}
    wanted = {"branch": "expire/expired", "reply": True, "observation": expected}
    seen = {"reply": True, "observation": observed}
    found = deviation(seen, (wanted,), before=before, branch="expire/expired", args={"reader": "r"})
    start = ReportedStep(0, "", {}, "", "start", None, before)
    step = ReportedStep(1, "expire", {"reader": "r"}, "", "deviates", True, observed, found)
    question = replace(sample.VECTORS["conforms"].question, sorts=BOX)
    return VectorTrace("0" * 20, "diverges", "", 1, 0, question, Why(), (start, step)), found


@pytest.mark.parametrize("places", [PLACES, ValuePlaces()], ids=["types", "no types"])
def test_a_difference_of_order_alone_is_drawn(places):
    drawn, found = swap()
    picture = state_picture(drawn, found, places.observation)
    assert "expected: message {}, b <x, y>; observed: message {}, b <y, x>." in picture.description
    told = labels(picture)
    assert told.count("x is in b at 1") == told.count("x is in b at 2") == 1
    rings = [s for s in picture.shapes if dict(s.attributes).get("r") == "10.5"]
    assert len(rings) == 4
    told = labels(spacetime(drawn, places.observation))
    assert {
        "x: queue.b at 1 (expected, but not observed)",
        "x: queue.b at 2 (observed, but not allowed)",
        "y: queue.b at 1 (observed, but not allowed)",
        "y: queue.b at 2 (expected, but not observed)",
    } <= set(told)


def test_a_sequence_in_a_map_is_shown_in_its_order_and_a_list_without_a_type_as_a_list():
    _, found = swap()
    for places, texts in ((PLACES, ("<x, y>", "<y, x>")), (ValuePlaces(), ("[x, y]", "[y, x]"))):
        (row,) = [row for row in found.differing(places) if row.kind == "differs"]
        assert row.path == "queue.b"
        assert [(token.text, token.differs) for token in row.expected] == [(texts[0], True)]
        assert [(token.text, token.differs) for token in row.observed] == [(texts[1], True)]


def test_replies_are_shown_by_the_type_of_their_operation():
    def answer(operation, reply, places):
        return ReportedStep(1, operation, {}, "", "allowed", reply, places=places).answered

    assert answer("drain", ["y", "x"], PLACES) == "<y, x>"
    assert answer("pick", {"case": "took", "all": ["y", "x"]}, PLACES) == "took(<y, x>)"
    assert answer("drain", ["y", "x"], ValuePlaces()) == "[y, x]"
