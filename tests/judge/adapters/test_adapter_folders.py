"""Folders of adapters that `conform generate --adapter` writes, and the example in each language:
a lease service with two planted bugs, judged from an empty folder, and again when it is mended."""

import json
import os
import shutil
import subprocess
import sys
from importlib import resources

import pytest
from tests.support.caches import own_cache
from tests.support.drawn.planted import mend

from charter import api
from conform.project.skeletons import write_example, write_files

TOOLS = {"go": "go", "java": "javac", "node": "node", "python": "python3", "rust": "cargo"}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in TOOLS if name != "python"]


def test_generate_writes_an_adapter_and_then_only_its_types(conform, toy, tmp_path):
    folder = tmp_path / "box-go"
    assert conform("generate", "--adapter", "go", toy, "--out", folder)[0] == 0
    types = folder / "charter" / "protocol.go"
    types.write_text(types.read_text().splitlines()[0] + "\n\npackage old\n")
    (folder / "main.go").write_text("mine")
    _, out, _ = conform("generate", "--adapter", "go", toy, "--out", folder)
    assert out.split() == [str(types)]
    assert "package charter" in types.read_text()
    assert (folder / "main.go").read_text() == "mine"
    types.write_text("mine")
    code, _, err = conform("generate", "--adapter", "go", toy, "--out", folder)
    assert (code, types.read_text()) == (2, "mine")
    assert "protocol.go holds something else, which would be lost" in err


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
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
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
    allowed = '\n[not_compared]\nobligations = "no search was made for this test"\n'
    with (folder / "adapter.toml").open("a") as file:
        file.write(allowed)
    assert conform("generate")[0] == 0
    code, out, err = conform("doctor", "--adapter", target)
    assert code == 0, out + err
    code, out, err = conform("run", "--target", target, "--engine", "inline", "--out", "found")
    assert code == 1, out + err
    assert "renew/lost: expected reply = false, got true" in out
    assert "acquire/granted: expected reply.token = #3, got #2" in out
    mend(folder)
    code, out, err = conform("run", "--target", target, "--engine", "inline", "--out", "mended")
    assert code == 0, out + err
    assert json.loads((leases / "mended" / "summary.json").read_text())["deviations"] == 0


def prepare(folder, target):
    command = [sys.executable, folder / "prepare.py", folder / "Cargo.toml", target]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def rust_adapter(folder):
    """The skeleton's prepare.py with a program that prints a number of another package."""
    skeleton = resources.files("conform").joinpath("templates/adapters/rust/prepare.py")
    package = '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n'
    files = {
        "adapter/Cargo.toml": package % "adapter" + '[dependencies]\nlease = {path = "../lease"}\n',
        "adapter/src/main.rs": 'fn main() { println!("{}", lease::number()); }\n',
        "adapter/prepare.py": skeleton.read_text(),
        "lease/Cargo.toml": package % "lease",
        "lease/src/lib.rs": "pub fn number() -> u8 { 1 }\n",
    }
    write_files(files, folder)
    return folder / "adapter", folder / "lease" / "src" / "lib.rs"


@pytest.mark.slow
def test_rust_adapter_is_built_anew_when_a_file_elsewhere_has_its_old_content_and_date(tmp_path):
    adapter, source = rust_adapter(tmp_path)
    shutil.copy2(source, tmp_path / "old.rs")
    numbers = []
    for text in ("pub fn number() -> u8 { 2 }\n", None, "pub fn number(", None):
        if text is None:
            shutil.copy2(tmp_path / "old.rs", source)
        else:
            source.write_text(text)
        (tmp_path / "built").mkdir(exist_ok=True)
        done = prepare(adapter, tmp_path / "built")
        assert done.stdout == "" and bool(done.stderr) == bool(done.returncode)
        numbers.append("error" if done.returncode else _run(tmp_path / "built/release/adapter"))
    assert numbers == ["2", "1", "error", "1"]


def _run(program):
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.strip()


CARGO = """#!/bin/sh
echo "$@" >> {log}
test $1 != metadata || echo '{{"packages": [
  {{"id": "here", "source": null, "manifest_path": "{folder}/lease/Cargo.toml"}},
  {{"id": "serde", "source": "registry", "manifest_path": "/elsewhere/Cargo.toml"}}]}}'
"""


def test_rust_packages_are_cleaned_when_their_content_changed(tmp_path, monkeypatch):
    adapter, source = rust_adapter(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "built" / "release").mkdir(parents=True)
    (tmp_path / "bin" / "cargo").write_text(CARGO.format(log=tmp_path / "log", folder=tmp_path))
    (tmp_path / "bin" / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    cleaned = []
    for text in ("one", "one", "two"):
        source.write_text(text)
        (tmp_path / "log").write_text("")
        assert prepare(adapter, tmp_path / "built").returncode == 0
        calls = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
        assert (calls[0][0], calls[-1][0]) == ("metadata", "build")
        cleaned.append([call[-1] for call in calls if call[0] == "clean"])
    assert cleaned == [["--package=here"], [], ["--package=here"]]
    (tmp_path / "built" / "contents.json").write_text('{"here": ')  # as after a kill
    assert prepare(adapter, tmp_path / "built").returncode == 0
    assert "--package=here" in (tmp_path / "log").read_text().splitlines()[-2]


def test_doctor_tells_of_a_prepare_that_goes_by_dates(conform, leases):
    generate = ("generate", "--adapter", "python", "spec/lease.charter", "--out", "adapters/mine")
    assert conform(*generate)[0] == conform("generate")[0] == 0
    file = leases / "adapters" / "mine" / "adapter.toml"
    file.write_text(file.read_text() + 'prepare = ["cargo", "--version"]\n')
    assert "goes by the dates of files" in conform("doctor", "--adapter", "mine")[2]
    file.write_text(file.read_text().replace('"cargo", "--version"', '"true"'))
    assert conform("doctor", "--adapter", "mine")[::2] == (0, "")
