"""Style and types, by the tools that know them; tests/unit/api/test_generated.py does the same
for generated files."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest
from tests.tidy.house import ROOT

TOOLS: Final = {
    "ruff": ("-m", "ruff", "check", "--no-cache", "--output-format=concise"),
    "format": ("-m", "ruff", "format", "--check", "--no-cache", "--output-format=concise"),
    "mypy": ("-m", "mypy"),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tool_is_silent_when_it_reads_the_tree(tool: str) -> None:
    result = subprocess.run(
        [sys.executable, *TOOLS[tool]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
