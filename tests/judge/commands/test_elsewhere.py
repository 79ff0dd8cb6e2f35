"""Commands outside of the project of a suite, a target or a run, and inside of another one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.judge.commands.test_whole import ADAPTER, LAMP, TOML
from tests.support.caches import own_cache

from charter.api import generated as generate
from charter.formats.project import project_at
from conform.adapters.projects import builtin
from conform.judging.model import load, use_folders
from conform.testing.implementation import open_judged

OTHER = LAMP.replace("reply true", "reply false")
"""A charter of the same name by which the lamp of the first project does not conform."""


@pytest.fixture(autouse=True)
def outside(tmp_path, monkeypatch):
    """A folder beside the project, in no project, where the test is."""
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    place = tmp_path / "elsewhere"
    place.mkdir()
    monkeypatch.chdir(place)
    yield place
    use_folders([str(builtin().generated)])


def make(root: Path, charter: str, title: str) -> Path:
    """A project with a lamp and its adapter, generated."""
    (root / "spec").mkdir(parents=True)
    (root / "adapters" / "lamp").mkdir(parents=True)
    (root / "charter.toml").touch()
    (root / "spec" / "lamp.charter").write_text(charter.replace('"twice"', '"two"'))
    (root / "adapters" / "lamp" / "adapter.toml").write_text(TOML.replace('"Lamp"', f'"{title}"'))
    (root / "adapters" / "lamp" / "adapter.py").write_text(ADAPTER)
    generate.write(project_at(root))
    return root


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "mine", LAMP, "Lamp of mine")


@pytest.fixture
def other(tmp_path):
    """Another project, with other rules for the same names, and an adapter of the same id."""
    return make(tmp_path / "other", OTHER, "Lamp of other")


def suite_of(project: Path) -> Path:
    return project / "generated" / "suites" / "lamp" / "lamp"


def spec_digest(place: Path) -> str:
    return json.loads((place / "manifest.json").read_text())["spec_digest"]


def test_a_target_is_judged_by_the_suite_of_its_project_outside_of_it(conform, project):
    target = project / "adapters" / "lamp"
    for more in ((), ("--suite", suite_of(project))):
        code, out, err = conform("run", "--target", target, *more, "--out", f"run{len(more)}")
        assert code == 0, out + err
        assert out.splitlines()[-1].startswith("fine by the small suite: ")
    code, out, _ = conform("doctor", "--adapter", target)
    assert code == 1 and "NOT  survives an operation that does not exist" in out, "it is asked"
    context = open_judged(str(target), str(suite_of(project))).context
    assert context.reference and context.model == "charter_models.lamp.lamp"


def test_a_suite_in_a_project_has_the_models_of_that_project(
    conform, project, other, monkeypatch, tmp_path
):
    assert spec_digest(suite_of(project)) != spec_digest(suite_of(other))
    monkeypatch.chdir(other)
    shutil.copytree(suite_of(project), project / "build" / "full")
    for suite in (suite_of(project), project / "build" / "full"):
        out = tmp_path / suite.name
        code, said, err = conform("run", "--target", "reference", "--suite", suite, "--out", out)
        assert code == 0, said + err
        assert "older version" not in said + err
        assert spec_digest(suite) == load("charter_models.lamp.lamp").SPEC_DIGEST


def test_a_suite_outside_of_projects_has_the_models_of_the_project_of_the_target(
    conform, project, outside
):
    shutil.copytree(suite_of(project), outside / "suite")
    target = project / "adapters" / "lamp"
    code, out, err = conform("run", "--target", target, "--suite", "suite", "--out", "run")
    assert code == 0, out + err
    code, _, err = conform("run", "--target", "reference", "--suite", "suite", "--out", "again")
    assert code == 2 and "call the command in the project of its charter, or name a" in err
    assert "a suite or the folder of a target there, after `conform generate`" in err, "not cut"
    assert "the adapter did not start" not in err
    shutil.rmtree(project / "generated")
    code, _, err = conform("run", "--target", target, "--suite", "suite", "--out", "again")
    assert (code, err.count("\n")) == (2, 1)
    assert "or name a suite or the folder of a target there, after `conform generate`;" in err
    assert err.endswith(f"; searched: {project / 'generated'} or {builtin().generated}\n")


def test_an_older_suite_of_another_project_is_told_with_that_project(conform, project, tmp_path):
    (project / "spec" / "lamp.charter").write_text(OTHER)
    run = ("run", "--target", project / "adapters" / "lamp", "--out", tmp_path / "run")
    _, out, err = conform(*run)
    assert "by an older version of the charter" in out
    assert f"run `conform generate` in {project}, or" in err


@pytest.fixture
def ran(conform, project, monkeypatch, outside):
    """Runs of the project, in it and outside: their folders."""
    monkeypatch.chdir(project)
    places = [project / "build" / "runs" / "a", outside / "run"]
    for place in places:
        assert conform("run", "--target", "lamp", "--out", place)[0] == 0
    monkeypatch.chdir(outside)
    return places


def a_vector(place: Path) -> str:
    lines = (place / "vectors.jsonl").read_text().splitlines()
    return json.loads(lines[-1])["answer"]["question"]


def test_runs_are_replayed_and_judged_again_outside_of_their_project(conform, project, ran):
    for place in ran:
        code, out, err = conform("replay", a_vector(suite_of(project)), "--run", place)
        assert (code, "target Lamp of mine" in out) == (0, True), err
        again = ("rejudge", place, "--suite", suite_of(project), "--out", f"{place.name}-again")
        code, out, err = conform(*again)
        assert (code, "fine by the small suite" in out) == (0, True), err
    assert json.loads((ran[0] / "run.json").read_text())["folder"] == ""


def test_a_run_in_a_project_is_of_its_target_and_not_of_the_one_here(
    conform, project, other, ran, monkeypatch
):
    monkeypatch.chdir(other)
    code, out, err = conform("replay", a_vector(suite_of(project)), "--run", ran[0])
    assert (code, "target Lamp of mine" in out) == (0, True), out + err
    again = ("rejudge", ran[0], "--suite", suite_of(project), "--out", "again")
    assert conform(*again)[0] == 0


def test_another_target_where_that_of_the_run_was_is_not_taken_for_it(conform, project, ran):
    path = project / "adapters" / "lamp" / "adapter.toml"
    path.write_text(path.read_text().replace('id = "lamp"', 'id = "torch"'))
    code, _, err = conform("replay", a_vector(suite_of(project)), "--run", ran[1])
    assert (code, err.count("\n")) == (2, 1)
    assert "where the target 'lamp' of the run was, has the target 'torch' now" in err


def test_observations_are_judged_again_without_the_implementation(conform, project, ran, tmp_path):
    """A colleague has the run, the charter, and generated/ with the suite and the models."""
    theirs = tmp_path / "theirs"
    for name in ("generated", "spec"):
        shutil.copytree(project / name, theirs / name)
    shutil.copytree(ran[0], theirs / "run")
    (theirs / "charter.toml").touch()
    shutil.rmtree(project)
    again = ("rejudge", theirs / "run", "--suite", suite_of(theirs), "--out", "again")
    code, out, err = conform(*again)
    assert (code, "fine by the small suite" in out) == (0, True), out + err
    code, _, err = conform("replay", a_vector(suite_of(theirs)), "--run", theirs / "run")
    assert (code, "there is no target 'lamp'" in err) == (2, True)
