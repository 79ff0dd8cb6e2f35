"""`conform run --releases`: a run for each release of a target in one folder, also if one cannot be
prepared, and if the command is repeated."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.judging import environment as python_environment


def test_each_release_has_a_run_in_one_folder_when_a_range_is_given(judge):
    _, out, _ = judge("1.0..2.0")
    for release in ("1.0", "1.1", "2.0"):
        assert json.loads(Path("all", release, "run.json").read_text())["release"] == release
        assert f"\n{release}: " in f"\n{out}"
    assert "see: conform compare all" in out


def test_a_release_that_cannot_be_prepared_costs_only_its_own_column(judge, conform):
    code, out, _ = judge("2.0..")
    assert code == 3
    assert "2.1 was not judged: shop could not be prepared: The jars of 2.1 do not fit" in out
    assert Path("all", "2.0", "summary.json").exists()
    code, _, err = judge("2.1", place="lost")
    assert code == 2
    assert "no release of shop could be judged" in err


def test_finished_releases_are_not_judged_again_when_the_command_is_repeated(judge):
    judge("1.0..2.0")
    first = {one: Path("all", one, "summary.json").stat().st_mtime_ns for one in ("1.0", "1.1")}
    Path("all", "1.1", "summary.json").unlink()  # as if it was killed there
    again, _, _ = judge("1.0..2.0")
    after = {one: Path("all", one, "summary.json").stat().st_mtime_ns for one in ("1.0", "1.1")}
    assert again == 1
    assert after["1.0"] == first["1.0"]
    assert after["1.1"] != first["1.1"]


def test_a_finished_release_is_judged_again_when_its_adapter_changed(judge, shop):
    judge("1.0,2.0")
    before = Path("all", "1.0", "summary.json").stat().st_mtime_ns
    text = (shop / "adapter.py").read_text(encoding="utf-8")
    (shop / "adapter.py").write_text(f"{text}\n# changed\n", encoding="utf-8")
    judge("1.0,2.0")
    assert Path("all", "1.0", "summary.json").stat().st_mtime_ns != before


def test_a_finished_release_is_judged_again_when_its_exit_code_would_be_another(judge, tmp_path):
    assert judge("1.1")[0] == 0
    assert judge("1.1", "--strict")[0] == 1
    assert judge("1.1")[0] == 0
    baseline = tmp_path / "none.toml"
    baseline.write_text("", encoding="utf-8")
    before = Path("all", "1.1", "summary.json").stat().st_mtime_ns
    judge("1.1", "--baseline", baseline)
    assert Path("all", "1.1", "summary.json").stat().st_mtime_ns != before


def test_a_release_is_judged_again_when_its_run_was_not_to_be_trusted(judge):
    judge("1.1")
    place = Path("all", "1.1", "summary.json")
    held = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**held, "trusted": False, "exit": 3}), encoding="utf-8")
    assert judge("1.1")[0] == 0


def test_a_second_command_is_refused_when_one_judges_into_the_folder(judge, conform, tmp_path):
    from conform.storage.lease import Lease

    judge("1.0")
    lease = Lease(tmp_path / "all" / ".lock")
    assert lease.take()
    code, _, err = judge("1.0")
    lease.close()
    assert code == 2
    assert "another command judges releases into" in err


def test_two_commands_at_once_judge_all_when_they_share_a_cache(shop):
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "conform.cli.main", "run", "--target", str(shop), "--releases",
             "1.0,2.0", "--engine", "inline", "--out", place],
            env={**os.environ, **python_environment()}, stdout=subprocess.DEVNULL,
        )
        for place in ("one", "two")
    ]  # fmt: skip
    assert [one.wait() for one in started] == [1, 1]  # an entry of the overlay is stale
    verdicts = [
        json.loads(Path(place, release, "summary.json").read_text())["verdicts"]
        for place in ("one", "two")
        for release in ("1.0", "2.0")
    ]
    assert verdicts[:2] == verdicts[2:]
    prepared = next(Path("cache").rglob("prepared")).read_text(encoding="utf-8").split()
    assert sorted(prepared) == ["1.0", "1.0", "2.0", "2.0"]


def test_a_folder_that_holds_something_else_is_left_alone_when_releases_are_judged(judge):
    Path("all").mkdir()
    Path("all", "mine.txt").write_text("mine", encoding="utf-8")
    code, _, err = judge("1.0")
    assert code == 2
    assert "holds something else" in err


@pytest.mark.parametrize(
    ("wanted", "says"),
    [("3.0..", "'3.0..' names no release; there are 1.0, 1.1, 2.0, 2.1"),
     ("1.9", "'1.9' names no release; did you mean 1.1"),
     ("x..", "'x..' is no range: 'x' is no number of a release, such as 1.0"),
     ("1.0..y", "'1.0..y' is no range: 'y' is no number of a release, such as 1.0"),
     ("1..1.O", "'1..1.O' is no range: '1.O' is no number of a release"),
     ("1.0..2.0..2.1", "'1.0..2.0..2.1' is no range: '2.0..2.1' is no number of a release"),
     ("²..", "'²..' is no range: '²' is no number of a release"),
     ("2.0..1.0", "'2.0..1.0' names no release"),
     ("1.0,", "'' names no release"),
     ("", "'' names no release")],
)  # fmt: skip
def test_a_range_is_refused_when_it_names_no_release(judge, wanted, says):
    code, _, err = judge(wanted)
    assert code == 2
    assert says in err


def test_options_for_one_release_are_refused_when_there_are_several(judge):
    for option in (("--release", "1.0"), ("--junit", "x.xml"), ("--in-system",)):
        code, _, err = judge("1.0..", *option)
        assert code == 2
        assert "is for one release; leave out --releases" in err


def test_a_release_that_was_judged_by_another_adapter_is_no_column_when_releases_are_compared(
    judge, shop, conform
):
    judge("1.0..2.0")
    text = (shop / "adapter.py").read_text(encoding="utf-8")
    (shop / "adapter.py").write_text(f"{text}\n# changed\n", encoding="utf-8")
    judge("1.0,2.0")
    judged = json.loads(Path("all", "releases.json").read_text(encoding="utf-8"))
    judged["releases"] = ["1.0", "1.1", "2.0"]  # as if it was killed after the first
    Path("all", "releases.json").write_text(json.dumps(judged), encoding="utf-8")
    _, out, _ = conform("compare", "all")
    assert "1.1 was not judged: its run is of another adapter or other options" in out


def test_each_variant_is_judged_by_its_own_suite_when_one_is_named_for_each(
    judge, old_suite, tiny_toy_suite, conform
):
    named = ("--suite", old_suite, "--suite", tiny_toy_suite)
    judge("1.0..2.0", *named)
    runs = [json.loads(Path("all", one, "run.json").read_text()) for one in ("1.0", "1.1", "2.0")]
    counts = [(run["variant"], run["suite_vectors"]) for run in runs]
    assert counts == [("old", 6), ("old", 6), ("", 5)]
    before = Path("all", "1.0", "summary.json").stat().st_mtime_ns
    judge("1.0..2.0", *named)
    assert Path("all", "1.0", "summary.json").stat().st_mtime_ns == before
    conform("report", "all", "--out", "report")
    page = " ".join(Path("report", "releases.md").read_text(encoding="utf-8").split())
    assert f"--releases 1.0..2.0 --suite {old_suite} --suite {tiny_toy_suite}`" in page


def test_a_variant_without_a_suite_costs_only_the_columns_of_its_releases(judge, old_suite):
    code, out, _ = judge("1.0..2.0")
    assert code == 3
    for lost in ("1.0", "1.1"):
        assert f"{lost} was not judged: no generated suite fits shop" in out
    assert Path("all", "2.0", "summary.json").exists()


def test_named_suites_are_refused_when_they_do_not_fit_the_variants(
    judge, old_suite, tiny_toy_suite
):
    for suites, says in (
        ((old_suite,), "no --suite is for 2.0, which is judged by no variant"),
        ((tiny_toy_suite,), "no --suite is for 1.1, which is judged by the variant 'old'"),
        ((old_suite, tiny_toy_suite, tiny_toy_suite), "are suites of the same variant; name one"),
    ):
        code, _, err = judge("1.0..2.0", *(word for one in suites for word in ("--suite", one)))
        assert (code, says in err) == (2, True), err
    code, _, err = judge("2.0", "--suite", tiny_toy_suite, "--suite", old_suite)
    assert code == 2
    assert "is of the variant 'old', and no release here is judged by it" in err


def test_one_release_is_refused_when_two_suites_are_named(conform, shop, old_suite, tiny_toy_suite):
    code, _, err = conform("run", "--target", shop, "--suite", old_suite, "--suite", tiny_toy_suite)
    assert code == 2
    assert "one release is judged by one suite" in err


def test_a_release_that_was_judged_by_another_suite_is_no_column_when_releases_are_compared(
    judge, old_suite, tiny_toy_suite, conform
):
    judge("1.0..2.0", "--suite", old_suite, "--suite", tiny_toy_suite)
    shorter = Path("all", "1.1", "run.json")
    held = json.loads(shorter.read_text(encoding="utf-8"))
    shorter.write_text(json.dumps({**held, "suite": "another", "started": "2000"}))
    _, out, _ = conform("compare", "all")
    assert "1.1 was not judged: its run is of another adapter or other options" in out


@pytest.fixture
def damaged(judge):
    """Judges three releases, and damages a file of the run of 1.1."""

    def damage(name):
        judge("1.0..2.0")
        path = next(Path("all", "1.1").glob(name))
        path.write_bytes(path.read_bytes()[:-9])
        return path

    return damage


DAMAGES = ("run.json", "summary.json", "verdicts/**/*.parquet")


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_costs_only_its_own_column_when_releases_are_shown(damaged, conform, name):
    damaged(name)
    for code, *command in ((3, "compare", "all"), (0, "report", "all", "--out", "report")):
        found, out, err = conform(*command)
        assert "1.1 was not judged: " in out, err
        assert found == code


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_judged_again_when_the_command_is_repeated(damaged, judge, name):
    path = damaged(name)
    before = Path("all", "1.0", "summary.json").stat().st_mtime_ns
    code, out, err = judge("1.0..2.0")
    assert (code, "damaged" in err) == (1, True), out
    assert "1.1: fine" in out
    assert path.read_bytes()
    assert Path("all", "1.0", "summary.json").stat().st_mtime_ns == before


def test_a_release_that_was_asked_less_is_no_column_when_releases_are_compared(judge, conform):
    judge("1.0..2.0", "-k", "expire")
    judge("1.0,2.0")
    judged = json.loads(Path("all", "releases.json").read_text(encoding="utf-8"))
    judged["releases"] = ["1.0", "1.1", "2.0"]  # as if it was killed after the first
    Path("all", "releases.json").write_text(json.dumps(judged), encoding="utf-8")
    _, out, _ = conform("compare", "all")
    assert "1.1 was not judged: its run is of another adapter or other options" in out
