"""Whether models and suite are those of the charter as it is now."""

import json
import re
from pathlib import Path

import pytest
from tests.support import charters

from charter import api
from charter.formats.suite import read_manifest
from conform.cli.commands.fresh import Older, older_than_charter

TOML = """id = "lamp"
title = "Lamp"
protocol = "lamp"
component = "lamp"
start = ["nothing"]
"""


@pytest.fixture
def charter(conform, tmp_path, monkeypatch):
    """The charter of a project whose models and suite are fresh."""
    root = tmp_path / "mine"
    (root / "spec").mkdir(parents=True)
    (root / "adapters" / "lamp").mkdir(parents=True)
    (root / "charter.toml").touch()
    (root / "adapters" / "lamp" / "adapter.toml").write_text(TOML)
    path = root / "spec" / "lamp.charter"
    path.write_text(charters.LAMP)
    monkeypatch.chdir(root)
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    assert conform("generate")[0] == 0
    return path


def test_models_older_than_the_charter_are_told_until_they_are_generated(conform, charter):
    assert older_than_charter("lamp", "") == Older()
    charter.write_text(charters.LAMP.replace("reply false", "reply true"))
    told = older_than_charter("lamp", "").told
    assert told.startswith("the judge works by an older version of the charter: the rules of lamp")
    assert "run `conform generate`" in told
    assert told in conform("run", "--target", "lamp")[2]
    assert conform("generate")[0] == 0
    assert older_than_charter("lamp", "") == Older()


def test_a_comment_or_another_layout_is_no_other_version(charter):
    charter.write_text(charters.LAMP + "-- a comment\n")
    assert older_than_charter("lamp", "") == Older()


def test_the_charter_is_compiled_only_after_a_change(charter, monkeypatch):
    assert older_than_charter("lamp", "") == Older()
    monkeypatch.setattr(api, "spec_digest", lambda *_: pytest.fail("it is compiled again"))
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


@pytest.fixture
def old_suite(conform, charter):
    """The charter, whose rules changed since generated/ and the suite build/old were made."""
    charter.write_text(PLAIN)
    assert conform("generate")[0] == 0
    assert conform("vectors", charter, "--profile", "full", "--out", "build/old")[0] == 0
    charter.write_text(f"{PLAIN}-- a comment\n")
    code, told, err = last("reference", conform)
    assert code == 0 and told.startswith("fine: no deviation from the charter; judged ")
    assert "older" not in err
    charter.write_text(PLAIN.replace("reply false", "reply lit"))
    return charter


def last(target, conform, *more):
    """The exit code, the last line and stderr of a run by the suite that is older."""
    code, out, err = conform("run", "--target", target, "--suite", "build/old", *more)
    return code, out.splitlines()[-1], err


def test_a_verdict_by_an_old_suite_says_so_and_keeps_its_exit_code(conform, old_suite):
    code, told, err = last("reference", conform)
    assert code == 0
    assert told.startswith("fine by an older version of the charter: no deviation from it; judged")
    assert "build/old is of an older version of the charter: the rules or properties of" in err
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
