"""The commands of the Makefile: what they say where something is missing."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.tidy.house import ROOT

MAKE: Final = shutil.which("make") or "make"
COMMANDS: Final = (
    "setup",
    "demo",
    "test",
    "slow",
    "check",
    "docs",
    "generate",
    "bench",
    "dist",
    "clean",
)


def make(*arguments: str, path: str) -> subprocess.CompletedProcess[str]:
    """Run make with another PATH, and as if nobody had called make before."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        [MAKE, *arguments],
        cwd=ROOT, env={**outer, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder of programs for PATH: a shell, sed and Python, but neither a JDK nor Maven."""
    for name in ("sh", "sed", "awk", "grep"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    (tmp_path / "python3").symlink_to(sys.executable)
    return tmp_path


def program(folder: Path, name: str, says: str) -> None:
    """A program that says something."""
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_help_lists_every_command_when_asked() -> None:
    result = make("help", path=os.environ["PATH"])
    assert re.findall(r"^  make (\w+)", result.stdout, re.MULTILINE) == ["help", *COMMANDS]


def test_a_missing_jdk_is_one_sentence_when_it_is_needed(bare: Path) -> None:
    result = make("-s", "need-java", path=str(bare))
    assert result.returncode == 2
    assert result.stderr.startswith("A JDK of version 17 or newer is needed")


def test_an_old_jdk_is_one_sentence_when_it_is_needed(bare: Path) -> None:
    program(bare, "javac", "javac 11.0.2")
    program(bare, "mvn", "Apache Maven 3.9.9")
    result = make("-s", "need-java", path=str(bare))
    assert result.returncode == 2
    assert result.stderr.startswith("The JDK on the path is older than 17")


def test_a_jdk_that_tells_its_options_first_is_as_new_as_it_says(bare: Path) -> None:
    said = "Picked up JAVA_TOOL_OPTIONS: -Da=b" + "\n" + "javac 17.0.15"
    program(bare, "javac", said)
    program(bare, "mvn", "Apache Maven 3.9.9")
    assert make("-s", "need-java", path=str(bare)).returncode == 0


def test_missing_maven_is_one_sentence_when_it_is_needed(bare: Path) -> None:
    program(bare, "javac", "javac 17.0.15")
    result = make("-s", "need-java", path=str(bare))
    assert result.returncode == 2
    assert result.stderr.startswith("Maven is needed")


def test_a_missing_python_is_one_sentence_when_it_is_needed(bare: Path) -> None:
    result = make("-s", "need-python", "PYTHON=python-that-is-not-there", path=str(bare))
    assert result.returncode == 2
    assert "Python 3.11 or newer is needed" in result.stderr


def test_the_first_python_that_will_do_makes_the_environment_when_none_is_named(bare: Path) -> None:
    program(bare, "old", "3.9")
    (bare / "old").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    pythons = f"PYTHONS={bare / 'missing'} {bare / 'old'} {sys.executable} python3"
    made = make("-n", "-W", "pyproject.toml", "setup", pythons, path=str(bare))
    assert f"{sys.executable} -m venv .venv" in made.stdout
    none = make("-s", "need-python", f"PYTHONS={bare / 'old'}", path=str(bare))
    assert none.returncode == 0, "python3 on the path is taken"


def test_all_tests_run_at_once_and_named_ones_alone_when_asked() -> None:
    every = make("-n", "test", path=os.environ["PATH"])
    assert every.stdout.splitlines()[-1].endswith(" -m pytest -n 2 --dist loadgroup")
    some = make("-n", "test", "ONLY=tests/unit tests/tidy", path=os.environ["PATH"])
    assert some.stdout.splitlines()[-1].endswith(" -m pytest tests/unit tests/tidy")


def test_ci_runs_exactly_the_tests_when_it_is_called() -> None:
    script = ROOT / ".ci/run"
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in lines
    assert lines[-1] == "exec make test </dev/null"
    assert os.access(script, os.X_OK)
