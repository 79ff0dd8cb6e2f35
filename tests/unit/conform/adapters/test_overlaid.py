"""Holding the overlay to the target: what a model cannot follow claims nothing, a bug raises."""

import pytest
from tests.support.edited_model import EditedModel, raises
from tests.support.judging import fake_start
from tests.support.toy import charter, keeps_leader
from tests.support.toy.vectors import vector

from conform.adapters.session import Session
from conform.adapters.stdio import StdioConnection
from conform.console.errors import ModelBug
from conform.judging.siblings import Siblings
from conform.runs.overclaims import can_refuse, find_overclaims
from conform.suites.importing import item_of


@pytest.fixture(scope="module")
def judgement():
    """Of one vector in which a session expires, on a target that follows the charter."""
    start = fake_start("faithful")
    connection = StdioConnection(start)
    calls = (("register", {"node": "n1"}), ("elect", {}), ("expire", {"node": "n1"}))
    try:
        session = Session(connection, None, start.deadlines, "test", charter.OBSERVES)
        (found,) = session.run([item_of(vector(*calls))])
    finally:
        connection.close()
    return found


def test_what_the_overlay_denies_is_told(judgement):
    found = find_overclaims(judgement, Siblings(keeps_leader), None)
    assert [(item.step, item.branch) for item in found] == [(3, "expire/expired")]
    assert find_overclaims(judgement, Siblings(charter), None) == []


def test_model_that_cannot_hold_a_given_state_claims_nothing(judgement):
    edited_model = EditedModel(initial=raises(KeyError("another_variable")))
    assert find_overclaims(judgement, Siblings(edited_model, same_state=False), None) == []


@pytest.mark.parametrize("name", ["encode", "decode"])
def test_model_that_cannot_read_or_write_its_own_state_raises(judgement, name):
    edited_model = EditedModel(**{name: raises(KeyError("another_variable"))})
    with pytest.raises(ModelBug):
        find_overclaims(judgement, Siblings(edited_model), None)


@pytest.mark.parametrize("error", [KeyError("version"), TypeError("no"), ZeroDivisionError()])
def test_bug_in_a_rule_of_the_model_raises(judgement, error):
    with pytest.raises(ModelBug, match=type(error).__name__):
        find_overclaims(judgement, Siblings(EditedModel(outcomes=raises(error))), None)


def test_bug_while_the_model_is_set_up_raises(judgement):
    with pytest.raises(ModelBug, match="ZeroDivisionError"):
        find_overclaims(judgement, Siblings(EditedModel(initial=raises(ZeroDivisionError()))), None)


def test_only_an_entry_that_changes_an_operation_of_a_question_can_refuse_its_steps():
    question = {"operations": [{"operation": "elect", "args": {}}], "given": None}
    loaded = {**question, "given": {}}
    for changes, refuses, refuses_loaded in (
        ("elect write", True, True),
        ("write", False, False),
        ("failover", False, True),
    ):
        model = EditedModel(CHANGES=changes)
        assert can_refuse(model, question) is refuses
        assert can_refuse(model, loaded) is refuses_loaded
    assert can_refuse(charter, question)
