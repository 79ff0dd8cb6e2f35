"""What workers without a shared folder are sent: archives of models and files, and the suite."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conform.adapters.base import AdapterStart
from conform.adapters.prepared import adapter_files
from conform.adapters.targets import python_path
from conform.console.errors import BadSuite, CannotStart, CannotWrite
from conform.runs.engines.shipping import Shipment, pack, pack_packages
from conform.runs.run_context import RunContext
from conform.suites.cache import open_suite
from conform.suites.shared import copy_buckets, in_cache, remove_copies


@pytest.fixture
def context(tmp_path):
    """A run of an adapter with a program, a folder of jars and models in two folders."""
    home = tmp_path / "driver"
    for name in ("a/charter_models/lamp.py", "b/charter_models/lamp.py", "b/charter_models/door.py",
                 "adapter/main.py", "adapter/__pycache__/main.pyc", "jars/one.jar",
                 "jars-extra/two.jar"):  # fmt: skip
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"# {name}")
    (home / "adapter" / "main.py").chmod(0o755)
    said = [f"{home}/jars/*:{home}/jars-extra/two.jar", "4.0", f"{home}/nothing"]
    before = {"LANG": "C", "PYTHONPATH": "/of/the/driver"}
    command = (sys.executable, f"{home}/adapter/main.py", "-cp", said[0], f"{home}/adapterless")
    return RunContext(
        "run", "", AdapterStart(command, environment=before), folders=(f"{home}/a", f"{home}/b"),
        files=adapter_files(home / "adapter", said),
    )  # fmt: skip


def test_files_of_an_adapter_are_its_folder_and_what_prepare_printed(context, tmp_path):
    home = tmp_path / "driver"
    found = [f"{home}/adapter", f"{home}/jars", f"{home}/jars-extra/two.jar"]
    assert list(context.files) == found


def test_worker_has_models_and_files_under_its_own_paths(context, tmp_path):
    archive, shipment = pack(context)
    there = tmp_path / "worker"
    there.mkdir()
    sent = archive.rename(there / archive.name)
    got = shipment.receive(context, sent)
    (models,) = got.folders
    assert models.startswith(str(there))
    text = (there / models / "charter_models" / "lamp.py").read_text()
    assert text == "# a/charter_models/lamp.py"  # the first folder counts
    assert (there / models / "charter_models" / "door.py").exists()
    python, program, _, classes, other = got.start.command
    jars, one = classes.split(":")
    assert (python, jars.endswith("/jars/*")) == (sys.executable, True)
    assert other == f"{tmp_path}/driver/adapterless"
    for path in (program, one, jars.replace("*", "one.jar")):
        assert path.startswith(str(there))
        assert Path(path).is_file()
    assert os.access(program, os.X_OK)
    assert not list(there.rglob("*.pyc"))
    assert got.start.environment == {"LANG": "C", **python_path()}


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("/jars/x/y", "/w/files/0/y"),
        ("-I/jars/x", "-I/w/files/0"),
        ("--jars=/jars/x:/jars/x/y", "--jars=/w/files/0:/w/files/0/y"),
        ("/a/jars/x", "/a/jars/x"),
        ("-L/a/jars/x:/jars/xs", "-L/a/jars/x:/jars/xs"),
    ],
)
def test_paths_are_replaced_where_they_begin(part, wanted):
    shipment = Shipment("", "", {"/jars/x": "files/0"})
    assert shipment.part(part, "/w") == wanted
    assert Shipment("", "", {}).part(part, "/w") == part


def test_archive_that_was_changed_is_refused(context):
    archive, shipment = pack(context)
    with archive.open("ab") as file:
        file.write(b"more")
    with pytest.raises(CannotStart, match="another digest"):
        shipment.receive(context, archive)


def test_packages_can_be_imported_from_their_archive_alone():
    program = "import conform.runs.engines.bucket as b, sys; print(b.__file__)"
    run = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, sys.argv[1]); {program}"]
    bundle = str(pack_packages())
    said = subprocess.run([*run, bundle], capture_output=True, text=True, check=True).stdout
    assert said.startswith(bundle)


@pytest.fixture
def suite(toy_suite, tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    return open_suite(str(toy_suite), 2)


def test_copies_of_a_suite_have_its_vectors(suite, tmp_path):
    place = f"file://{tmp_path}/run"
    every = range(suite.buckets)
    for shared in (in_cache(suite, every), copy_buckets(suite, every, place)):
        assert [list(one.items()) for one in shared] == [list(suite.items(b)) for b in every]
    remove_copies(place)
    assert not list((tmp_path / "run").iterdir())


def test_copy_that_was_changed_or_is_missing_is_told(suite, tmp_path):
    place = f"file://{tmp_path}/run"
    one, other, *_ = copy_buckets(suite, range(suite.buckets), place)
    (tmp_path / "run" / one.name).write_bytes((tmp_path / "run" / other.name).read_bytes())
    with pytest.raises(BadSuite, match="was changed while it was judged"):
        next(one.items())
    (tmp_path / "run" / other.name).unlink()
    with pytest.raises(BadSuite, match="all workers must reach this folder"):
        next(other.items())


@pytest.mark.parametrize("place", ["nonsense://a/b", "file://a/b"])
def test_uri_that_names_no_file_system_is_told(suite, place):
    with pytest.raises(CannotWrite, match="names no file system"):
        copy_buckets(suite, [0], place)
