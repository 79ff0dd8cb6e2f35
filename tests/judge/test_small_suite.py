"""A verdict by the small suite says so wherever it is shown; one by a full suite does not."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.support import charters
from tests.support.caches import own_cache
from tests.support.drawn.nested import run_pytest

from charter.formats.suite import read_manifest
from conform.cli import main as cli

PLAIN = re.sub(r"mutant .*toggles\n", "", charters.LAMP, flags=re.DOTALL)
"""Without mutants, the canaries of a run are models that forget an operation."""
TOML = """id = "lamp"
title = "Lamp"
protocol = "lamp"
component = "lamp"
start = ["nothing"]
"""
SMALL = "generated/suites/lamp/lamp"
FINE = "fine by the small suite: no deviation from the charter; judged "


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a project that has its generated suite, and with its cache."""
    place = tmp_path_factory.mktemp("small")
    root = place / "mine"
    (root / "spec").mkdir(parents=True)
    (root / "adapters" / "lamp").mkdir(parents=True)
    (root / "adapters" / "lamp" / "adapter.toml").write_text(TOML)
    (root / "charter.toml").touch()
    (root / "spec" / "lamp.charter").write_text(PLAIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHARTER_CACHE", own_cache(place / "cache"))
        patch.chdir(root)
        assert cli.main(["vectors", "spec/lamp.charter", "--search", "--out", "build/found"]) == 0
        assert cli.main(["generate"]) == 0
    return place


@pytest.fixture
def project(made, tmp_path, monkeypatch):
    """A copy of the project, where the test then is."""
    shutil.copytree(made, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "mine")


RUN = ("run", "--target", "reference", "--out", "build/run", "--suite")


def last(conform, *command):
    code, out, err = conform(*command)
    assert code == 0, out + err
    return out.splitlines()[-1]


def test_a_run_by_the_small_suite_says_so_wherever_it_is_shown(conform, project):
    assert last(conform, *RUN, SMALL, "--junit", "build/junit.xml").startswith(FINE)
    assert conform("report", "build/run", "--out", "build/report")[0] == 0
    pages = ["index.html", "runs/reference/index.html", "runs/reference/junit.xml", "summary.md"]
    for page in ("build/junit.xml", *(f"build/report/{page}" for page in pages)):
        assert "; by the small suite." in Path(page).read_text(), page
    badge = json.loads(Path("build/report/runs/reference/badge.json").read_text())
    count = read_manifest(Path(SMALL)).vectors
    assert badge["message"] == f"{count} of {count} judged · 0 new · 0 known · small suite"
    assert badge["color"] == "green"
    again = ("rejudge", "build/run", "--suite", SMALL, "--out")
    assert last(conform, *again, "build/again").startswith(FINE)
    out = conform(*again, "build/json", "--json")[1]
    assert json.loads(out)["summary"]["small_suite"] is True


def test_a_part_of_the_small_suite_is_told_as_such(conform, project):
    told = last(conform, *RUN, SMALL, "-k", "press")
    assert told.startswith("fine by the small suite")
    told = last(conform, *RUN, SMALL, "--limit", "1")
    assert told.startswith("fine by the small suite in the part that was asked (--limit): no ")


def test_a_run_by_a_full_suite_is_fine_alone(conform, project):
    assert conform("vectors", "spec/lamp.charter", "--profile", "full", "--out", "full")[0] == 0
    assert last(conform, *RUN, "full").startswith("fine: no deviation from the charter; judged ")
    assert conform("report", "build/run", "--out", "build/report")[0] == 0
    assert "small suite" not in Path("build/report/summary.md").read_text()
    again = ("rejudge", "build/run", "--suite", SMALL, "--out", "build/again")
    assert last(conform, *again).startswith(FINE)
    about = json.loads(Path("build/again/run.json").read_text())
    manifest = json.loads(Path(SMALL, "manifest.json").read_text())
    assert about["suite_counts"] == manifest["counts"]


def test_tests_of_pytest_by_the_small_suite_say_so(conform, project, capsys):
    Path("pytest.ini").write_text("[pytest]\n")
    given = ["-p", "conform.testing", "-q", "--charter-adapter=reference"]
    run_pytest([*given, f"--charter={SMALL}"])
    assert re.search(r"vectors conform; .*; by the small suite\n", capsys.readouterr().out)
