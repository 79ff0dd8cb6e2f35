"""A model that is stored as its difference takes over the states of the charter's model."""

from types import SimpleNamespace

import pytest
from tests.support.edited_model import EditedModel
from tests.support.judging import toy_siblings
from tests.support.toy import charter as toy

from charter.formats.labels import Labels
from conform.judging import model
from conform.judging.candidates import StepLabels
from conform.judging.follow import Follower
from conform.judging.siblings import ObservedStep, Siblings

OVERLAY = "charter_models.kafka_replication_overlays.kafka_controller"
SORTS = {"Broker": ("b1", "b2"), "Topic": ("t1",)}
CALLS = (
    ("register", {"broker": "b1", "restarted": False, "previous_epoch": None}),
    ("register", {"broker": "b2", "restarted": True, "previous_epoch": None}),
    ("create_topic", {"topic": "t1", "replicas": ["b1", "b2"]}),
    ("session_expires", {"broker": "b1"}),
)


@pytest.mark.parametrize("entry", ["elects_dead_leader", "from_4_3_0", "last_known_leader"])
def test_a_state_that_is_taken_over_is_the_one_that_json_would_give(entry):
    charter = model.load("charter_models.kafka_replication.controller")
    sibling = model.load(f"{OVERLAY}.{entry}")
    assert model.can_take_over(sibling, charter)
    state = charter.initial(SORTS)
    for operation, args in CALLS:
        taken = model.take_over(sibling, state)
        read = sibling.decode(charter.encode(state), SORTS)
        assert taken == read
        assert type(taken) is type(read)
        assert sibling.outcomes(taken, operation, args) == sibling.outcomes(read, operation, args)
        state = charter.outcomes(state, operation, args)[0].state


def test_a_model_of_other_types_does_not_take_over():
    charter = model.load("charter_models.kafka_replication.controller")
    replica = model.load("charter_models.kafka_replication.replica")
    sibling = model.load(f"{OVERLAY}.from_4_3_0")
    assert not model.can_take_over(sibling, replica)
    assert not model.can_take_over(charter, charter)
    assert not model.can_take_over(EditedModel(), toy)


def test_equal_texts_are_relabelled_once():
    labels = StepLabels(Labels(), "")
    first = labels.relabel({"token": "@7"}, ["@7"], (b"seven", b"7"))
    assert first.reply == {"token": "#1"}
    assert labels.relabel({"token": "@7"}, ["@7"], (b"seven", b"7")) is first
    assert labels.relabel({"token": "@8"}, ["@7"], (b"eight", b"7")) is not first


def test_each_model_is_called_once_in_a_step():
    """Whether an entry explains a step, and how much it allows, are read of the same outcomes."""
    requests = []

    def count(name, original):
        def outcomes(*call):
            requests.append(name)
            return original.outcomes(*call)

        return EditedModel(outcomes=outcomes)

    keeps = toy_siblings().entries["leader_stays"]
    entry = EditedModel(outcomes=lambda *call: requests.append("entry") or keeps.outcomes(*call))
    siblings = Siblings(count("charter", toy), {"leader_stays": entry})
    question = {"sorts": {"Node": {"n1": 1, "n2": 2}}, "given": None, "operations": []}
    first = toy.initial({"Node": ("n1", "n2")})
    follower = Follower(siblings, question, None, toy.observe(first))
    steps = (("register", {"node": "n1"}), ("elect", {}), ("expire", {"node": "n1"}))
    state = first
    for operation, args in steps:
        requests.clear()
        outcome = keeps.outcomes(state, operation, args)[0]
        state = outcome.state
        shown = ObservedStep(operation, args, outcome.reply, keeps.observe(state))
        judged = follower.step(shown)
        assert sorted(requests) == (["charter"] if judged.allowed else ["charter", "entry"])
    assert judged.entries == ("leader_stays",)
    assert [width.entry for width in judged.widths] == ["leader_stays"]


def test_the_whole_overlay_is_left_out_for_an_operation_that_no_entry_changes():
    charter = model.load("charter_models.kafka_replication.controller")
    whole = model.load(f"{OVERLAY}.from_4_3_0")
    requests = []

    def outcomes(state, operation, args):
        requests.append(operation)
        return whole.outcomes(state, operation, args)

    overlay = SimpleNamespace(**{**vars(whole), "outcomes": outcomes})
    entries = {"elects_dead_leader": model.load(f"{OVERLAY}.elects_dead_leader"), "": overlay}
    question = {"sorts": {"Broker": {"b1": 1, "b2": 2}, "Topic": {"t1": 1}}, "given": None}
    state = charter.initial(SORTS)
    follower = Follower(Siblings(charter, entries), question, None, charter.observe(state))
    for operation, args in CALLS:
        outcome = charter.outcomes(state, operation, args)[0]
        state = outcome.state
        shown = ObservedStep(operation, args, outcome.reply, charter.observe(state))
        assert follower.step(shown).allowed
    assert requests == ["register", "register", "session_expires"]  # no create_topic
