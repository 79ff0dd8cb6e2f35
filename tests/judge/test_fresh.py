"""Whether models and suite are those of the charter as it is now."""

import pytest
from tests.support import charters

from charter import api
from conform.cli.commands.fresh import older_than_charter

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
    assert older_than_charter("lamp", "") == ""
    charter.write_text(charters.LAMP.replace("reply false", "reply true"))
    told = older_than_charter("lamp", "")
    assert told.startswith("the judge works by an older version of the charter: the rules of lamp")
    assert "run `conform generate`" in told
    assert told in conform("run", "--target", "lamp")[2]
    assert conform("generate")[0] == 0
    assert older_than_charter("lamp", "") == ""


def test_a_comment_or_another_layout_is_no_other_version(charter):
    charter.write_text(charters.LAMP + "-- a comment\n")
    assert older_than_charter("lamp", "") == ""


def test_the_charter_is_compiled_only_after_a_change(charter, monkeypatch):
    assert older_than_charter("lamp", "") == ""
    monkeypatch.setattr(api, "spec_digest", lambda *_: pytest.fail("it is compiled again"))
    assert older_than_charter("lamp", "") == ""


def test_a_charter_that_is_gone_or_wrong_is_told(charter):
    charter.write_text(charters.LAMP.replace("reply false", "reply 7"))
    told = older_than_charter("lamp", "")
    assert told.startswith("the charter of lamp lamp has errors now")
    charter.unlink()
    assert "are in no charter of the project any more" in older_than_charter("lamp", "")


def test_another_file_that_cannot_be_read_is_no_error_of_the_charter(charter):
    charter.with_name("bad.charter").write_bytes(b"\xff")
    told = older_than_charter("lamp", "")
    assert told.startswith("cannot tell whether lamp lamp changed since generated/ was made")
    assert "bad.charter" in told
