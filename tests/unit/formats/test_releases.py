"""Ranges of releases."""

from __future__ import annotations

import pytest

from charter.formats.releases import numbers, within


def test_numbers_of_a_release() -> None:
    shown = [numbers(release) for release in ("4.3.1", "4.2-rc1", "3.9.0-rc.1", "trunk", "")]
    assert shown == [(4, 3, 1), (4, 2), (3, 9, 0), (0,), ()]


@pytest.mark.parametrize(
    ("release", "first", "last", "inside"),
    [
        ("4.0.2", "4.0", "", True),
        ("3.9.1", "4.0", "", False),
        ("4.3.1", "", "4.3", True),
        ("4.3.1", "", "4.2.9", False),
        ("4.10", "4.9", "4.11", True),
        ("4.0", "", "", True),
        ("4.0", "4.0.0", "", True),
        ("4.0", "4.0.1", "", False),
        ("4.0", "", "4.0.0", True),
        ("4.2-rc1", "4.1", "", True),
        ("4.2-rc1", "", "4.1", False),
        ("4.2-rc1", "4.2", "4.2", True),
    ],
)
def test_whether_a_release_is_in_a_range(release: str, first: str, last: str, inside: bool) -> None:
    assert within(release, first, last) is inside
