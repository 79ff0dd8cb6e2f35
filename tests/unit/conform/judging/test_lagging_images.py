"""An image that is behind is known if an entry's model computes exactly what it shows."""

import pytest
from tests.support.edited_model import EditedModel, raises
from tests.support.fakes.fake import Fake
from tests.support.toy import charter, keeps_leader
from tests.support.toy.machine import Outcome
from tests.support.toy.vectors import vector

from charter.formats.adapter import Result, Results
from charter.formats.status import Status
from charter_models.kafka_replication import controller_wire
from charter_models.kafka_replication_overlays.kafka_controller import elr_cleared_by_last_image
from conform.adapters.base import SentQuestion
from conform.adapters.direct import DirectConnection
from conform.console.errors import ModelBug
from conform.judging.automaton import Judge
from conform.judging.follow import Follower
from conform.judging.lagging_images import ImagedStep, explaining
from conform.judging.read_result import BatchTexts
from conform.judging.siblings import ObservedStep, Siblings
from conform.judging.verdict import assess
from conform.suites.importing import item_of

R1, ELECT, EXPIRE = ("register", {"node": "n1"}), ("elect", {}), ("expire", {"node": "n1"})
IMAGE = "elect_image_of_version"


def misses_first(state, operation, args):
    """An image misses the version of an election until one has shown a version."""
    assert operation == IMAGE
    version = state.version if args["last_image"] == 0 else args["next_image"]
    return (Outcome(f"{IMAGE}/shown", version, state),)


LATE = EditedModel(OPERATIONS=(*charter.OPERATIONS, IMAGE), images=misses_first)


def entries(calls, images, models):
    """The entries that explain each image, by step; `images` are what was shown, by step."""
    connection = DirectConnection(Fake)
    item = item_of(vector(*calls))
    connection.send([SentQuestion(item.id, "n", item.question)], 1)
    plain = connection.receive().results
    (result,) = plain.results
    values, steps = [*plain.values], []
    for number, (reply, state, _) in enumerate(result.steps):
        steps.append([reply, state, len(values) if number in images else -1])
        values += [images[number]] if number in images else []
    shown = Results(values, [Result(result.id, result.nonce, Status.OK, "", steps)])
    batch = BatchTexts.of(shown, None)
    verdict = assess(item, shown.results[0], batch, Judge(), Siblings(charter, models)).verdict
    assert all(deviation.severity == "image" for deviation in verdict.deviations)
    return {deviation.step: deviation.entries for deviation in verdict.deviations}


@pytest.mark.parametrize(
    ("version", "found"), [(0, {3: ("late",)}), (1, {3: ()}), (2, {}), (3, {3: ()}), (-1, {3: ()})]
)
def test_only_the_value_that_the_entry_computes_is_known(version, found):
    image = {"version": version, "leader": "n1"}
    assert entries((R1, ELECT, ELECT), {3: image}, {"late": LATE}) == found


@pytest.mark.parametrize("models", [{}, {"late": charter}, {"late": keeps_leader}])
def test_image_that_is_behind_is_new_without_an_entry_that_says_so(models):
    assert entries((R1, ELECT), {2: {"version": 0}}, models) == {2: ()}


def test_what_else_an_image_shows_must_be_right():
    image = {"version": 0, "leader": None}
    assert entries((R1, ELECT), {2: image}, {"late": LATE}) == {2: ()}


def test_number_stays_behind_by_as_much_and_other_values_catch_up():
    token = {"ref": [1, "registration", "n1", "epoch"]}
    write = ("write", {"node": "n1", "epoch": token, "version": 1})
    calls = (R1, ELECT, write, EXPIRE)
    found = dict.fromkeys((2, 3, 4), ("late",))
    images = {2: {"version": 0}, 3: {"version": 1}, 4: {"version": 1, "leader": None}}
    assert entries(calls, images, {"late": LATE}) == found
    images[3] = {"version": 0}
    assert entries(calls, images, {"late": LATE}) == {2: ("late",), 3: (), 4: ()}


def test_what_an_entry_says_depends_on_the_image_before():
    calls = (R1, ELECT, ELECT)
    given = {2: {"version": 0}, 3: {"version": 0}}
    assert entries(calls, given, {"late": LATE}) == {2: ("late",), 3: ("late",)}
    once = {2: {"version": 0}, 3: {"version": 1}}
    assert entries(calls, once, {"late": LATE}) == {2: ("late",), 3: ()}


def test_entry_that_denied_an_image_explains_none_after_it():
    """It says that the first image is behind, too, and that one is not."""
    images = {2: {"version": 1}, 3: {"version": 0}}
    assert entries((R1, ELECT, ELECT), images, {"late": LATE}) == {3: ()}


def test_image_that_only_all_entries_together_allow_has_a_word_of_its_own():
    found = entries((R1, ELECT), {2: {"version": 0}}, {"late": charter, "": LATE})
    assert found == {2: ("several_entries",)}


def test_bug_of_the_entry_is_one_of_the_model():
    broken = EditedModel(OPERATIONS=LATE.OPERATIONS, images=raises(ZeroDivisionError()))
    with pytest.raises(ModelBug, match="ZeroDivisionError"):
        entries((R1, ELECT), {2: {"version": 0}}, {"late": broken})


# --- Apache Kafka 4.0.0 ---------------------------------------------------------------------------

T1 = {
    "adding": [], "elr": ["b2"], "isr": ["b1"], "last_known_elr": [], "leader": "b1",
    "leader_epoch": 0, "partition_epoch": 0, "recovering": False, "removing": [],
    "replicas": ["b1", "b2"], "topic_id": "~1",
}  # fmt: skip
CLEARED = {**T1, "elr": [], "partition_epoch": 1}
DELETE = ("delete_topic", {"topic_id": "~1"})
MINIMUM = ("set_min_isr", {"minimum": 1})


def kafka(t1, minimum=2, *, elr=True):
    """A state of the controller, with this partition."""
    registration = {
        "b1": {"epoch": "@1", "fenced": False, "shutting_down": False},
        "b2": {"epoch": "@2", "fenced": True, "shutting_down": False},
    }
    config = {"elr": elr, "min_insync_replicas": minimum, "unclean_election": False}
    return {"config": config, "partition": {"t1": t1}, "registration": registration}


def explain(steps, *, elr=True):
    """The entries that explain the images of some steps: call, state and image of t1 after each
    (False: no image)."""
    start = kafka(T1, elr=elr)
    asked = {
        "sorts": {"Broker": {"b1": 0, "b2": 1}, "Topic": {"t1": 0}},
        "given": {**start, "last_broker_epoch": "@2", "last_topic_id": "~1"},
        "operations": [],
    }
    siblings = Siblings(controller_wire, {"cleared": elr_cleared_by_last_image})
    seen = [ImagedStep(ObservedStep("", {}, None, start), steps[0])]
    for (name, args), state, image in steps[1:]:
        shown = None if image is False else {"partition": {"t1": image}}
        seen.append(ImagedStep(ObservedStep(name, args, {"case": "done"}, state), shown))
    found = explaining(Follower(siblings, asked, None, start), seen)
    return {step: bool(names) for step, names in found.items() if step}


def test_elr_of_a_topic_that_no_image_had_is_not_cleared_in_kafka_4_0_0():
    for image in ({**T1, "partition_epoch": 1}, {**T1, "elr": []}, CLEARED, None):
        assert explain([None, (MINIMUM, kafka(CLEARED, 1), image)]) == {1: False}
    assert explain([None, (MINIMUM, kafka(CLEARED, 1), T1)]) == {1: True}
    again = [None, (MINIMUM, kafka(CLEARED, 1), T1), (MINIMUM, kafka(CLEARED, 1), CLEARED)]
    assert explain(again) == {1: True, 2: True}


def test_topic_that_is_deleted_is_back_in_an_image_of_kafka_4_0_0():
    first = {"partition": {"t1": T1}}
    steps = [first, (DELETE, kafka(None), False), (MINIMUM, kafka(None, 1), CLEARED)]
    assert explain(steps) == {2: True}
    assert explain([first, *steps[1:2], (MINIMUM, kafka(None, 1), T1)]) == {2: False}
    assert explain([None, *steps[1:]]) == {2: False}
    without = [(call, kafka(None, n, elr=False), image) for n, (call, _, image) in
               zip((2, 1), steps[1:], strict=True)]  # fmt: skip
    assert explain([first, *without], elr=False) == {2: False}
