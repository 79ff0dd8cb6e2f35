"""Walks next to the suite of a run: which of them a finding names, and what is judged again."""

from pathlib import Path

import pytest
from tests.support.toy import charter
from tests.support.toy.vectors import NODES, vector, write_toy_vectors

from charter.formats.run_description import WalkSettings
from conform.reports.findings import findings
from conform.reports.runs import open_runs
from conform.runs.execute import run_target
from conform.runs.findings.baseline import NO_BASELINE, Baseline, read_baseline
from conform.runs.options import RunOptions
from conform.runs.rejudge import RejudgeOptions, rejudge
from conform.suites.cache import open_suite

RULE = "elect/nobody"


@pytest.fixture
def loading_suite(tmp_path):
    """A suite that shows the rule from a given state alone."""
    first = charter.encode(charter.initial({"Node": NODES}))
    shows, rest = vector(("elect", {}), given=first), vector(("register", {"node": "n1"}))
    write_toy_vectors(tmp_path / "loading", [shows, rest])
    return tmp_path / "loading"


@pytest.fixture
def run(loading_suite, targets_folder, tmp_path):
    """Makes a run of an adapter that answers wrongly, with so many walks."""
    targets_folder("wrong_error")

    def start(out, count, baseline=NO_BASELINE, *, update=False):
        return run_target(
            RunOptions("fake-wrong_error", suite=str(loading_suite), engine="inline",
                       out=str(tmp_path / out), baseline=baseline, update_baseline=update,
                       walks=WalkSettings(count, 6)),
            lambda _: None,
        )  # fmt: skip

    return start


def find(finished):
    (one,) = [one for one in finished.summary["findings"] if one["rule"] == RULE]
    return one


def walks_of(finished):
    return {row["id"] for row in finished.folder.table("walks").to_pylist()}


def test_example_is_a_walk_when_the_suite_shows_it_from_given_states_alone(run):
    alone, finished = run("alone", 0), run("walked", 70)
    assert find(alone)["vector"] not in walks_of(finished)
    assert find(finished)["vector"] in walks_of(finished)
    assert find(finished)["shrunk"]["question"]["given"] is None
    assert find(finished)["id"] == find(alone)["id"]


def test_report_begins_with_vectors_from_the_first_state(run):
    finished = run("walked", 70)
    (opened,) = open_runs([Path(finished.folder.place)], None)
    (one,) = [one for one in findings(opened) if find(finished)["id"] == one.id]
    given = [case.id in one.loaded for case in one.ordered]
    assert given == sorted(given)
    assert one.loaded
    assert one.first.id not in one.loaded


def test_walks_change_no_baseline_when_they_are_judged_again(run, loading_suite, tmp_path):
    place = tmp_path / "known.toml"
    finished = run("walked", 70, Baseline(str(place)), update=True)
    text = place.read_text(encoding="utf-8").replace('reason = ""', 'reason = "known"')
    place.write_text(text, encoding="utf-8")
    again = rejudge(
        finished.folder.place, open_suite(str(loading_suite), 1),
        RejudgeOptions(str(tmp_path / "new"), read_baseline(str(place))),
    )  # fmt: skip
    assert again.summary["changed_baseline"] == {}
    assert find(again)["known"] == "known"
