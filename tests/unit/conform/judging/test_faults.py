"""What a target throws, and which entries of its overlay know of it."""

import pytest
from tests.support.judging import judge, toy_siblings
from tests.support.toy import charter, fails_over_badly, keeps_leader
from tests.support.toy.vectors import question, vector

from conform.judging.faults import judge_fault
from conform.judging.follow import CannotFollow, Follower
from conform.judging.siblings import ObservedStep, Siblings

R1 = ("register", {"node": "n1"})
FAILOVER, ELECT = ("failover", {}), ("elect", {})


def test_known_fault_is_counted_under_its_entry_and_is_not_new():
    known = vector(R1, ELECT, FAILOVER)  # somebody leads
    other = vector(R1, FAILOVER)  # nobody does
    found = judge("faults", [known, other])
    (deviation,) = found[known.id].deviations
    assert (deviation.severity, deviation.step, deviation.entries) == ("fault", 3, ("throws",))
    assert not found[known.id].new
    assert [d.entries for d in found[other.id].deviations] == [()]
    assert found[other.id].new


def test_without_the_overlay_the_same_fault_is_new():
    one = vector(R1, ELECT, FAILOVER)
    assert judge("faults", [one], overlay=False)[one.id].new


def test_image_that_fails_is_known_by_a_fault_of_any_step_before_it():
    known = vector(R1, ELECT, FAILOVER, ELECT)  # somebody leads when it is written
    other = vector(R1, FAILOVER, ELECT)
    found = judge("broken_image", [known, other])
    entries = {d.step: d.entries for d in found[known.id].deviations}
    assert entries == {3: ("throws",), 4: ("throws",)}
    assert {d.severity for d in found[known.id].deviations} == {"image"}
    assert not found[known.id].new
    assert {d.entries for d in found[other.id].deviations} == {()}
    assert judge("broken_image", [known], overlay=False)[known.id].new


def at_failover(siblings):
    """A follower where somebody leads, and what the target shows there."""
    asked = question(R1, ELECT, FAILOVER).json()
    state = charter.initial(asked["sorts"])
    follower = Follower(siblings, asked, None, charter.observe(state))
    for operation, args in (R1, ELECT):
        (outcome,) = charter.outcomes(state, operation, args)
        state = outcome.state
        follower.step(ObservedStep(operation, args, outcome.reply, charter.observe(state)))
    return follower, charter.observe(state)


BAD, AT = "java.lang.IllegalStateException", "broken at 0x17"


@pytest.mark.parametrize(
    ("name", "message", "entries"),
    [
        (BAD, AT, ("throws",)),
        (BAD, "broken", ()),
        (BAD, None, ()),
        ("java.lang.RuntimeException", AT, ()),
        ("IllegalStateException", AT, ()),
    ],
)
def test_fault_is_known_by_its_class_and_by_what_its_message_says(name, message, entries):
    follower, _ = at_failover(toy_siblings())
    judged = judge_fault(
        follower, ObservedStep("failover", {}, {"fault": name, "message": message}, None)
    )
    assert (judged.allowed, judged.entries) == (False, entries)
    assert [allowed.branch for allowed in judged.expected] == ["failover/done"]


def test_fault_that_shows_a_state_is_known_only_if_nothing_has_changed():
    reply = {"fault": BAD, "message": AT}
    follower, shown = at_failover(toy_siblings())
    assert judge_fault(follower, ObservedStep("failover", {}, reply, shown)).entries == ("throws",)
    follower, shown = at_failover(toy_siblings())
    assert (
        judge_fault(
            follower, ObservedStep("failover", {}, reply, {**shown, "leader": None})
        ).entries
        == ()
    )


def test_nothing_is_followed_after_a_fault():
    follower, shown = at_failover(toy_siblings())
    judge_fault(follower, ObservedStep("failover", {}, {"fault": BAD, "message": AT}, shown))
    with pytest.raises(CannotFollow, match="ended with a fault"):
        follower.step(ObservedStep("elect", {}, None, shown))
    with pytest.raises(CannotFollow, match="ended with a fault"):
        judge_fault(follower, ObservedStep("failover", {}, {"fault": BAD, "message": AT}, shown))


def test_fault_that_only_all_entries_together_know_has_a_word_of_its_own():
    follower, _ = at_failover(Siblings(charter, {"other": keeps_leader, "": fails_over_badly}))
    judged = judge_fault(
        follower, ObservedStep("failover", {}, {"fault": BAD, "message": AT}, None)
    )
    assert judged.entries == ("several_entries",)


def test_following_ends_after_a_fault_of_a_question_that_does_not_resolve():
    follower, shown = at_failover(toy_siblings())
    nowhere = {"node": {"ref": [0, "there is no such variable"]}}
    fault = {"fault": BAD, "message": AT}
    assert not judge_fault(follower, ObservedStep("register", nowhere, fault, shown)).allowed
    with pytest.raises(CannotFollow, match="the run ended with a fault"):
        follower.step(ObservedStep("elect", {}, None, shown))
