"""A bug of a generated model is never taken for something that the target did, nor passed over."""

import pytest
from tests.support.edited_model import EditedModel, raises
from tests.support.fakes.fake import KeepsLeader
from tests.support.judging import toy_siblings
from tests.support.toy import charter, keeps_leader
from tests.support.toy.vectors import vector
from tests.unit.conform.judging.test_judge import judge_answer

from conform.console.errors import ModelBug
from conform.judging.automaton import Judge
from conform.judging.read_result import BatchTexts
from conform.judging.siblings import Siblings
from conform.judging.verdict import assess

BUGS = [KeyError("version"), TypeError("no"), ZeroDivisionError("by 0"), AssertionError()]
VECTOR = vector(("register", {"node": "n1"}), ("elect", {}), ("expire", {"node": "n1"}),
                ("elect", {}))  # fmt: skip


EXPLAINED = {"leader_stays": keeps_leader}
"""Explains the third step, so that the run is followed from there."""


def judge(siblings, fake=KeepsLeader, one=VECTOR):
    """The verdict about a vector, by default one of which the third step deviates."""
    item, results = judge_answer(one, fake)
    return assess(item, results.results[0], BatchTexts.of(results, None), Judge(), siblings).verdict


def test_without_a_bug_the_vector_is_followed():
    assert judge(Siblings(EditedModel(), EXPLAINED)).not_judged == 0


@pytest.mark.parametrize("error", BUGS)
@pytest.mark.parametrize("name", ["outcomes", "observe", "encode", "initial"])
def test_bug_of_the_charters_model_stops_with_model_operation_and_vector(name, error):
    with pytest.raises(ModelBug, match=VECTOR.id) as raised:
        judge(Siblings(EditedModel(__name__="models.lease", **{name: raises(error)})))
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
        judge(Siblings(EditedModel(outcomes=outcomes)))


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

    siblings = Siblings(EditedModel(outcomes=outcomes), EXPLAINED)
    if is_bug:
        with pytest.raises(ModelBug, match="at register, in vector"):
            judge(siblings)
        return
    verdict = judge(siblings)
    assert verdict.kind == "diverges" and verdict.not_judged == 1
    assert "the charter has no value for elect in a state that follows a dev" in verdict.detail


class Versionless(KeepsLeader):
    """Shows a text as the version from the first election on; other suites have no types."""

    def observe(self):
        shown = super().observe()
        return {**shown, "version": "one"} if self.state.version else shown


START = (("register", {"node": "n1"}), ("elect", {}))
LATER = vector(*START, ("elect", {}))


def write(version):
    """A vector that ends with a write."""
    epoch = {"ref": [1, "registration", "n1", "epoch"]}
    return vector(*START, ("write", {"node": "n1", "version": version, "epoch": epoch}))


@pytest.mark.parametrize("siblings", [Siblings(charter), toy_siblings()], ids=["alone", "overlay"])
def test_a_value_of_the_target_that_is_not_of_its_type_is_no_bug_of_the_model(siblings):
    verdict = judge(siblings, Versionless, LATER)
    assert (verdict.kind, verdict.judged, verdict.not_judged) == ("diverges", 2, 1)
    assert "cannot do elect in a state that follows a deviation (TypeError" in verdict.detail


def test_an_argument_that_refers_to_a_wrong_value_is_no_bug_of_the_model():
    verdict = judge(Siblings(charter), Versionless, write({"ref": [2, "version"]}))
    assert (verdict.kind, verdict.judged, verdict.not_judged) == ("diverges", 2, 1)
    assert "cannot do write in a state that follows a deviation (TypeError" in verdict.detail


def test_a_state_with_a_wrong_value_that_cannot_be_encoded_is_no_bug_of_the_model():
    def encode(state):
        return {**charter.encode(state), "version": state.version + 0}

    expires = vector(*START, ("expire", {"node": "n1"}), ("elect", {}))
    verdict = judge(Siblings(EditedModel(encode=encode)), Versionless, expires)
    assert verdict.kind == "diverges" and verdict.not_judged
    assert "cannot write down a state that follows a deviation (TypeError" in verdict.detail


@pytest.mark.parametrize("error", BUGS)
def test_a_rule_that_fails_in_a_state_of_the_model_too_is_a_bug_after_a_deviation(error):
    """The rule for `write` is first asked for behind the deviation."""

    def outcomes(state, operation, args):
        if operation == "write":
            raise error
        return charter.outcomes(state, operation, args)

    with pytest.raises(ModelBug, match="at write, in vector"):
        judge(Siblings(EditedModel(outcomes=outcomes)), Versionless, write(1))


@pytest.mark.parametrize("error", BUGS)
def test_bug_of_an_entrys_model_stops_too(error):
    entries = {"leader_stays": EditedModel(__name__="models.entry", outcomes=raises(error))}
    with pytest.raises(ModelBug, match=r"models\.entry fails at"):
        judge(Siblings(charter, entries))


@pytest.mark.parametrize("error", BUGS)
def test_model_that_cannot_read_its_own_state_has_a_bug(error):
    with pytest.raises(ModelBug):
        judge(Siblings(EditedModel(decode=raises(error))))


def test_entrys_model_with_other_state_explains_nothing_and_is_no_bug():
    entries = {"leader_stays": EditedModel(decode=raises(KeyError("another_variable")))}
    verdict = judge(Siblings(charter, entries))
    assert [d.entries for d in verdict.deviations] == [()]


def test_state_of_the_target_that_no_model_can_hold_is_told_as_the_targets():
    class Strange(KeepsLeader):
        def observe(self):
            shown = super().observe()
            if self.state.version:
                shown["registration"] = {"n1": {"epoch": None}, "n2": None}
            return shown

    verdict = judge(Siblings(charter), Strange)
    assert "cannot represent the observation" in verdict.detail
    assert [d.step for d in verdict.deviations] == [2]


def test_model_of_another_charter_that_lacks_an_operation_is_no_bug():
    siblings = Siblings(
        EditedModel(outcomes=raises(KeyError("epochs"))), same_state=False, same_operations=False
    )
    assert "the model is not that of the suite" in judge(siblings).detail
