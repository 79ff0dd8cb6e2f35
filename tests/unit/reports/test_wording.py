"""What may be said of a run: never more than what was measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from charter.formats.run import SystemAnswer
from charter.formats.run_description import RunDescription
from conform.reports.runs import ReportedRun, tell_apart
from conform.reports.wording import (
    in_system,
    natural,
    percent,
    plural,
    releases,
    scope,
    statement,
)

REASON = "of no use here"
ALL = "judged 12,345 of 12,345"


def left(what, allowed=""):
    return {"what": what, "vectors": 1_200, "allowed": allowed}


def ask(allowed="", **gaps):
    left = {name: {"count": count, "names": []} for name, count in gaps.items()}
    count = 40 - sum(gaps.values())
    return {"every": 40, "asked": count, "infeasible": 0, "left": left, "allowed": allowed}


def run(**summary):
    counted = {"verdicts": {"conforms": 12_345}, "new_deviations": 0, "deviations": 0}
    about = RunDescription(protocol="p", component="c", variant="old", observes=("a",))
    return ReportedRun("r", Path("r"), about, counted | summary, (), ())


@pytest.mark.parametrize(
    ("summary", "tone", "sentence"),
    [
        ({}, "good", f"0 deviations not explained; {ALL}."),
        ({"walks": {"walks": 200}, "remembered": {
            "count": 3, "verdicts": {"conforms": 1, "unsupported": 2}}}, "good",
         f"0 deviations not explained; {ALL}; besides 200 walks and 1 remembered question."),
        ({"deviations": 3, "by_entry": {"x": 3, "y": 0}}, "known",
         f"0 deviations not explained, 3 deviations explained by 1 entry of the overlay; {ALL}."),
        ({"deviations": 1, "new_deviations": 1}, "bad", f"1 deviation not explained; {ALL}."),
        ({"verdicts": {"unsupported": 9}}, "void", "No vector was judged, so nothing is claimed."),
        ({"not_compared": [left("unsupported votes"), left("variable leader", REASON)]}, "void",
         f"0 deviations not explained; {ALL}; not compared: 1,200 unsupported votes, the variable"
         " leader (allowed)."),
        ({"not_compared": [left("image", REASON)]}, "known",
         f"0 deviations not explained; {ALL}; not compared: the image of 1,200 (allowed)."),
        ({"not_compared": [left("crashed")], "deviations": 1, "new_deviations": 1}, "bad",
         f"1 deviation not explained; {ALL}; not compared: 1,200 crashed."),
        ({"not_compared": [left("not asked", "--limit")], "suite_vectors": 13_545}, "known",
         "0 deviations not explained; judged 12,345 of 13,545; not compared: 1,200 not asked"
         " (--limit)."),
        ({"obligations": ask(unsearched=2)}, "void",
         f"0 deviations not explained; {ALL}; 2 of 40 obligations are not asked."),
        ({"obligations": ask(in_vain=5)}, "void",
         f"0 deviations not explained; {ALL}; 5 of 40 obligations are not asked."),
        ({"obligations": ask(in_vain=4)}, "good",
         f"0 deviations not explained; {ALL}; 4 of 40 obligations are not asked."),
        ({"obligations": ask("elsewhere", unsearched=1)}, "known",
         f"0 deviations not explained; {ALL}; 1 of 40 obligations is not asked (allowed)."),
        ({"older_charter": "an older version of the charter"}, "known",
         f"0 deviations not explained; {ALL}; by an older version of the charter."),
        ({"small_suite": True}, "good",
         f"0 deviations not explained; {ALL}; by the small suite."),
        ({"small_suite": True, "generated_suite": False}, "known",
         f"0 deviations not explained; {ALL}; by a small suite that no `conform generate` made."),
        ({"small_suite": True, "older_charter": "an older version of the charter"}, "known",
         f"0 deviations not explained; {ALL}; by an older version of the charter."),
        ({"stale_entries": ["x"]}, "bad",
         f"0 deviations not explained; {ALL}. No longer seen: x."),
        ({"claimed_too_much": [{"id": "v", "step": 1, "branch": "b"}]}, "bad",
         f"0 deviations not explained; {ALL}. The target follows the charter where its overlay"
         " says that it differs."),
    ],
)  # fmt: skip
def test_claim_says_what_was_measured(summary, tone, sentence):
    found = statement(run(**summary))
    assert (found.tone, found.sentence) == (tone, sentence)


def test_scope_names_the_charter_where_another_one_of_its_name_judged_a_run():
    one, other = (
        replace(run(), about=replace(run().about, spec_digest=digest * 20)) for digest in "12"
    )
    assert [scope(each) for each in tell_apart([one, one])] == [scope(run())] * 2
    told = [scope(each) for each in tell_apart([one, other])]
    assert told[0].startswith("p, component c, variant old (charter 11111111); observed")
    assert told[1].startswith("p, component c, variant old (charter 22222222); observed")


def test_scope_names_variant_and_what_was_observed():
    assert scope(run()) == "p, component c, variant old; observed: a and replies"


def test_whole_system_is_answered_by_a_search_or_by_labels():
    assert in_system({"open environment": 3}) is None and in_system({}) is None
    both = in_system({"open environment": 3, "possible in cluster": 1})
    assert both is not None and both.word == "yes, by the charter"
    found = SystemAnswer("v", 1, "cluster", "pair", 0, ("start(b: b1)",), 9, "")
    answer = in_system({"open environment": 3}, found)
    assert answer is not None and answer.word == "yes, by the charter"
    assert answer.sentence == "in the system cluster, instance pair: 1 step."
    assert answer.story == ("start(b: b1)",)
    none = in_system({}, SystemAnswer("v", 1, "", "", 0, (), 9, "not found in 9 states of s (two)"))
    assert none is not None and none.word == "not found"
    assert none.sentence == "not found in 9 states of s (two)."
    never = in_system({}, SystemAnswer("v", 1, "", "", 0, (), 0, "no step of s calls f", True))
    assert never is not None and never.word == "not by the charter"
    assert never.sentence == "in the component alone: no step of s calls f."
    left = in_system({}, SystemAnswer("v", 1, "", "", 0, (), 0, "no instance has its sorts"))
    assert left is not None and left.word == "not searched"
    assert left.sentence == "not searched: no instance has its sorts."


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
