"""Sections 1 to 3 of "a tool that anyone can install", sentence by sentence: the wheel alone, in a
root folder without the checkout."""

from __future__ import annotations

import subprocess

import pytest
from tests.support.installed import ROOT, Installed


@pytest.mark.slow
@pytest.mark.network
def test_the_checkout_is_not_there(installed: Installed) -> None:
    assert installed.run("ls", str(ROOT))[:2] == (2, "")
    find = "from importlib.util import find_spec as f; print(f('charter_models'), f('z3'))"
    assert installed.run(f"{installed.bin}/python", "-c", find)[1] == "None None\n"
    asked = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"+g{commit.strip()}" in installed.conform("--version")[1]
