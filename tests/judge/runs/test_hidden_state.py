"""Questions go on where a target hides state, until a wrong value shows."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from tests.support.caches import own_cache
from tests.support.unshown import MISTAKES, SERVER, with_mistake

from charter.formats.run_description import WalkSettings
from conform.cli import main as cli
from conform.cli.output.walks_told import explain_hidden
from conform.runs.conclusion import Finished
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.runs.rejudge import RejudgeOptions, rejudge
from conform.runs.select import RunSelection, choose
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import open_suite
from conform.walks.hidden_state import HiddenStateSearch

TOML = """id = "{name}"
title = "Server"
protocol = "test.server"
component = "server"
sources = []
start = ["{{python}}", "-m", "conform.adapters.reference", "--models", "{models}", "--model",
  "charter_models.test_server.server"]
"""
HIDDEN = ["granted", "matched", "pending"]


def write_project(folder, text):
    """A project with one charter, and its generated models."""
    (folder / "spec").mkdir(parents=True)
    (folder / "charter.toml").touch()
    (folder / "spec" / "server.charter").write_text(text, encoding="utf-8")
    return folder


def generate(folder, *, search=False):
    before = Path.cwd()
    os.chdir(folder)
    try:
        if search:
            found = ["--search", "--out", "build/found"]
            assert cli.main(["vectors", "spec/server.charter", *found]) == 0
        assert cli.main(["generate"]) == 0
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project of the charter, whose targets are its model and models with one mistake each."""
    place = tmp_path_factory.mktemp("unshown")
    text = SERVER.read_text(encoding="utf-8")
    whole = write_project(place / "whole", text)
    for name in ("server", *MISTAKES):
        made = whole if name == "server" else write_project(place / name, with_mistake(name))
        folder = whole / "adapters" / name
        folder.mkdir(parents=True)
        models = made / "generated"
        (folder / "adapter.toml").write_text(TOML.format(name=name, models=models))
        generate(made, search=made == whole)
    return whole


@pytest.fixture
def judge(project, tmp_path_factory, monkeypatch):
    """Judges one of the targets; a run is made once if `out` names it."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(project / "cache"))

    def run(target, out="", **more):
        engine = more.pop("engine", "inline")
        place = project / "kept" / out if out else tmp_path_factory.mktemp("run") / "run"
        if out and (place / "summary.json").exists():
            folder = RunFolder(str(place))
            return Finished(folder, folder.read_run(), folder.read_json("summary.json"))
        options = RunOptions(target, engine=engine, master="local[2]", out=str(place), **more)
        return run_target(options, lambda _: None)

    return run


def rows(finished, name):
    """The rows of the suite and of the questions that go on; others are remembered questions."""
    every = finished.folder.table(name).to_pylist()
    found = [row for row in every if row["bucket"] in (0, 1)]
    for row in found:
        row.pop("line", None)
    return sorted(json.dumps(row, sort_keys=True) for row in found)


def test_each_mistake_is_found_by_questions_that_go_on(judge):
    for name in MISTAKES:
        finished = judge(name, name)
        assert finished.exit_code == 1, name
        # The suite alone says that the target is fine.
        assert finished.summary["verdicts"]["diverges"] == 0, name
        assert finished.summary["hidden"]["verdicts"]["diverges"] > 0, name
        (finding,) = finished.summary["findings"]
        assert finding["shrunk"]["step"] >= 2


def test_model_without_a_mistake_conforms_and_each_hidden_variable_is_named(judge):
    finished = judge("server", "server")
    assert finished.exit_code == 0, finished.summary["reasons"]
    assert finished.summary["judged"] == finished.summary["suite_vectors"]
    assert set(finished.summary["hidden"]["verdicts"]) == {"conforms"}
    assert list(finished.run.hidden) == sorted(HIDDEN, key="pending granted matched".index)
    held = {row["variable"]: row for row in finished.summary["hidden"]["variables"]}
    assert list(held) == HIDDEN
    assert "voted/late" in held["granted"]["shown"]
    # Votes have no effect on a leader, and the next election forgets them.
    assert held["granted"]["not_shown"] == ["voted/elected"]
    assert "calls each" in finished.summary["hidden"]["bounds"]


def test_terminal_and_report_name_what_is_hidden(judge, project, tmp_path, capsys):
    finished = judge("server", "server")
    capsys.readouterr()
    assert cli.main(["report", finished.folder.place, "--out", str(tmp_path / "site")]) == 0
    page = next((tmp_path / "site").glob("runs/*/index.html")).read_text(encoding="utf-8")
    assert "The target does not show <code>granted</code>" in page
    command = ["run", "--target", "server", "--engine", "inline", "--out", str(tmp_path / "again")]
    junit = tmp_path / "junit.xml"
    assert cli.main([*command, "--junit", str(junit)]) == 0
    said = capsys.readouterr().out
    went_on = f"{finished.summary['hidden']['verdicts']['conforms']} questions that go on"
    assert f"fine by the small suite and {went_on}: no deviation" in said.splitlines()[-1]
    assert f"; besides {went_on}" in junit.read_text(encoding="utf-8")
    assert "not shown: granted, matched, pending" in said
    assert "no wrong granted after voted/elected shows later" in said


@pytest.mark.parametrize("count", [0, 2])
def test_questions_go_on_is_said_only_if_some_did(count):
    rows = [{"variable": "votes", "shown": [], "not_shown": []}]
    verdicts = {"conforms": count} if count else {}
    (said,) = explain_hidden({"hidden": {"variables": rows, "verdicts": verdicts, "bounds": ""}})
    more = "; questions go on where a wrong value shows later" if count else ""
    assert said == f"not shown: votes{more}"


def test_search_is_made_once_for_targets_that_hide_the_same(judge, monkeypatch):
    one = judge("server", "server")

    def refuse(*_):
        raise AssertionError("searched again")

    monkeypatch.setattr(HiddenStateSearch, "look_after", refuse)
    two = judge("server")
    assert two.summary["hidden"] == one.summary["hidden"]
    assert re.search(r"after \d+ of 27 vectors$", one.summary["hidden"]["bounds"])


def test_same_questions_go_on_in_each_run_and_when_judged_again(judge, tmp_path):
    one, two = judge("counts_old_votes", "counts_old_votes"), judge("counts_old_votes")
    for name in ("verdicts", "deviations", "walks"):
        assert rows(one, name) == rows(two, name)
    suite = choose(RunSelection(target="counts_old_votes")).suite
    place = str(Path("generated/suites/test_server/server"))
    options = RejudgeOptions(str(tmp_path / "again"), suite=place)
    again = rejudge(one.folder.place, suite, options)
    assert again.summary["hidden"] == one.summary["hidden"]
    assert rows(again, "deviations") == rows(one, "deviations")


def test_run_judged_again_by_another_charter_names_its_hidden_variables(
    judge, project, tmp_path, monkeypatch
):
    one = judge("server", "server")
    text = SERVER.read_text(encoding="utf-8").replace("pending", "waiting")
    other = write_project(tmp_path / "other", text)
    shutil.copytree(project / "spec" / "found", other / "spec" / "found")
    generate(other)
    monkeypatch.chdir(other)
    place = str(other / "build" / "suite")
    assert cli.main(["vectors", "spec/server.charter", "--out", place]) == 0
    options = RejudgeOptions(str(tmp_path / "again"), suite=place)
    again = rejudge(one.folder.place, open_suite(place, 1), options)
    assert sorted(again.run.hidden) == ["granted", "matched", "waiting"]
    rows = again.summary["hidden"]["variables"]
    assert [row["variable"] for row in rows] == ["granted", "matched", "waiting"]
    # Where they show was searched by the earlier charter.
    assert all(row["shown"] == row["not_shown"] == [] for row in rows)
    assert again.summary["hidden"]["verdicts"] == one.summary["hidden"]["verdicts"]


def test_walks_come_before_the_questions_that_go_on(judge):
    finished = judge("server", walks=WalkSettings(5, 4))
    assert finished.exit_code == 0, finished.summary["reasons"]
    assert finished.summary["walks"]["walks"] == 5
    assert finished.summary["hidden"]["verdicts"]["conforms"] > 0


def test_no_question_goes_on_where_vectors_are_left_out(judge):
    assert "hidden" not in judge("server", limit=3).summary


def test_spark_asks_the_same_questions_that_go_on(judge, spark):
    one, two = judge("server", "server"), judge("server", engine="spark")
    assert rows(one, "verdicts") == rows(two, "verdicts")
    assert one.summary["hidden"] == two.summary["hidden"]
