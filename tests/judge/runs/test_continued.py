"""A run goes on only if the implementation is known to be the same, wherever its files are."""

import json
from pathlib import Path

import pytest

from conform.console.errors import BadRun, UnknownTarget
from conform.reports import write
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.storage.bucket_store import RunFolder


def sources_are(line):
    """Change what adapter.toml of the reference says about sources; "" leaves them out."""
    file = Path("adapters/reference/adapter.toml")
    kept = [held for held in file.read_text().splitlines() if not held.startswith("sources")]
    file.write_text("\n".join([line, *kept]))


@pytest.fixture
def begun(toy_suite, targets_folder, tmp_path):
    """Begins a run whose adapter.toml has this line and that does not end; goes on with it."""
    source = tmp_path / "src" / "lease.py"
    source.parent.mkdir()
    source.write_text("an implementation")

    def judge(**more):
        said = []
        options = RunOptions("reference", suite=str(toy_suite), engine="inline",
                             out=str(tmp_path / "run"), **more)  # fmt: skip
        return said, run_target(options, said.append)

    def begin(line):
        sources_are(line)
        _, first = judge()
        assert first.summary["continued"] == 0
        (tmp_path / "run" / "summary.json").unlink()
        return len(first.folder.read_committed())

    return begin, judge


@pytest.mark.parametrize("changed", ["src/lease.py", "src/new.py"])
def test_run_starts_again_if_a_named_source_changed(changed, begun, tmp_path):
    begin, judged = begun
    begin('sources = ["../../src"]')
    (tmp_path / changed).write_text("another implementation")
    said, again = judged()
    assert said[0].startswith(f"the sources changed since the run in {tmp_path / 'run'} started")
    assert list(again.run.sources) == ["../../src"]


@pytest.mark.parametrize("line", ['sources = ["../../src", "../../src/lease.py"]', "sources = []"])
def test_run_goes_on_if_adapter_toml_says_where_all_of_it_is(line, begun, tmp_path):
    begin, judged = begun
    done = begin(line)
    (tmp_path / "src" / ".lease.py.swp").write_text("an editor's file")
    (tmp_path / "src" / "__pycache__").mkdir()
    (tmp_path / "src" / "__pycache__" / "lease.pyc").write_text("bytes")
    said, again = judged()
    assert said == [f"continuing the run in {tmp_path / 'run'}: {done} buckets are done"]
    assert again.summary["continued"] == 0


def test_run_without_sources_starts_again_and_names_the_key(begun, tmp_path):
    begin, judged = begun
    done = begin("")
    said, again = judged()
    assert said == [
        f"the run in {tmp_path / 'run'} starts again, and {done} buckets are judged again: without"
        " `sources` in adapter.toml nobody knows whether the implementation is the same"
        " (`conform help adapter`)"
    ]
    assert again.run.sources is None and again.summary["continued"] == 0


def test_run_without_sources_goes_on_if_asked_to_and_says_so(begun, conform, toy_suite, tmp_path):
    begin, _ = begun
    done = begin("")
    told = f"{done} buckets were judged before, perhaps with another implementation: the run was"
    code, out, err = conform("run", "--target", "reference", "--suite", toy_suite, "--engine",
                             "inline", "--out", tmp_path / "run", "--continue")  # fmt: skip
    assert code == 0
    assert f"continuing the run in {tmp_path / 'run'}" in err
    assert told in out
    assert json.loads((tmp_path / "run" / "run.json").read_text())["continued"] == done
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["continued"] == done
    write([tmp_path / "run"], tmp_path / "report")
    assert told in (tmp_path / "report" / "runs" / "reference" / "index.html").read_text()


def test_run_that_changed_is_not_thrown_away_by_who_asks_to_continue(begun, tmp_path):
    begin, judged = begun
    begin('sources = ["../../src"]')
    (tmp_path / "src" / "lease.py").write_text("another implementation")
    with pytest.raises(BadRun, match=r"the sources changed .*; it cannot be continued"):
        judged(go_on=True)
    assert (tmp_path / "run" / "commits").exists()


@pytest.mark.parametrize("known", [True, False])
def test_interrupted_run_says_how_it_goes_on(
    known, conform, targets_folder, toy_suite, monkeypatch
):
    commit = RunFolder.commit

    def interrupt(*given):
        commit(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(RunFolder, "commit", interrupt)
    name = targets_folder("faithful")
    if not known:
        file = Path("adapters") / name / "adapter.toml"
        file.write_text(file.read_text().replace("sources = []\n", ""))
    code, _, err = conform("run", "--target", name, "--suite", toy_suite, "--engine", "inline",
                           "--out", "run")  # fmt: skip
    assert code == 130 and len(list(Path("run").glob("commits/*.json"))) == 1
    assert "finished work is kept: 1 of 2 buckets" in err
    assert ("this run goes on only with --continue" in err) is not known


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('sources = ["../../scr"]', r"'sources' names '../../scr', and there is no"),
        ('sources = ["../.."]', r"'sources' names '../..', which holds the folder of the run"),
    ],
)
def test_sources_that_cannot_be_are_refused(line, told, begun, targets_folder):
    begin, _ = begun
    with pytest.raises(UnknownTarget, match=told):
        begin(line)
