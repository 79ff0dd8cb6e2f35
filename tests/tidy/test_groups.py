"""Tests of one group run in one worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
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
    pass
"""


@pytest.mark.slow
def test_the_tests_that_use_spark_run_in_one_of_two_workers(tmp_path: Path) -> None:
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
    failed = next(line for line in done.stdout.splitlines() if line.startswith("FAILED"))
    assert failed.split(" - ")[0].endswith("test_of_spark.py::test_session[7]")
