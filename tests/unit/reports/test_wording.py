"""What may be said of a run: never more than what was measured."""

from pathlib import Path

import pytest

from conform.reports.runs import ReportedRun
from conform.reports.wording import (
    in_system_of,
    natural,
    percent,
    plural,
    releases,
    scope,
    statement,
)

REASON = "of no use here"


def left(what, allowed=""):
    return {"what": what, "vectors": 1_200, "allowed": allowed}


def run(**summary):
    counted = {"verdicts": {"conforms": 12_345}, "new_deviations": 0, "deviations": 0}
    about = {"protocol": "p", "component": "c", "variant": "old", "observes": ["a"]}
    return ReportedRun("r", Path("r"), about, counted | summary, (), ())


@pytest.mark.parametrize(
    ("summary", "tone", "sentence"),
    [
        ({}, "good", "12,345 vectors judged; 0 deviations not explained."),
        ({"deviations": 3, "by_entry": {"x": 3, "y": 0}}, "known",
         "12,345 vectors judged; 0 deviations not explained, 3 deviations explained by 1 entry"
         " of the overlay."),
        ({"deviations": 1, "new_deviations": 1}, "bad",
         "12,345 vectors judged; 1 deviation not explained."),
        ({"verdicts": {"unsupported": 9}}, "void", "No vector was judged, so nothing is claimed."),
        ({"not_compared": [left("unsupported votes"), left("variable leader", REASON)]}, "void",
         "12,345 vectors judged; 0 deviations not explained; not compared: 1,200 unsupported"
         " votes, the variable leader (allowed)."),
        ({"not_compared": [left("image", REASON)]}, "good",
         "12,345 vectors judged; 0 deviations not explained; not compared: the image of 1,200"
         " (allowed)."),
        ({"not_compared": [left("crashed")], "deviations": 1, "new_deviations": 1}, "bad",
         "12,345 vectors judged; 1 deviation not explained; not compared: 1,200 crashed."),
        ({"not_compared": [left("not asked", "--limit")]}, "good",
         "12,345 vectors judged; 0 deviations not explained."),
        ({"older_charter": "an older version of the charter"}, "known",
         "12,345 vectors judged; 0 deviations not explained; judged by an older version of the"
         " charter."),
        ({"small_suite": True}, "good",
         "12,345 vectors judged; 0 deviations not explained; judged by the small suite."),
        ({"small_suite": True, "older_charter": "an older version of the charter"}, "known",
         "12,345 vectors judged; 0 deviations not explained; judged by an older version of the"
         " charter."),
        ({"stale_entries": ["x"]}, "bad",
         "12,345 vectors judged; 0 deviations not explained. No longer seen: x."),
        ({"claimed_too_much": [{"id": "v", "step": 1, "branch": "b"}]}, "bad",
         "12,345 vectors judged; 0 deviations not explained. The target follows the charter where"
         " its overlay says that it differs."),
    ],
)  # fmt: skip
def test_claim_says_what_was_measured(summary, tone, sentence):
    found = statement(run(**summary))
    assert (found.tone, found.sentence) == (tone, sentence)


def test_scope_names_variant_and_what_was_observed():
    assert scope(run()) == "p, component c, variant old; observed: a and replies"


def test_whole_system_is_answered_by_labels_alone():
    assert in_system_of({"open environment": 3}).word == "not shown"
    both = in_system_of({"open environment": 3, "possible in cluster": 1})
    assert both.word == "yes, by the charter"
    assert in_system_of({}).word == "not known"


def test_shares_are_never_rounded_to_none_or_all():
    assert [percent(*pair) for pair in ((0, 9), (1, 3000), (1, 3), (2999, 3000), (9, 9))] == [
        "0 %", "0.1 %", "33 %", "99.9 %", "100 %"]  # fmt: skip


def test_numbers_inside_names_are_sorted_as_numbers():
    assert sorted(["§6.10", "§6.9", "§10", "Case A"], key=natural) == [
        "Case A", "§6.9", "§6.10", "§10"]  # fmt: skip


def test_releases_and_plurals():
    assert [releases("4.0", ""), releases("", "3.9"), releases("1", "2"), releases("", "")] == [
        "from 4.0", "up to 3.9", "1 to 2", "all releases"]  # fmt: skip
    assert [plural(1, "entry", "entries"), plural(2_000, "vector")] == ["1 entry", "2,000 vectors"]
