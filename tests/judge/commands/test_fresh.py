"""Whether models and suite are those of the charter as it is now."""

import json
import re
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import charters
from tests.support.caches import own_cache
from tests.support.drawn.nested import run_pytest
from tests.support.suites import seal

from charter import api
from charter.formats.suite import read_lines, read_manifest
from conform.cli import main as cli
from conform.cli.output.staleness import Older, older_than_charter

TOML = """id = "lamp"
title = "Lamp"
protocol = "lamp"
component = "lamp"
start = ["nothing"]
"""


BY_OLDER = "by an older version of the charter"


def project(place, text):
    """Makes a project in a new folder, with models and a suite, and a cache beside it; returns its
    charter."""
    root = place / "mine"
    (root / "spec").mkdir(parents=True)
    (root / "adapters" / "lamp").mkdir(parents=True)
    (root / "charter.toml").touch()
    (root / "adapters" / "lamp" / "adapter.toml").write_text(TOML)
    path = root / "spec" / "lamp.charter"
    path.write_text(text)
    with inside(place):
        assert cli.main(["generate"]) == 0
    return path


@contextmanager
def inside(place):
    """Makes the project in a folder the current one, and its cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHARTER_CACHE", own_cache(place / "cache"))
        patch.chdir(place / "mine")
        yield


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A project whose models and suite are fresh."""
    place = tmp_path_factory.mktemp("fresh")
    project(place, charters.LAMP)
    return place


@pytest.fixture(scope="module")
def with_old_suite(tmp_path_factory):
    """A project with the suite build/old, made before its charter got a comment."""
    place = tmp_path_factory.mktemp("old")
    path = project(place, PLAIN)
    with inside(place):
        assert cli.main(["vectors", str(path), "--profile", "full", "--out", "build/old"]) == 0
    path.write_text(f"{PLAIN}-- a comment\n")
    return place


@pytest.fixture
def charter(fresh, tmp_path):
    """The charter of a project whose models and suite are fresh."""
    yield from copy(fresh, tmp_path)


@pytest.fixture
def old_suite(with_old_suite, tmp_path):
    """The charter, whose rules changed since generated/ and the suite build/old were made."""
    for path in copy(with_old_suite, tmp_path):
        path.write_text(PLAIN.replace("reply false", "reply lit"))
        yield path


def copy(place, to):
    """The charter of a copy of a project, which is the current one."""
    shutil.copytree(place, to, symlinks=True, dirs_exist_ok=True)
    with inside(to):
        yield to / "mine" / "spec" / "lamp.charter"


def test_models_older_than_the_charter_are_told_until_they_are_generated(conform, charter):
    assert older_than_charter("lamp", "") == Older()
    charter.write_text(charters.LAMP.replace("reply false", "reply true"))
    told = older_than_charter("lamp", "").told
    assert told.startswith("the judge works by an older version of the charter: the rules of lamp")
    assert "run `conform generate`" in told
    assert told in conform("run", "--target", "lamp")[2]
    assert conform("generate")[0] == 0
    assert older_than_charter("lamp", "") == Older()


def test_models_of_a_weaker_charter_under_the_digests_of_the_honest_one_are_told(conform, charter):
    """Whoever forges generated/ as a whole makes the digests again, too."""
    weak = Path("generated/charter_models/lamp/lamp.py")
    honest = weak.read_text()
    weak.write_text(honest + "\n# a comment\n")
    assert older_than_charter("lamp", "") == Older()
    digest = re.search(r'SPEC_DIGEST = "(\w+)"', honest)[1]
    charter.write_text(charters.LAMP.replace("reply false", "reply true"))
    assert conform("generate")[0] == 0
    weak.write_text(re.sub(r'SPEC_DIGEST = "\w+"', f'SPEC_DIGEST = "{digest}"', weak.read_text()))
    for path in Path("generated").rglob("manifest.json"):
        manifest = read_manifest(path.parent)
        lines = [*read_lines(path.with_name("vectors.jsonl"))]
        made = seal(replace(manifest, spec_digest=digest), lines)
        path.write_text(json.dumps(made.json()))
    charter.write_text(charters.LAMP)
    older = older_than_charter("lamp", "")
    assert older.by == "models that are not those of the charter"
    assert older.told.startswith("generated/charter_models/lamp/lamp.py is not what this version")
    assert older.told in conform("run", "--target", "lamp")[2]
    assert conform("generate")[0] == 0
    assert older_than_charter("lamp", "") == Older()


def test_a_comment_or_another_layout_is_no_other_version(charter):
    charter.write_text(charters.LAMP + "-- a comment\n")
    assert older_than_charter("lamp", "") == Older()


def test_a_property_is_no_other_version(charter):
    charter.write_text(f"{charters.LAMP}always calm of lamp cites silent: true\n")
    api.load(charter)
    assert older_than_charter("lamp", "") == Older()


@pytest.mark.parametrize(
    "more",
    ['scenario "one" of lamp cites silent { do press() }\n', "instance tiny_too of lamp {}\n"],
)
def test_questions_older_than_a_scenario_or_an_instance_are_told(conform, charter, more):
    """The remedy for a bug that was missed is a scenario: a run without it says nothing of it."""
    charter.write_text(f"{charters.LAMP}{more}")
    older = older_than_charter("lamp", "")
    assert older.by == "the questions of an older version of the charter"
    assert older.told.startswith("the scenarios or the instances of lamp lamp have changed since")
    assert older.told in conform("run", "--target", "lamp")[2]
    assert conform("generate")[0] == 0
    assert older_than_charter("lamp", "") == Older()


def test_an_instance_that_no_question_comes_from_is_no_other_version(charter):
    charter.write_text(f"{charters.LAMP}instance large of lamp {{}}\n")
    assert older_than_charter("lamp", "") == Older()


def test_what_an_instance_says_of_its_search_is_no_other_version(charter):
    tiny = "instance tiny of lamp { }"
    assert tiny in charters.LAMP
    charter.write_text(charters.LAMP.replace(tiny, "instance tiny of lamp { misses press/on }"))
    api.load(charter)
    assert older_than_charter("lamp", "") == Older()


def test_the_charter_is_compiled_only_after_a_change(charter, monkeypatch):
    assert older_than_charter("lamp", "") == Older()
    called = "charter.api.models_on_disk.suite_digests"
    monkeypatch.setattr(called, lambda *_: pytest.fail("it is compiled again"))
    assert older_than_charter("lamp", "") == Older()


def test_a_charter_that_is_gone_or_wrong_is_told(charter):
    charter.write_text(charters.LAMP.replace("reply false", "reply 7"))
    told = older_than_charter("lamp", "").told
    assert told.startswith("the charter of lamp lamp has errors now")
    charter.unlink()
    assert "are in no charter of the project any more" in older_than_charter("lamp", "").told


def test_another_file_that_cannot_be_read_is_no_error_of_the_charter(charter):
    charter.with_name("bad.charter").write_bytes(b"\xff")
    told = older_than_charter("lamp", "").told
    assert told.startswith("cannot tell whether lamp lamp changed since generated/ was made")
    assert "bad.charter" in told


PLAIN = re.sub(r"mutant .*toggles\n", "", charters.LAMP, flags=re.DOTALL)
"""Without mutants, the canaries of a run are models that forget an operation."""


def test_a_comment_makes_no_suite_older(conform, with_old_suite):
    with inside(with_old_suite):
        code, told, err = last("reference", conform)
    assert code == 0 and told.startswith("fine: no deviation from the charter; judged ")
    assert "older" not in err


def last(target, conform, *more):
    """The exit code, the last line and stderr of a run by the suite that is older."""
    code, out, err = conform("run", "--target", target, "--suite", "build/old", *more)
    return code, out.splitlines()[-1], err


def test_a_verdict_by_an_old_suite_says_so_and_keeps_its_exit_code(conform, old_suite):
    code, told, err = last("reference", conform)
    assert code == 0
    assert told.startswith("fine by an older version of the charter: no deviation from it; judged")
    assert "build/old is of an older version of the charter: the rules of lamp lamp have" in err
    assert "the verdict is about the old ones" in err
    digest = read_manifest(Path("build/old")).digest[:10]
    out = conform("run", "--target", "reference", "--suite", digest)[1]
    assert "\nfine by an older version of the charter: " in out
    out = conform("run", "--target", "reference", "--suite", "build/old", "--json")[1]
    assert json.loads(out)["summary"]["older_charter"] == "an older version of the charter"


def test_an_old_suite_finds_deviations_of_a_new_model_and_says_by_what(conform, old_suite):
    old_suite.write_text(PLAIN.replace("reply false", "reply true"))
    assert conform("generate")[0] == 0
    _, told, _ = last("reference", conform)
    assert told.startswith("exit ") and "1 finding that no overlay entry explains" in told
    assert told.endswith("; by an older version of the charter")


def test_a_generated_suite_that_is_older_and_named_is_told(conform, old_suite):
    suite = "generated/suites/lamp/lamp"
    _, out, err = conform("run", "--target", "reference", "--suite", suite)
    assert out.endswith("; by an older version of the charter\n")
    assert "have changed since generated/ was made; run `conform generate`" in err


def test_a_suite_of_a_protocol_that_the_project_lacks_is_not_old(conform, old_suite):
    old_suite.unlink()
    code, told, err = last("reference", conform)
    assert code == 0 and "older" not in err
    assert told.startswith("fine: no deviation from the charter; ")


def test_whatever_shows_a_run_by_an_old_suite_says_so(conform, old_suite):
    run = ("run", "--target", "reference", "--suite", "build/old", "--out", "build/run")
    assert conform(*run, "--junit", "build/junit.xml")[0] == 0
    assert BY_OLDER in Path("build/junit.xml").read_text()
    code, out, _ = conform("report", "build/run", "--out", "build/report")
    assert code == 0 and BY_OLDER in out
    pages = ["index.html", "runs/reference/index.html", "runs/reference/junit.xml", "summary.md"]
    for page in pages:
        assert BY_OLDER in (Path("build/report") / page).read_text(), page
    badge = json.loads((Path("build/report") / "runs/reference/badge.json").read_text())
    assert badge["message"].endswith("older charter") and badge["color"] == "yellow"
    code, out, _ = conform("compare", "build/run", "build/run")
    assert code == 0 and out.count(", judged by an older version of the charter\n") == 2
    out = conform("compare", "build/run", "build/run", "--json")[1]
    assert json.loads(out)["older_charter"] == ["an older version of the charter"] * 2


def test_observations_judged_again_by_an_old_suite_say_so(conform, old_suite):
    run = ("run", "--target", "reference", "--suite", "build/old", "--out", "build/run")
    assert conform(*run)[0] == 0
    again = ("rejudge", "build/run", "--suite", "build/old", "--out")
    code, out, err = conform(*again, "build/again")
    assert code == 0
    assert out.splitlines()[-1].startswith("fine by an older version of the charter: ")
    assert "the verdict is about the old ones" in err
    out = conform(*again, "build/json", "--json")[1]
    assert json.loads(out)["summary"]["older_charter"] == "an older version of the charter"


def test_observations_judged_again_by_the_charter_as_it_is_now_are_not_older(conform, old_suite):
    run = ("run", "--target", "reference", "--suite", "build/old", "--out", "build/run")
    assert conform(*run)[0] == 0
    old_suite.write_text(PLAIN)
    code, out, err = conform("rejudge", "build/run", "--suite", "build/old", "--out", "build/again")
    assert code == 0 and "older" not in err
    assert out.splitlines()[-1].startswith("fine: no deviation from the charter; ")


def test_a_vector_of_an_old_suite_that_is_replayed_says_so(conform, old_suite):
    lines = Path("build/old/vectors.jsonl").read_text().splitlines()
    vector = json.loads(lines[-1])["answer"]["question"]
    code, out, err = conform("replay", vector, "--target", "reference", "--suite", "build/old")
    assert code == 0
    assert out.splitlines()[-1].endswith("; by an older version of the charter")
    assert "the verdict is about the old ones" in err


def test_tests_of_pytest_by_an_old_suite_say_so(conform, old_suite, capsys):
    Path("pytest.ini").write_text("[pytest]\n")
    given = ["-p", "conform.testing", "-q", "--charter=build/old", "--charter-adapter=reference"]
    run_pytest(given)
    out = capsys.readouterr().out
    assert re.search(r"vectors conform.*; by an older version of the charter\n", out)
    assert "the suite build/old is of an older version of the charter" in out
