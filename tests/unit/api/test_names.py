"""The public interface has every name that it lists, and so has its page."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from charter import api

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "api.md"
MEMBERS = re.compile(r"^\.\. automodule:: (\S+)\n   :members: (.+(?:\n      .+)*)", re.MULTILINE)


@pytest.mark.parametrize("name", api.__all__)
def test_a_listed_name_is_there(name: str) -> None:
    assert getattr(api, name) is not None


def test_the_walks_are_not_imported_when_the_interface_is() -> None:
    code = "import sys, charter.api; print('charter.explore.swarm' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_a_name_on_the_page_is_a_public_name_with_a_docstring() -> None:
    listed = MEMBERS.findall(PAGE.read_text(encoding="utf-8"))
    assert len(listed) > 10
    for module, names in listed:
        for name in re.split(r",\s+", names):
            assert getattr(import_module(module), name).__doc__, f"{module}.{name}"
