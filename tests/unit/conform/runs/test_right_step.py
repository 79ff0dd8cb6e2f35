"""What is right after the last operation of a path, had an earlier step been right."""

import json

import pytest
from tests.support.toy import charter
from tests.support.toy.machine import Machine
from tests.support.toy.vectors import answer, question

from charter.formats import canonical
from charter.formats.labels import Labels
from charter.formats.resolve import History, resolve
from charter.formats.verdict import Deviation, Severity
from conform.judging.differ import RelabelledStep
from conform.judging.never_issued import NeverIssued
from conform.judging.siblings import ObservedStep, Siblings
from conform.runs.reproduce.case import SHOWS, CannotReproduce
from conform.runs.reproduce.last_step import PerformedPath, WantedCase
from conform.runs.reproduce.right_step import allow_after_right_step

OLD_EPOCH = {"ref": [1, "registration", "n1", "epoch"]}
EPOCH = {"ref": [2, "registration", "n1", "epoch"]}
PATH = (
    ("register", {"node": "n1"}),
    ("register", {"node": "n1"}),
    ("elect", {}),
    ("write", {"node": "n1", "epoch": OLD_EPOCH, "version": 1}),
    ("expire", {"node": "n1"}),
    ("write", {"node": "n1", "epoch": EPOCH, "version": 2}),
)  # fmt: skip
EDITS = ("no_epoch_check", "keeps_leader")


def observe(*calls):
    """A question, and what a target shows that makes both mistakes."""
    target, wanted = Machine(*EDITS), question(*calls)
    state = target.initial(wanted.sorts)
    history = History((target.observe(state),))
    seen = [ObservedStep("", {}, None, target.observe(state))]
    for operation, args in calls:
        given = resolve(args, history, NeverIssued(charter, operation))
        *_, outcome = target.outcomes(state, operation, given)
        state, shown = outcome.state, target.observe(outcome.state)
        history = history.then(outcome.reply, shown)
        seen.append(ObservedStep(operation, args, outcome.reply, shown))
    return json.loads(canonical.text(wanted.json())), seen


CHOSEN = (
    ("register", {"node": "n1"}),
    ("register", {"node": "n2"}),
    ("elect", {}),
    ("expire", {"node": "n2"}),
    ("register", {"node": "n1"}),
)  # fmt: skip


def test_choice_that_the_target_made_before_the_finding_stays():
    wanted, seen = observe(*CHOSEN)
    sure = json.loads(canonical.text(answer(question(*CHOSEN)).json("")))
    state = seen[3].observation
    found = Deviation(4, "expire", {}, "", Severity.STATE, state, [], {}, ("keeps_leader",))
    last = RelabelledStep(*Labels().step(seen[5].reply, seen[5].observation)[:2])
    models = Siblings(charter, {"": Machine(*EDITS), **{one: Machine(one) for one in EDITS}})
    path = PerformedPath(wanted, sure, [found], last, seen, lambda: models)
    (check,) = path.compare(WantedCase(SHOWS, "keeps_leader"))
    assert (check.place, check.expected, check.observed) == ("leader", None, "n2")


def allow(wrong, *calls):
    models = {"": Machine(*EDITS), **{one: Machine(one) for one in EDITS}}
    wanted, seen = observe(*calls)
    return allow_after_right_step(Siblings(charter, models), wanted, seen, wrong)


def test_other_deviations_before_the_wrong_step_stay():
    (allowed,) = allow(5, *PATH)
    assert allowed.reply == {"case": "rejected", "error": "NOT_LEADER"}
    assert allowed.observation["leader"] is None and allowed.observation["version"] == 2


def test_what_is_right_from_the_first_deviation_on_has_none_of_them():
    allowed = allow(4, *PATH)
    assert {one.reply["error"] for one in allowed} == {"NOT_LEADER", "STALE_VERSION"}
    assert all(one.observation["version"] == 1 for one in allowed)


def test_state_that_nobody_knows_is_said():
    wanted, seen = observe(*PATH)
    seen[4] = seen[4]._replace(observation={"registration": 0})
    with pytest.raises(CannotReproduce, match=r"had operation 5 been right, is not known \("):
        allow_after_right_step(Siblings(charter), wanted, seen, 5)
