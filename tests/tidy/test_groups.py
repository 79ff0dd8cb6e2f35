"""Tests of one group run in one worker, and so do the other tests of one file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.support.scheduling import ByFile
from tests.tidy.house import ROOT

NUMBER: Final = 12
TESTS: Final = f"""
import os
from pathlib import Path

import pytest


@pytest.fixture
def spark():
    return Path(__file__).parent


@pytest.mark.parametrize("number", range({NUMBER}))
def test_session(number, spark):
    (spark / f"{{os.getpid()}}.worker").touch()
    assert number != 7


@pytest.mark.parametrize("number", range({NUMBER}))
def test_alone(number):
    (Path(__file__).parent / f"{{os.getpid()}}.alone").touch()
"""


@pytest.mark.slow
def test_those_that_use_spark_or_are_of_one_file_run_in_one_worker(tmp_path: Path) -> None:
    (tmp_path / "test_of_spark.py").write_text(TESTS, encoding="utf-8")
    options = ["-n", "2", "--dist", "loadgroup", "-c", "pyproject.toml", "-p", "tests.conftest"]
    # A folder of its own: pytest would remove those of earlier runs, which can take a minute.
    options += ["--basetemp", str(tmp_path / "folders")]
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=ROOT, env=outer, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"1 failed, {2 * NUMBER - 1} passed" in done.stdout, done.stdout + done.stderr
    assert len(list(tmp_path.glob("*.worker"))) == 1
    assert len(list(tmp_path.glob("*.alone"))) == 1
    failed = next(line for line in done.stdout.splitlines() if line.startswith("FAILED"))
    assert failed.split(" - ")[0].endswith("test_of_spark.py::test_session[7]")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("tests/test_a.py::test_b[x::y@z]", "tests/test_a.py"),
        ("tests/test_a.py::test_b", "tests/test_a.py"),
        ("tests/test_a.py::test_b[x]@real Kafka", "real Kafka"),
    ],
)
def test_a_worker_gets_a_group_or_the_other_tests_of_a_file(name: str, unit: str) -> None:
    assert ByFile.__new__(ByFile)._split_scope(name) == unit
