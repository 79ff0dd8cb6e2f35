"""Cross-checks of a target: what must hold of its answers without an expected one."""

from pathlib import Path

import pytest
from tests.support.toy.vectors import vector, write_toy_vectors

from conform.cli.output.run_output import show
from conform.reports.build_site import write as write_report
from conform.reports.junit import junit_of_run
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.runs.rejudge import RejudgeOptions, rejudge
from conform.suites.cache import open_suite

CHECKS = """
[crosschecks.failover]
help = "another keeper takes over"
insert = ["failover"]

[crosschecks.deltas]
help = "several steps are one delta"
deltas = true

[crosschecks.leader]
help = "all leave and come back, and there is a leader"
ends = { "leader" = "present" }
append = [
  { operation = "expire", each = "Node", args = { node = "{Node}" } },
  { operation = "register", each = "Node", args = { node = "{Node}" } },
  { operation = "elect" },
]
"""


@pytest.fixture
def judge(targets_folder, tmp_path):
    """Judges a fake with the cross-checks, by a suite that shows nothing wrong with it."""
    calls = [("register", {"node": "n1"}), ("register", {"node": "n2"}), ("elect", {})]
    write_toy_vectors(tmp_path / "poor", [vector(*calls)])

    def run(mode, out="run", crosschecks=100, checks=CHECKS, say=[].append, **more):
        folder = Path("adapters") / targets_folder(mode)
        file = folder / "adapter.toml"
        text = file.read_text().replace('overlay = "known"\n', "")
        file.write_text(text.replace("fakes.fake'", "fakes.crossed'") + checks)
        options = {"engine": "inline", "master": "local[2]", "without_remembered": True, **more}
        wanted = RunOptions(
            f"fake-{mode}", suite=str(tmp_path / "poor"), out=str(tmp_path / out),
            crosschecks=crosschecks, **options,
        )  # fmt: skip
        return run_target(wanted, say)

    return run


def checks_of(finished):
    return finished.summary["crosschecks"]["checks"]


def list_by_rule(finished):
    return {one["rule"]: one for one in finished.summary["findings"]}


def test_cross_checks_hold_when_a_target_is_faithful(judge, capsys):
    finished = judge("first_choice")
    assert finished.exit_code == 0, finished.summary["reasons"]
    checks = checks_of(finished)
    assert all(one["fails"] == 0 and one["holds"] for one in checks.values())
    # Whoever registered before a failover has no session behind it, and cannot be elected.
    otherwise = checks["failover"]["expected_otherwise"]
    assert otherwise >= 2
    show(finished)
    said = capsys.readouterr().out
    assert "cross-checks" in said
    assert f"holds {checks['failover']['holds']}, fails 0, expected otherwise {otherwise}" in said


def test_each_place_is_counted_once_when_all_are_tried(judge):
    for one in checks_of(judge("first_choice")).values():
        ends = ("holds", "fails", "expected_otherwise", "without_answer", "same_question")
        assert one["tried"] == sum(one[name] for name in (*ends, "not_judged"))


def test_a_place_is_not_said_to_hold_when_the_shorter_question_has_no_answer(judge):
    finished = judge("fails_alone")
    checks = checks_of(finished)["failover"]
    assert checks["not_judged"] and checks["fails"] == 0


def test_what_a_target_may_lack_is_no_trouble_in_cross_checks_either(judge):
    allowed = '\n[not_compared]\n"unsupported quorum" = "it has none"\n'
    finished = judge("lacks_elections", checks=CHECKS + allowed)
    assert checks_of(finished)["failover"]["not_judged"]
    assert not any("cross-checks" in reason for reason in finished.summary["reasons"])


def test_what_a_cross_check_shows_is_not_remembered_as_a_question(judge):
    before = judge("other_choice", without_remembered=False)
    assert before.exit_code == 1
    after = judge("other_choice", "again", crosschecks=0, without_remembered=False)
    assert "remembered" not in after.summary
    assert after.summary["unsteady"] == []
    again = judge("other_choice", "third", without_remembered=False)
    assert [one["id"] for one in again.summary["findings"]] == [
        one["id"] for one in before.summary["findings"]
    ]


def test_a_run_says_which_checks_it_cannot_try(judge):
    lacking = '\n[crosschecks.again]\nhelp = "reads a snapshot"\ninsert = ["load_snapshot"]\n'
    said = []
    judge("first_choice", checks=lacking, say=said.append)
    assert "the cross-check again is not tried: the target does not perform load_snapshot" in said


def test_an_inserted_operation_shows_what_the_charter_leaves_open(judge, conform, tmp_path):
    assert judge("other_choice", "alone", crosschecks=0).exit_code == 0
    finished = judge("other_choice")
    assert finished.exit_code == 1
    finding = list_by_rule(finished)["cross-check failover"]
    assert "expected the reply" in finding["sentence"] or "leader" in finding["sentence"]
    operations = [call["operation"] for call in finding["shrunk"]["question"]["operations"]]
    assert operations == ["failover", "register", "register", "elect"]
    run = finished.folder.place
    code, said, _ = conform("replay", finding["shrunk"]["vector"][:12], "--run", run)
    assert code == 1
    assert "cross-check failover: another keeper takes over" in said
    assert "cross-check failover" in junit_of_run(Path(run))
    index = write_report([Path(run)], tmp_path / "site").index
    assert "cross-check failover" in index.read_text(encoding="utf-8")


def test_an_appended_sequence_must_end_as_the_charter_says(judge):
    finished = judge("elects_once")
    finding = list_by_rule(finished)["cross-check leader"]
    assert "got null" in finding["sentence"] or "NOBODY" in finding["sentence"]
    assert checks_of(finished)["leader"]["fails"]


def test_two_deltas_show_an_image_that_loses_a_step(judge):
    assert judge("lazy_image", "alone", crosschecks=0).exit_code == 0
    finished = judge("lazy_image")
    assert finished.exit_code == 1
    assert checks_of(finished)["deltas"]["fails"]
    assert {one["severity"] for one in finished.summary["findings"]} == {"image"}


def test_a_check_is_not_tried_when_the_target_lacks_its_operation(judge):
    lacking = '\n[crosschecks.again]\nhelp = "reads a snapshot"\ninsert = ["load_snapshot"]\n'
    finished = judge("first_choice", checks=lacking)
    assert "crosschecks" not in finished.summary
    assert finished.exit_code == 0


def test_a_run_resumes_its_cross_checks_and_spark_says_the_same(judge):
    whole = judge("other_choice")
    run = Path(whole.folder.place)
    commits = sorted((run / "commits").glob("*.json"))
    commits[-1].unlink()
    (run / "summary.json").unlink()
    again = judge("other_choice")
    assert again.summary["findings"] == whole.summary["findings"]
    assert checks_of(again) == checks_of(whole)
    spread = judge("other_choice", "spread", engine="spark")
    assert spread.summary["findings"] == whole.summary["findings"]
    assert checks_of(spread) == checks_of(whole)


def test_a_run_starts_again_when_more_places_are_tried(judge):
    judge("other_choice", crosschecks=1)
    assert checks_of(judge("other_choice"))["deltas"]["tried"] > 1


def test_rejudging_keeps_what_cross_checks_showed(judge, tmp_path):
    before = judge("other_choice")
    suite = open_suite(str(tmp_path / "poor"), 1)
    after = rejudge(before.folder.place, suite, RejudgeOptions(str(tmp_path / "again")))
    assert checks_of(after) == checks_of(before)
    then, now = (
        [(one["id"], one["vectors"], one["deviations"]) for one in each.summary["findings"]]
        for each in (before, after)
    )
    assert then == now
    assert after.exit_code == 1


def test_a_fault_is_one_finding_of_its_own_when_an_inserted_operation_throws(judge):
    finished = judge("throws")
    assert [one["severity"] for one in finished.summary["findings"]] == ["fault"]
    assert list_by_rule(finished).keys() == {"failover/done"}
    assert checks_of(finished)["failover"]["fails"] > 1
