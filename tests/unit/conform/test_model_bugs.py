"""A bug of a generated model is never taken for something that the target did, nor passed over."""

import pytest
from tests.support.edited_model import EditedModel, raises
from tests.support.fakes.fake import KeepsLeader
from tests.support.toy import charter
from tests.support.toy.vectors import vector
from tests.unit.conform.test_judge import answered

from conform.console.errors import ModelBug
from conform.judging.assess import assess
from conform.judging.follow import Siblings
from conform.judging.judge import Judge
from conform.judging.walk import BatchTexts

BUGS = [KeyError("version"), TypeError("no"), ZeroDivisionError("by 0"), AssertionError()]
VECTOR = vector(("register", {"node": "n1"}), ("elect", {}), ("expire", {"node": "n1"}),
                ("elect", {}))  # fmt: skip


def judged(siblings, fake=KeepsLeader):
    """The verdict about a vector of which the third step deviates."""
    item, results = answered(VECTOR, fake)
    return assess(item, results.results[0], BatchTexts.of(results, None), Judge(), siblings).verdict


def test_without_a_bug_the_vector_is_followed():
    assert judged(Siblings(EditedModel())).not_judged == 0


@pytest.mark.parametrize("error", BUGS)
@pytest.mark.parametrize("name", ["outcomes", "observe", "encode", "initial"])
def test_bug_of_the_charters_model_stops_with_model_operation_and_vector(name, error):
    with pytest.raises(ModelBug, match=VECTOR.id) as raised:
        judged(Siblings(EditedModel(__name__="models.lease", **{name: raises(error)})))
    sentence = str(raised.value)
    assert raised.value.exit_code == 5
    assert "the generated model models.lease fails" in sentence
    assert type(error).__name__ in sentence
    assert name != "outcomes" or "at register" in sentence


@pytest.mark.parametrize("error", BUGS)
def test_bug_in_a_later_step_names_that_operation(error):
    def outcomes(state, operation, args):
        if operation == "expire":
            raise error
        return charter.outcomes(state, operation, args)

    with pytest.raises(ModelBug, match="at expire, in vector"):
        judged(Siblings(EditedModel(outcomes=outcomes)))


class Undefined(Exception):
    """As in a generated model."""


@pytest.mark.parametrize(("operation", "is_bug"), [("register", True), ("elect", False)])
def test_a_rule_without_a_value_is_a_bug_only_before_the_first_deviation(operation, is_bug):
    """The third step deviates: the last one begins in a state that the charter does not reach."""
    asked: list[str] = []

    def outcomes(state, called, args):
        asked.append(called)
        if called == operation and (is_bug or asked.count("elect") > 1):
            raise Undefined("the only one of 0")
        return charter.outcomes(state, called, args)

    siblings = Siblings(EditedModel(outcomes=outcomes))
    if is_bug:
        with pytest.raises(ModelBug, match="at register, in vector"):
            judged(siblings)
        return
    verdict = judged(siblings)
    assert verdict.kind == "diverges" and verdict.not_judged == 1
    assert "the charter has no value for elect in a state that follows a dev" in verdict.detail


@pytest.mark.parametrize("error", BUGS)
def test_bug_of_an_entrys_model_stops_too(error):
    entries = {"leader_stays": EditedModel(__name__="models.entry", outcomes=raises(error))}
    with pytest.raises(ModelBug, match=r"models\.entry fails at"):
        judged(Siblings(charter, entries))


@pytest.mark.parametrize("error", BUGS)
def test_model_that_cannot_read_its_own_state_has_a_bug(error):
    with pytest.raises(ModelBug):
        judged(Siblings(EditedModel(decode=raises(error))))


def test_entrys_model_with_other_state_explains_nothing_and_is_no_bug():
    entries = {"leader_stays": EditedModel(decode=raises(KeyError("another_variable")))}
    verdict = judged(Siblings(charter, entries))
    assert [d.entries for d in verdict.deviations] == [()]


def test_state_of_the_target_that_no_model_can_hold_is_told_as_the_targets():
    class Strange(KeepsLeader):
        def observe(self):
            shown = super().observe()
            if self.state.version:
                shown["registration"] = {"n1": {"epoch": None}, "n2": None}
            return shown

    verdict = judged(Siblings(charter), Strange)
    assert "cannot represent the observation" in verdict.detail
    assert [d.step for d in verdict.deviations] == [2]


def test_model_of_another_charter_that_lacks_an_operation_is_no_bug():
    siblings = Siblings(
        EditedModel(outcomes=raises(KeyError("epochs"))), same_state=False, same_operations=False
    )
    assert "the model is not that of the suite" in judged(siblings).detail
