"""A run keeps the vectors that it names, so that it can be replayed and reported without its
suite."""

import json
import shutil

import pytest

from conform.console.errors import BadRun
from conform.reports.runs import open_runs
from conform.runs import kept_vectors
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.storage.bucket_store import RunFolder


@pytest.fixture
def old_run(targets_folder, tiny_toy_suite, tmp_path, monkeypatch):
    """Makes a run of a fake whose suite is gone afterwards."""

    def make(mode, suite=tiny_toy_suite, most=kept_vectors.MOST):
        monkeypatch.setattr(kept_vectors, "MOST", most)
        options = RunOptions(targets_folder(mode), suite=str(suite), out=str(tmp_path / "run"),
                             shrink=False)  # fmt: skip
        finished = run_target(options, lambda _: None)
        shutil.rmtree(tmp_path / "cache")
        return finished

    return make


def test_a_run_is_replayed_when_its_suite_has_left_the_cache(conform, old_run, tmp_path):
    finished = old_run("wrong_error")
    (finding, *_) = finished.summary["findings"]
    code, out, err = conform("replay", finding["vector"], "--run", tmp_path / "run", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["kind"] == "diverges"
    code, _, err = conform("replay", "0123456789", "--run", tmp_path / "run")
    assert (code, "none of them starts with '0123456789'" in err) == (2, True)
    (reported,) = open_runs([tmp_path / "run"], None)
    assert set(reported.questions([finding["vector"]])) == {finding["vector"]}
    (tmp_path / "run" / kept_vectors.PLACE / "manifest.json").unlink()
    with pytest.raises(BadRun, match="was changed since the run ended"):
        RunFolder(str(tmp_path / "run")).check()


def test_what_is_kept_is_bounded_but_what_a_run_names_is_always_kept(old_run, toy_suite, tmp_path):
    finished = old_run("wrong", toy_suite, most=3)
    held = {item.id for item in kept_vectors.read_kept(tmp_path / "run").items(0)}
    named = {finding["vector"] for finding in finished.summary["findings"]}
    assert named <= held
    assert len(held) <= 3 + len(named) < finished.summary["verdicts"]["diverges"]


def test_a_fine_run_keeps_nothing_and_removes_what_an_earlier_one_kept(old_run, tmp_path):
    old_run("wrong_error")
    old_run("faithful")
    assert not (tmp_path / "run" / kept_vectors.PLACE).exists()
