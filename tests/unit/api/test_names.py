"""The public interface has every name that it lists."""

import subprocess
import sys

import pytest

from charter import api


@pytest.mark.parametrize("name", api.__all__)
def test_a_listed_name_is_there(name: str) -> None:
    assert getattr(api, name) is not None


def test_a_name_that_is_not_listed_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'unknown'"):
        api.unknown  # noqa: B018


def test_types_of_results_are_not_imported_before_they_are_asked_for() -> None:
    code = "import sys, charter.api; print('charter.explore.swarm' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
