"""How much overlay entries allow in the steps that they explain, and which of them deny nothing."""

import json

import pytest
from tests.support.edited_model import EditedModel
from tests.support.fakes.fake import KeepsLeader
from tests.support.toy import charter, keeps_leader
from tests.support.toy.machine import Outcome
from tests.support.toy.vectors import vector
from tests.unit.conform.judging.test_judge import judge_answer
from tests.unit.reports.sample import as_written

from charter.formats.labels import Labels
from conform.judging.automaton import Judge
from conform.judging.candidates import Candidate, EntryWidth, SeenStep, StepLabels, width_of
from conform.judging.read_result import BatchTexts
from conform.judging.relabel import key
from conform.judging.siblings import Siblings
from conform.judging.verdict import assess
from conform.runs import entry_widths
from conform.runs.entry_widths import EntrySteps, allowing_both, both_told, entry_steps

EXPIRES = vector(("register", {"node": "n1"}), ("elect", {}), ("expire", {"node": "n1"}))


def both(state, operation, args):
    """What the charter says, and what the entry says."""
    found = [
        *charter.outcomes(state, operation, args),
        *keeps_leader.outcomes(state, operation, args),
    ]
    return tuple(dict.fromkeys(found))


def widths(**entries):
    """How much these entries allow on a target that keeps the leader."""
    item, results = judge_answer(EXPIRES, KeepsLeader)
    siblings = Siblings(charter, entries)
    batch = BatchTexts.of(results, None)
    return assess(item, results.results[0], batch, Judge(), siblings).widths


def test_an_entry_that_also_allows_what_the_charter_says_keeps_it():
    assert widths(honest=keeps_leader) == (EntryWidth("honest", 1, keeps=False, step=3),)
    assert widths(wide=EditedModel(outcomes=both)) == (EntryWidth("wide", 1, keeps=True, step=3),)


def test_what_several_entries_explain_together_has_no_width():
    assert widths(**{"": keeps_leader}) == ()


def test_an_entry_that_forbids_one_of_the_outcomes_of_the_charter_denies_something():
    labels, texts = StepLabels(Labels(), ""), {n: (key(n), key(None)) for n in (1, 2, 3)}
    seen = SeenStep.of(labels, (3, None), texts[3], is_old=False)
    one, two, three = (Candidate(Outcome("b", n, None), None, texts[n], labels) for n in texts)
    assert width_of("e", seen, [((one, two), (one, three))]) == EntryWidth("e", 1, keeps=False)
    assert width_of("e", seen, [((one, two), (one, two, three))]) == EntryWidth("e", 1, keeps=True)
    other_state = ((one, two), (one, two))
    assert width_of("e", seen, [other_state, ((one,), (three,))]) == EntryWidth("e", 1, keeps=False)


def steps_of(*seen):
    counted = EntrySteps()
    for vector_id, width in seen:
        counted.add(vector_id, [width])
    return counted


def test_the_first_step_is_named_in_whatever_order_buckets_are_counted():
    one = steps_of(("b", EntryWidth("e", 1, keeps=True, step=2)))
    other = steps_of(
        ("a", EntryWidth("e", 3, keeps=False, step=1)),
        ("c", EntryWidth("e", 2, keeps=True, step=4)),
    )
    there, back = EntrySteps(), EntrySteps()
    for total, parts in ((there, (one, other)), (back, (other, one))):
        for part in parts:
            total.join(json.loads(json.dumps(part.json())))
    assert there.json() == back.json()
    found = entry_steps(there.json())["e"]
    assert (found.steps, found.added, found.both, found.vector, found.step) == (3, 3, 2, "b", 2)


@pytest.mark.parametrize(("kind", "told"), [("known_defect", ("e",)), ("charter_gap", ())])
def test_only_an_entry_of_a_gap_may_allow_both(tmp_path, monkeypatch, kind, told):
    sections = tmp_path / "keeper.sections.json"
    rows = [
        {"overlay": "mine", "name": "e", "class": kind},
        {"overlay": "other", "name": "e", "class": "charter_gap"},
    ]
    sections.write_text(json.dumps(as_written({"entries": rows})), encoding="utf-8")
    monkeypatch.setattr(entry_widths, "sections_of", lambda _: sections)
    counted = steps_of(("a", EntryWidth("e", 1, keeps=True, step=2)))
    names = allowing_both(counted, "charter_models.toy.charter", "mine")
    assert names == told
    summary = {"entry_steps": counted.json(), "entries_allowing_both": [*names]}
    assert len(both_told(summary)) == len(told)


def test_a_run_of_an_earlier_version_warns_of_nothing():
    assert both_told({}) == ()
