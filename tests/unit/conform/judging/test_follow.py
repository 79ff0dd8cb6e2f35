"""Going on after a divergence: from what was observed, with what is not shown carried over."""

from dataclasses import replace

import orjson
import pytest
from tests.support.fakes.fake import KeepsLeader
from tests.support.judging import judge, toy_siblings
from tests.support.toy import charter, keeps_leader
from tests.support.toy.vectors import question, random_vectors, vector
from tests.unit.conform.judging.test_judge import judge_answer

from charter.formats.labels import Labels
from conform.judging.automaton import Judge
from conform.judging.follow import CannotFollow, Follower
from conform.judging.read_result import BatchTexts
from conform.judging.siblings import ObservedStep, Siblings
from conform.judging.translate import NoPlace, overlay, translate
from conform.judging.verdict import assess

R1, R2 = ("register", {"node": "n1"}), ("register", {"node": "n2"})
EXPIRE = ("expire", {"node": "n1"})


def deviations(one, mode, overlay=True):
    verdict = judge(mode, [one], overlay=overlay)[one.id]
    return verdict, [(d.step, d.branch, d.entries) for d in verdict.deviations]


def test_each_deviating_transition_is_found_and_none_is_repeated():
    """After the first divergence the leader is another one than the charter's: the steps after
    it are judged from there, so only what deviates by itself is listed."""
    one = vector(
        R1, ("elect", {}), EXPIRE, R2, R1, ("elect", {}), EXPIRE, ("expire", {"node": "n2"})
    )
    verdict, found = deviations(one, "keeps_leader")
    assert {entry for _, _, entry in found} == {("leader_stays",)}
    assert {branch for _, branch, _ in found} == {"expire/expired"}
    assert found[0][0] == 3
    assert (verdict.judged, verdict.not_judged) == (8, 0)
    assert len(verdict.branches) == 9


def test_without_the_overlay_the_same_deviations_are_new():
    one = vector(R1, ("elect", {}), EXPIRE, ("write", {"node": "n1", "version": 1,
                 "epoch": {"ref": [1, "registration", "n1", "epoch"]}}))  # fmt: skip
    known, with_overlay = deviations(one, "keeps_leader")
    new, without = deviations(one, "keeps_leader", overlay=False)
    assert [step for step, _, _ in with_overlay] == [step for step, _, _ in without]
    assert not known.new
    assert new.new


def test_hidden_state_comes_from_the_sibling_that_explains():
    """The session is not shown. After the explained expiry it is gone in the sibling too, so a
    second expiry is idle, and that is judged."""
    one = vector(R1, ("elect", {}), EXPIRE, EXPIRE, EXPIRE)
    verdict, found = deviations(one, "keeps_leader")
    assert [step for step, _, _ in found] == [3]
    assert verdict.branches[4:] == ("expire/idle", "expire/idle")


def test_without_a_model_only_the_first_deviation_is_found():
    one = vector(R1, ("elect", {}), EXPIRE, ("elect", {}))
    item, results = judge_answer(one, KeepsLeader)
    found = assess(item, results.results[0], BatchTexts.of(results, None), Judge(), None).verdict
    assert len(found.deviations) == 1
    assert (found.judged, found.not_judged) == (3, 1)
    assert found.detail == "there is no model to continue with"


class Forgetful:
    """The charter, but what it does not show is open: an unregistered session may stay or go."""

    def __getattr__(self, name):
        return getattr(charter, name)

    def outcomes(self, state, operation, args):
        for outcome in charter.outcomes(state, operation, args):
            yield outcome
            if operation == "expire":
                kept = charter.decode(
                    {**charter.encode(outcome.state), "session": ["n1"]}, {"Node": ["n1", "n2"]}
                )
                yield outcome.__class__(outcome.branch, outcome.reply, kept)


def test_following_stops_where_the_charter_leaves_the_hidden_state_open():
    one = vector(R1, ("elect", {}), EXPIRE, ("elect", {}), R2)
    asked = one.question.json()
    start = charter.observe(charter.initial(asked["sorts"]))
    follower = Follower(Siblings(Forgetful()), asked, None, start)
    state = charter.initial(asked["sorts"])
    for call in one.question.operations[:2]:
        (outcome,) = charter.outcomes(state, call.operation, dict(call.args))
        state = outcome.state
        seen = charter.observe(state)
        assert follower.step(
            ObservedStep(call.operation, dict(call.args), outcome.reply, seen)
        ).allowed
    seen = charter.observe(state)  # the leader stays: a deviation
    judged = follower.step(ObservedStep("expire", {"node": "n1"}, True, seen))
    assert not judged.allowed
    with pytest.raises(CannotFollow, match="leaves a choice open that the target does not show"):
        follower.step(ObservedStep("elect", {}, None, seen))


def test_following_stops_where_what_is_not_shown_may_be_another():
    """By the charter a session begins with the registration. The target registers another node than
    was asked: nobody knows whose session began, so nothing later is a deviation."""
    asked = question(R1, R2).json()
    first = charter.initial(asked["sorts"])
    follower = Follower(toy_siblings(overlay=False), asked, None, charter.observe(first))
    (registered,) = charter.outcomes(first, *R2)
    seen = charter.observe(registered.state)
    assert not follower.step(ObservedStep(*R1, registered.reply, seen)).allowed
    with pytest.raises(CannotFollow, match="the charter changes state that is not shown"):
        follower.step(ObservedStep("expire", {"node": "n2"}, False, seen))


def test_state_that_no_model_can_hold_is_not_followed():
    asked = question(("elect", {}), R1).json()
    start = charter.observe(charter.initial(asked["sorts"]))
    follower = Follower(toy_siblings(), asked, None, start)
    strange = {**start, "registration": {"n1": {"epoch": None}, "n2": None}}
    assert not follower.step(ObservedStep("elect", {}, None, strange)).allowed
    with pytest.raises(CannotFollow, match="cannot represent the observation"):
        follower.step(ObservedStep("register", {"node": "n1"}, None, strange))


def test_target_with_other_numbers_is_followed():
    """The target's epochs start high and have gaps; the model's own do not."""
    asked = question(R1, R1, R2, ("write", {"node": "n1", "version": 0,
                     "epoch": {"ref": [1, "registration", "n1", "epoch"]}})).json()  # fmt: skip
    shown = {"registration": {"n1": None, "n2": None}, "leader": None, "version": 0}
    follower = Follower(toy_siblings(), asked, None, shown)
    for node, epoch in (("n1", "@700"), ("n1", "@950"), ("n2", "@951")):
        registration = {**shown["registration"], node: {"epoch": epoch}}
        shown = {**shown, "registration": registration}
        reply = {"case": "registered", "epoch": epoch}
        assert follower.step(ObservedStep("register", {"node": node}, reply, shown)).allowed
    stale = {"case": "rejected", "error": "STALE_EPOCH"}
    args = asked["operations"][3]["args"]
    judged = follower.step(ObservedStep("write", args, stale, shown))
    assert judged.allowed
    assert judged.branches == ("write/stale_epoch",)


def labels(*numbers):
    found = Labels()
    for number in numbers:
        _, _, found = found.step(None, [f"@{number}"])
    return found


@pytest.mark.parametrize(
    ("hidden", "translated"), [("@5", "@500"), ("@9", "@906"), ("@1", "@496"), ("@6", "@501")]
)
def test_hidden_values_keep_their_order(hidden, translated):
    assert translate({"x": hidden}, labels(5, 8), labels(500, 905)) == {"x": translated}


@pytest.mark.parametrize("shown", [["@7"], ["@7", "@9"], ["@5", "@7"]])
def test_value_that_was_shown_in_another_spelling_is_the_same(shown):
    _, _, model = Labels().step(None, [value.replace("@", "@00") for value in shown])
    _, _, target = Labels().step(None, [value.replace("@", "@10") for value in shown])
    assert translate("@7", model, target) == "@107"


def test_hidden_value_without_a_certain_place():
    with pytest.raises(NoPlace):
        translate("@7", labels(5, 9), labels(500, 501))


def test_observed_part_is_put_over_the_state():
    state = {"a": {"seen": 1, "hidden": 2}, "b": {"case": "x", "v": 1}, "c": 3}
    observed = {"a": {"seen": 9}, "b": {"case": "y"}}
    assert overlay(state, observed) == {
        "a": {"seen": 9, "hidden": 2}, "b": {"case": "y"}, "c": 3}  # fmt: skip


@pytest.mark.parametrize("mode", ["faithful", "keeps_leader"])
def test_all_steps_are_judged_or_counted(mode):
    vectors = random_vectors(30, seed=21, length=8)
    verdicts = judge(mode, vectors, batch=1)
    for one in vectors:
        verdict = verdicts[one.id]
        assert verdict.judged + verdict.not_judged == len(one.question.operations)
        assert verdict.not_judged == 0


def test_sibling_differs_where_it_should():
    state = charter.decode(
        {"registration": {"n1": {"epoch": "@1"}, "n2": None}, "leader": "n1", "version": 1,
         "session": ["n1"], "issued": "@1"}, {})  # fmt: skip
    (ours,) = charter.outcomes(state, "expire", {"node": "n1"})
    (theirs,) = keeps_leader.outcomes(state, "expire", {"node": "n1"})
    assert ours.state != theirs.state


def test_deviation_that_only_all_entries_together_explain_has_a_word_of_its_own():
    asked = question(R1, ("elect", {}), EXPIRE).json()
    start = charter.observe(charter.initial(asked["sorts"]))
    siblings = Siblings(charter, {"other": charter, "": keeps_leader})
    follower = Follower(siblings, asked, None, start)
    state = charter.initial(asked["sorts"])
    for operation, args in (R1, ("elect", {}), EXPIRE):
        (outcome,) = keeps_leader.outcomes(state, operation, args)
        state = outcome.state
        seen = keeps_leader.observe(state)
        judged = follower.step(ObservedStep(operation, args, outcome.reply, seen))
    assert (judged.allowed, judged.entries) == (False, ("several_entries",))


class NeverInSession:
    """The charter, but whoever registers has no session: a difference that is not shown."""

    def __getattr__(self, name):
        return getattr(charter, name)

    def outcomes(self, state, operation, args):
        for outcome in charter.outcomes(state, operation, args):
            asleep = {**charter.encode(outcome.state), "session": []}
            kept = charter.decode(asleep, {"Node": ["n1", "n2"]})
            yield outcome.__class__(outcome.branch, outcome.reply, kept)


def test_deviation_that_comes_of_hidden_state_is_explained_by_the_whole_overlay():
    """Both have the registration; only by the overlay was there no session that could expire."""
    asked = question(R1, EXPIRE).json()
    first = charter.initial(asked["sorts"])
    (registered,) = charter.outcomes(first, *R1)
    seen = charter.observe(registered.state)
    for siblings, entries in (
        (Siblings(charter, {"": NeverInSession(), "other": charter}), ("several_entries",)),
        (Siblings(charter), ()),
    ):
        follower = Follower(siblings, asked, None, charter.observe(first))
        assert follower.step(ObservedStep(*R1, registered.reply, seen)).allowed
        judged = follower.step(ObservedStep(*EXPIRE, False, seen))
        assert (judged.allowed, judged.entries) == (False, entries)


def test_why_no_step_is_judged_is_told_if_the_suite_has_another_first_state():
    """The model has the first state that the target shows, but the suite was made from another."""
    item, results = judge_answer(vector(R1, ("elect", {})))
    answer = orjson.loads(item.answer)
    for node in answer["steps"][0]:
        node["observation"] = len(answer["observations"])
    answer["observations"].append({"leader": "nobody"})
    item = replace(item, answer=orjson.dumps(answer), ways=b"{}")
    batch = BatchTexts.of(results, None)
    found = assess(item, results.results[0], batch, Judge(), toy_siblings()).verdict
    assert found.first is not None and found.first.step == 0
    assert (found.judged, found.not_judged) == (0, 2)
    assert found.detail == "the present model is not that of the suite"
