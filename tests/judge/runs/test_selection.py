"""A part of the suite: by branch, what failed before, or up to the first finding."""

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from conform.adapters.targets import target
from conform.runs.failures.record import read_record
from conform.runs.selection import SuiteFilter, SuitePart, all_asked_told


@pytest.fixture
def ran(called, targets_folder, toy_suite):
    """Runs a fake without an overlay over the toy suite, or another: exit code, what `--json`
    prints."""

    def run(mode, *more, suite=toy_suite, toml=""):
        file = Path("adapters") / targets_folder(mode) / "adapter.toml"
        file.write_text(file.read_text().replace('overlay = "known"\n', toml))
        given = ("--target", file.parent, "--suite", suite, "--engine", "inline", "--no-shrink")
        code, out, err = called("run", *given, *more, "--json")
        return code, json.loads(out) if out else err

    return run


def rows(told):
    files = sorted(Path(told["folder"]).glob("verdicts/*/*.parquet"))
    return [row for file in files for row in pyarrow.parquet.read_table(file).to_pylist()]


def left(told):
    return {(one["what"], one["allowed"]): one["vectors"]
            for one in told["summary"]["not_compared"]}  # fmt: skip


def test_vectors_that_take_a_branch_are_judged_and_no_others(ran):
    code, told = ran("faithful", "-k", "WRITE/committed")
    assert code == 0
    taken = rows(told)
    assert 0 < len(taken) == told["summary"]["judged"] < 60
    assert all("write/committed" in row["branches"] or "" in row["branches"][1:] for row in taken)
    assert left(told) == {("not asked", "-k"): 61 - len(taken)}
    assert told["summary"]["complete"] is False


def test_branch_that_no_vector_takes_is_one_sentence_with_those_that_are(ran):
    code, err = ran("faithful", "-k", "fly")
    assert code == 2
    assert "no vector takes a branch with 'fly' in its name; there are: elect/chosen" in err


def test_what_failed_is_asked_again_and_the_run_is_trusted(ran):
    """All of it diverges, so the canaries are made of other vectors."""
    code, told = ran("wrong_error", "--limit", "60")
    failed = {row["id"] for row in rows(told) if row["kind"] == "diverges"}
    code, told = ran("wrong_error", "--last-failed")
    assert (code, told["summary"]["trusted"]) == (1, True)
    assert {row["id"] for row in rows(told)} == failed
    assert left(told) == {("not asked", "--last-failed"): 61 - len(failed)}
    assert "-part-" in told["run"]["id"]


def test_last_failed_that_leaves_nothing_out_says_so():
    wanted = SuiteFilter(last_failed=True)
    none, some = SuitePart(None, (3,)), SuitePart(frozenset({"a"}), (1,), frozenset({"a"}))
    assert "--last-failed leaves nothing out" in all_asked_told(wanted, none)
    assert not all_asked_told(wanted, some) and not all_asked_told(SuiteFilter(), none)


def test_everything_is_asked_when_nothing_failed_before(ran, tiny_toy_suite):
    code, told = ran("faithful", "--last-failed", suite=tiny_toy_suite)
    assert (code, told["summary"]["judged"], told["summary"]["complete"]) == (0, 5, True)


def test_nothing_is_asked_after_the_first_finding_and_what_failed_comes_first(ran):
    _, told = ran("wrong_error", "--limit", "60")
    failed = {row["id"] for row in rows(told) if row["kind"] == "diverges"}
    code, told = ran("wrong_error", "-x")
    assert code == 1
    asked = {row["id"] for row in rows(told)}
    assert asked & failed and len(asked) < 60
    assert left(told) == {("not asked", "-x"): 61 - len(asked)}
    code, told = ran("faithful", "-x")
    assert (code, told["summary"]["complete"]) == (0, True)


def test_one_vector_fails_where_a_run_ends_with_its_first_finding(ran):
    """Others of its batch, and of those that were sent ahead, are not counted."""
    for chosen in ((), ("-k", "write")):
        _, told = ran("wrong_error", "-x", *chosen)
        kinds = [row["kind"] for row in rows(told)]
        assert (kinds.count("diverges"), kinds[-1]) == (1, "diverges")
        assert len(told["summary"]["findings"]) == 1


def test_first_failure_of_the_adapter_ends_a_run_with_x(ran, tiny_toy_suite):
    _, told = ran("crash", "-x", suite=tiny_toy_suite)
    verdicts = told["summary"]["verdicts"]
    assert verdicts["crashed"] > 0 and sum(verdicts.values()) < 5


def test_everything_is_asked_when_what_failed_is_not_in_the_suite(ran, tiny_toy_suite, tmp_path):
    """A suite that was made again may have none of the vectors that failed."""
    ran("wrong_error", suite=tiny_toy_suite)
    (record,) = tmp_path.rglob("failed/*.json")
    record.write_text(json.dumps({"vectors": {"0" * 20: ""}, "questions": []}))
    code, told = ran("wrong_error", "--last-failed", suite=tiny_toy_suite)
    assert (code, told["summary"]["judged"], told["summary"]["complete"]) == (1, 5, True)


@pytest.mark.parametrize(
    ("mode", "option"), [("faithful", ("-k", "WRITE/committed")), ("wrong_error", ("-x",))]
)
def test_a_part_that_is_judged_again_has_the_same_reason(ran, called, toy_suite, mode, option):
    _, told = ran(mode, *option)
    _, out, _ = called("rejudge", told["folder"], "--suite", toy_suite, "--out", "again", "--json")
    assert left(json.loads(out)) == left(told)


def test_nothing_more_is_asked_when_a_run_goes_on_that_had_found_something(ran):
    """It was interrupted between its first finding and its end."""
    _, told = ran("wrong_error", "-x")
    folder = Path(told["folder"])
    (folder / "summary.json").unlink()
    commits = [json.loads(path.read_text()) for path in (folder / "commits").iterdir()]
    unasked = [commit["bucket"] for commit in commits if not commit["vectors"]]
    assert unasked and len(unasked) < len(commits)
    (folder / "commits" / f"bucket={unasked[0]:04d}.json").unlink()
    _, again = ran("wrong_error", "-x")
    assert (again["folder"], left(again)) == (told["folder"], left(told))


def test_what_failed_is_that_of_one_release(ran, tiny_toy_suite):
    toml = 'default_release = "1.0"\nreleases = ["1.0", "2.0"]\n'
    _, told = ran("wrong_error", suite=tiny_toy_suite, toml=toml)
    chosen = target("fake-wrong_error")
    failed = {row["id"] for row in rows(told) if row["kind"] == "diverges"}
    assert set(read_record(chosen, "1.0", {}).vectors) == failed != set()
    assert not read_record(chosen, "2.0", {}).vectors


def test_a_run_that_stops_at_its_first_finding_says_that_it_is_judged_in_one_process(
    ran, tiny_toy_suite
):
    _, told = ran("wrong_error", "-x", "--engine", "spark", suite=tiny_toy_suite)
    assert told["run"]["engine"] == "inline"
