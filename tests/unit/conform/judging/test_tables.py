"""Rows: causes, paths, and states counted up to renaming."""

from charter.formats.verdict import Deviation, Severity
from conform.judging.differ import Allowed, RelabelledStep, cause, differing, nearest, severity
from conform.storage.tables import Transitions, cause_of, differing_paths, state_number

ELEMENTS = {"b1": "Broker", "b2": "Broker", "b3": "Broker", "t1": "Topic"}


def state(leader, isr, epoch=4):
    partition = {"leader": leader, "isr": isr, "epoch": epoch}
    return {"partition": {"t1": partition}, "up": {b: b in isr for b in ("b1", "b2", "b3")}}


def test_states_that_differ_by_names_are_one():
    assert state_number(state("b1", ["b1", "b2"]), ELEMENTS) == state_number(
        state("b3", ["b2", "b3"]), ELEMENTS
    )


def test_states_that_differ_otherwise_are_two():
    numbers = {
        state_number(value, ELEMENTS)
        for value in (
            state("b1", ["b1", "b2"]),
            state("b3", ["b1", "b2"]),
            state("b1", ["b1"]),
            state(None, []),
        )
    }
    assert len(numbers) == 4


def test_counters_count_up_to_order():
    two = state("b1", ["b1"], 4), state("b1", ["b1"], 9)
    assert state_number(two[0], ELEMENTS) != state_number(two[1], ELEMENTS)
    assert state_number(two[0], ELEMENTS, ["epoch"]) == state_number(two[1], ELEMENTS, ["epoch"])
    apart = {"a": {"epoch": 1}, "b": {"epoch": 2}}
    same = {"a": {"epoch": 2}, "b": {"epoch": 2}}
    assert state_number(apart, {}, ["epoch"]) != state_number(same, {}, ["epoch"])


def test_transitions_are_counted_once_a_pair():
    found = Transitions()
    found.add([(b'{"up":"b1"}', "x/a"), (b'{"up":"b2"}', "x/a"), (b'{"up":"b1"}', "x/b")], "v")
    rows = found.rows(ELEMENTS, ())
    assert sorted(rows.columns["count"]) == [1, 2]


def test_nearest_expectation_prefers_the_reply():
    far = Allowed("op/far", {"case": "done"}, {"x": 1, "y": 1})
    near = Allowed("op/near", {"case": "refused"}, {"x": 1, "y": 1})
    seen = RelabelledStep({"case": "refused"}, {"x": 2, "y": 2})
    assert nearest([far, near], seen) is near
    assert differing(near, seen) == ("x", "y")
    assert severity([far, near], seen) is Severity.STATE
    assert severity([far], RelabelledStep({"case": "no"}, {"x": 1, "y": 1})) is Severity.REPLY
    assert severity([far], RelabelledStep({"fault": "E"}, None, True)) is Severity.FAULT


def test_cause_does_not_depend_on_which_element_it_was():
    one = cause("op", "op/b", Severity.STATE, ["up.b1.epoch"], ELEMENTS)
    assert one == cause("op", "op/b", Severity.STATE, ["up.b2.epoch"], ELEMENTS)
    assert one != cause("op", "op/b", Severity.STATE, ["up.b2.fenced"], ELEMENTS)
    assert one != cause("op", "op/b", Severity.REPLY, ["up.b1.epoch"], ELEMENTS)


def not_cleared(operation, topic, *fields):
    """A partition of which the image still shows some fields that the controller has cleared. The
    image has no `config`, which its adapter may leave out."""
    partition = {"elr": [], "last_known_elr": [], "epoch": [], "isr": ["b1"]}
    other = {"t1": None, "t2": None}
    observation = {"config": {"elr": True}, "partition": {**other, topic: partition}}
    image = {"partition": {**other, topic: {**partition, **{name: ["b2"] for name in fields}}}}
    seen = RelabelledStep({"case": "done"}, observation, image=image)
    expected = [Allowed("", None, observation).json()]
    return Deviation(3, operation, {}, "", Severity.IMAGE, None, expected, seen.json())


def test_images_that_are_wrong_in_one_way_are_one_finding_after_whatever_operation():
    operations = ("set_min_isr", "set_elr", "heartbeat", "register", "failover", "balance_leaders")
    shown = [("elr",), ("last_known_elr",), ("elr", "last_known_elr"), ("epoch", "elr")]
    sorts = {"Topic": {"t1": 1, "t2": 2}, "Broker": {"b1": 1, "b2": 2}}
    wrong = [not_cleared(operation, topic, *fields)
             for operation in operations for topic in ("t1", "t2") for fields in shown]  # fmt: skip
    assert len({cause_of(one, sorts) for one in wrong}) == 1
    assert differing_paths(wrong[0]) == ["image.partition.t1.elr"]


def test_image_that_could_not_be_made_differs_in_one_place():
    fault = {"fault": "java.lang.IllegalStateException", "message": "no t1"}
    seen = RelabelledStep({"case": "done"}, {"a": 1, "b": 2}, image=fault).json()
    one = Deviation(1, "go", {}, "", Severity.IMAGE, None, [], seen)
    assert differing_paths(one) == ["image.fault"]


def test_transition_names_the_same_vector_in_whatever_order_they_were_asked():
    found = []
    for order in (("a", "b"), ("b", "a")):
        transitions = Transitions()
        for vector in order:
            transitions.add([(b'{"x":1}', "go/done")], vector)
        found.append(transitions.rows({}, ()).table().to_pylist())
    assert found[0] == found[1]
    assert (found[0][0]["vector"], found[0][0]["count"]) == ("a", 2)
