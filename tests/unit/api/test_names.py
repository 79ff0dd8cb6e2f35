"""The public interface has every name that it lists."""

import subprocess
import sys

import pytest

from charter import api


@pytest.mark.parametrize("name", api.__all__)
def test_a_listed_name_is_there(name: str) -> None:
    assert getattr(api, name) is not None


def test_the_walks_are_not_imported_when_the_interface_is() -> None:
    code = "import sys, charter.api; print('charter.explore.swarm' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
