"""Python files of the working folder are not run, whatever their names are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.judging import environment

import charter
import conform
from conform.adapters.base import AdapterStart
from conform.adapters.targets import SAFE_PATH, adapter_environment
from conform.judging.verdict import VectorItem
from conform.runs.canaries import canaries
from conform.runs.run_context import RunContext

HARMLESS = ("conform.py", "charter/__init__.py", "charter_models.py", "types.py", "tempfile.py",
            "random.py", "multiprocessing.py", "pyspark.py", "pickle.py")  # fmt: skip
ROOTS = [Path(next(iter(package.__path__))) for package in (charter, conform)]
_BEHIND_PIPES = canaries._behind_pipes  # in the other tests it stays in this process


@pytest.fixture
def hostile(tmp_path):
    """A folder with files of harmless names; each of them notes that it was run."""
    note = tmp_path / "RAN"
    for name in HARMLESS:
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(note)!r}, 'a').write({name!r})")
    return note


def conform_there(hostile, *arguments, code=0):
    script = hostile.with_name("conform-script")  # as pip installs it, Python looks beside it
    script.write_text("import sys; from conform.cli.main import main; sys.exit(main())")
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        cwd=hostile.parent / "work", env={**os.environ, **environment()},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert not hostile.exists(), hostile.read_text()
    return done.stdout + done.stderr


def test_run_imports_nothing_from_the_working_folder(hostile, targets_folder, toy_suite, tmp_path):
    conform_there(hostile, "run", "--target", tmp_path / "adapters" / "reference", "--suite",
                  toy_suite, "--engine", "inline", "--out", tmp_path / "run")  # fmt: skip


def test_workers_of_spark_import_nothing_from_their_working_folder(spark):
    numbers = spark.sparkContext.parallelize([0], 1)
    assert numbers.map(lambda _: sys.flags.safe_path).collect() == [True]


def test_an_adapter_imports_what_it_would_if_the_user_started_it(monkeypatch):
    """The variable is for our own processes. Spark's workers have it, and start adapters."""
    assert adapter_environment()[SAFE_PATH] == ""
    monkeypatch.setenv(SAFE_PATH, "1")
    assert adapter_environment()[SAFE_PATH] == "1"


def test_a_module_of_ours_is_started_without_the_working_folder():
    for root in ROOTS:
        for path in root.rglob("*.py"):
            found = re.findall(r'sys\.executable,[^)]*?"-m"', path.read_text())
            assert all('"-P"' in start for start in found), path


def test_canary_that_cannot_start_says_why(monkeypatch):
    context = RunContext("run", "", AdapterStart(()), model="charter_models.absent", folders=("x",))
    monkeypatch.setattr(canaries, "_behind_pipes", _BEHIND_PIPES)
    told = canaries._reference(context, [VectorItem("v", b"", b"", b"", "")], "bucket 0")
    assert not told.ok
    assert told.detail.startswith("1 of 1 do not conform: the adapter did not start")
    assert "charter_models.absent" in told.detail
