"""Folders of adapters that `conform generate --adapter` writes, and the example in each language:
a lease service with two planted bugs, judged from an empty folder, and again when it is mended."""

import json
import shutil
from importlib import resources

import pytest
from tests.support.planted import mend

from charter import api
from conform.project.skeletons import write_example

TOOLS = {"go": "go", "java": "javac", "node": "node", "python": "python3", "rust": "cargo"}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in TOOLS if name != "python"]


def test_generate_writes_an_adapter_and_then_only_its_types(conform, toy, tmp_path):
    folder = tmp_path / "box-go"
    assert conform("generate", "--adapter", "go", toy, "--out", folder)[0] == 0
    types = folder / "charter" / "protocol.go"
    types.write_text("old")
    (folder / "main.go").write_text("mine")
    _, out, _ = conform("generate", "--adapter", "go", toy, "--out", folder)
    assert out.split() == [str(types)]
    assert "package charter" in types.read_text()
    assert (folder / "main.go").read_text() == "mine"


def test_generate_overwrites_nothing_in_a_folder_without_an_adapter(conform, toy, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "README.md").write_text("mine")
    code, _, err = conform("generate", "--adapter", "python", toy, "--out", folder)
    assert (code, err.count("\n")) == (2, 1)
    assert "README.md exists, and nothing is overwritten" in err
    assert [path.name for path in folder.iterdir()] == ["README.md"]
    assert (folder / "README.md").read_text() == "mine"


def test_every_language_has_an_example():
    assert sorted(TOOLS) == sorted(api.LANGUAGES)


@pytest.fixture
def leases(tmp_path, monkeypatch):
    """An empty folder with the charter of leases."""
    text = resources.files("conform").joinpath("templates/charters/lease.charter").read_text()
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "lease.charter").write_text(text)
    (tmp_path / "charter.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("language", ["python", *SLOW])
def test_a_skeleton_passes_doctor(conform, leases, language):
    assert shutil.which(TOOLS[language]), f"{TOOLS[language]} is needed to try this adapter"
    adapter = ("generate", "--adapter", language, "spec/lease.charter", "--out", "adapters/mine")
    assert conform(*adapter)[0] == 0
    assert conform("generate")[0] == 0
    code, out, err = conform("doctor", "--adapter", "mine")
    assert code == 0, out + err


@pytest.mark.parametrize("language", ["python", *SLOW])
def test_the_example_has_two_findings_and_conforms_when_it_is_mended(conform, leases, language):
    assert shutil.which(TOOLS[language]), f"{TOOLS[language]} is needed to build this example"
    target, folder = f"lease-{language}", leases / "adapters" / f"lease-{language}"
    conform("generate", "--adapter", language, "spec/lease.charter", "--out", folder)
    write_example(language, folder)
    assert conform("generate")[0] == 0
    code, out, err = conform("doctor", "--adapter", target)
    assert code == 0, out + err
    code, out, err = conform("run", "--target", target, "--engine", "inline", "--out", "found")
    assert code == 1, out + err
    assert "renew/lost: expected reply = false, got true" in out
    assert 'acquire/granted: expected reply.token = "#3", got "#2"' in out
    mend(folder)
    code, out, err = conform("run", "--target", target, "--engine", "inline", "--out", "mended")
    assert code == 0, out + err
    assert json.loads((leases / "mended" / "summary.json").read_text())["deviations"] == 0
