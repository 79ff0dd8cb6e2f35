"""A run says how much it judged of how much, and is not fine if its suite asks for too little."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import charters
from tests.support.caches import own_cache
from tests.support.suites import write_suite

from charter.formats.suite import LINES, MANIFEST, Manifest, read_lines, read_manifest
from conform.cli import main as cli
from conform.judging.model import use_folders
from conform.runs.obligations import Gap, count_obligations
from conform.suites.cache import open_suite

SCENARIO = """scenario "it is pressed" of lamp { do press() -> on }
"""
TOML = """id = "lamp"
title = "Lamp"
protocol = "lamp"
component = "lamp"
start = ["{python}", "-m", "conform.adapters.reference", "--models", "{models}", "--model",
  "{model}"]
"""
SUITE = "generated/suites/lamp/lamp"
SECTIONS = "generated/charter_models/lamp/lamp.sections.json"
ALLOW = '\n[not_compared]\nobligations = "the other half is judged elsewhere"\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two projects with their generated suites, and a cache: `thin`, where no search looked for
    questions, and `sought`."""
    place = tmp_path_factory.mktemp("extent")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHARTER_CACHE", own_cache(place / "cache"))
        for name in ("thin", "sought"):
            root = place / name
            (root / "spec").mkdir(parents=True)
            (root / "adapters" / "lamp").mkdir(parents=True)
            (root / "adapters" / "lamp" / "adapter.toml").write_text(TOML)
            (root / "charter.toml").touch()
            (root / "spec" / "lamp.charter").write_text(charters.LAMP + SCENARIO)
            patch.chdir(root)
            if name == "sought":
                assert cli.main(["vectors", "spec/lamp.charter", "--search"]) == 0
            assert cli.main(["generate"]) == 0
    return place


@pytest.fixture
def project(made, tmp_path, monkeypatch):
    """Goes to a copy of one of the projects."""
    shutil.copytree(made, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    return lambda name: monkeypatch.chdir(tmp_path / name)


def last(conform, *options):
    code, out, err = conform("run", "--target", "lamp", "--out", "build/run", *options)
    return code, (out.splitlines() or [err])[-1]


def summary():
    return json.loads(Path("build/run/summary.json").read_text())


def manifest_of(folder) -> Manifest:
    return read_manifest(Path(folder))


def test_run_is_not_fine_if_no_search_looked_for_the_open_obligations(conform, project):
    project("thin")
    code, line = last(conform)
    left = summary()["obligations"]
    count = left["left"]["unsearched"]["count"]
    told = f"judged 1 of 1; {count} of {left['every']} obligations are not asked"
    assert (code, line) == (3, f"exit 3: {told}")
    assert summary()["complete"] is False
    assert len(left["left"]["unsearched"]["names"]) == count


def test_generate_and_run_name_the_search_that_nobody_made(conform, project):
    project("thin")
    err = conform("generate")[2].splitlines()
    assert re.fullmatch(
        r"the suite of lamp has nothing for \d of \d obligations, as no questions were looked for:"
        r" `conform test` does, or `conform vectors spec/lamp.charter --search --component lamp`",
        err[-1],
    )
    out = conform("run", "--target", "lamp", "--out", "build/run")[1].splitlines()
    assert out[-2].startswith("next: `conform test`, or `conform vectors CHARTER --search`, looks")
    project("sought")
    assert conform("generate")[2] == "generated/ is up to date\n"


def test_adapter_toml_allows_open_obligations_by_a_reason(conform, project):
    project("thin")
    Path("adapters/lamp/adapter.toml").write_text(TOML + ALLOW)
    code, line = last(conform)
    assert code == 0
    assert line.startswith("fine by the small suite: no deviation from the charter; judged 1 of ")
    assert line.endswith(" obligations are not asked (allowed)")
    assert summary()["complete"] is False


def test_run_is_complete_if_all_obligations_are_asked(conform, project):
    project("sought")
    assert last(conform)[0] == 0
    assert "obligations" not in last(conform)[1]
    assert (summary()["complete"], summary()["obligations"]["left"]) == (True, {})


def test_obligations_that_only_the_caller_leaves_out_are_told_and_cost_nothing(conform, project):
    project("sought")
    about, vectors = manifest_of(SUITE), [*read_lines(Path(SUITE, LINES))]
    kept = [vector for vector in vectors if len(vector.why.obligations) < 4]  # one has all
    canaries = dict.fromkeys(about.canaries, (kept[0].id,))
    write_suite(Path(SUITE), kept, replace(about, canaries=canaries))
    code, line = last(conform, "--limit", "1")
    left = summary()["obligations"]["left"]
    assert (code, [*left], summary()["complete"]) == (0, ["left_out"], False)
    assert line.endswith(f"; {left['left_out']['count']} of {summary()['obligations']['every']}"
                         " obligations are not asked")  # fmt: skip


@pytest.mark.parametrize("gap", [Gap.LEFT_OUT, Gap.ALLOWED, Gap.LOST])
def test_what_is_open_only_through_vectors_goes_with_them(project, gap):
    project("sought")
    suite = open_suite(SUITE, 1)
    use_folders(["generated"])
    found = count_obligations(suite, lambda _: gap, {})
    assert (found.asked, found.too_few) == (0, False)
    assert (found.tell() == "") == (gap is Gap.LOST)
    assert found.left == {gap: manifest_of(SUITE).counts["obligations_covered"]}
    vectors = read_lines(Path(SUITE, LINES))
    first = next(one.id for one in vectors if "branch press/off" not in one.why.obligations)
    some = count_obligations(suite, lambda one: None if one == first else gap, {})
    assert 0 < some.asked < some.every


def test_suite_that_was_cut_and_sealed_again_is_not_fine(conform, project):
    project("sought")
    about, vectors = manifest_of(SUITE), [*read_lines(Path(SUITE, LINES))]
    kept = [vector for vector in vectors if "branch press/off" not in vector.why.obligations]
    assert 0 < len(kept) < len(vectors)
    counts = {**about.counts, "mutants": 0}
    models = replace(about.models, mutants={})
    write_suite(Path(SUITE), kept, replace(about, counts=counts, models=models, canaries={}))
    code, line = last(conform)
    left = summary()["obligations"]["left"]
    assert (code, "branch press/off" in left["no_vector"]["names"]) == (3, True)
    assert line.startswith("exit 3: judged ") and line.endswith(" obligations are not asked")


def test_small_suite_of_the_project_is_told_from_another_one(conform, project):
    project("sought")
    vectors, about = [*read_lines(Path(SUITE, LINES))], manifest_of(SUITE)
    write_suite(
        Path("build/other"), vectors, replace(about, counts={**about.counts, "scenarios": 0})
    )
    code, line = last(conform, "--suite", "build/other")
    assert code == 0
    assert line.startswith("fine by a small suite that no `conform generate` made: no deviation ")
    assert (summary()["generated_suite"], summary()["complete"]) == (False, False)


@pytest.mark.parametrize(
    "forge",
    [
        lambda content: content | {"ledger": [[row[0], "covered", 9] for row in content["ledger"]]},
        lambda content: content | {"ledger": []} | {"digest": ""},
        lambda content: {name: value for name, value in content.items() if name != "digest"},
    ],
)
def test_sections_that_no_generate_wrote_are_refused(conform, project, forge):
    project("thin")
    assert last(conform)[0] == 3
    Path(SECTIONS).write_text(json.dumps(forge(json.loads(Path(SECTIONS).read_text()))))
    told = "lamp.sections.json cannot be read (it"
    for command in (
        ["run", "--target", "lamp"],
        ["report", "build/run"],
        ["rejudge", "build/run", "--suite", SUITE, "--out", "build/again"],
    ):
        code, out, err = conform(*command)
        assert (code, out, err.count(told)) == (2, "", 1)
    assert conform("generate")[0] == 0
    assert conform("report", "build/run")[0] == 0


def test_ledger_that_is_gone_does_not_hide_what_no_search_looked_for(conform, project):
    project("thin")
    Path(SECTIONS).unlink()
    code, line = last(conform)
    assert code == 3 and "obligations are not asked" in line
    assert Path(SUITE, MANIFEST).exists()
