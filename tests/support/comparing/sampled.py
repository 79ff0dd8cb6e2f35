"""Tests that take long for each of many values: `make test` runs some, `make slow` all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings

T = TypeVar("T")
DRAWN = settings(
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""Of tests that draw charters: what fails is not made smaller, which takes minutes."""


def few_or_all(few: int, every: int) -> pytest.MarkDecorator:
    """How many `examples` a test draws: `make test` a few, `make slow` all."""
    slow = pytest.param(every, marks=[pytest.mark.slow])
    return pytest.mark.parametrize("examples", [few, slow])


def sample(values: Iterable[T], most: int, name: Callable[[T], str] = str) -> list[object]:
    """The values as parameters of a test; all but `most` of them are of slow tests. They are drawn
    by the hash of their names, so that a new value changes one of the others at most."""
    named = {name(value): value for value in values}
    drawn = sorted(named, key=lambda text: sha256(text.encode()).digest())[:most]
    return [
        pytest.param(value, id=text, marks=[] if text in drawn else [pytest.mark.slow])
        for text, value in named.items()
    ]
