"""Mistakes by somebody who had not seen the properties (docs/benchmarks/mistakes-kafka.md): each
fails the property that it names, in the instance that it names."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from tests.support import spec
from tests.support.comparing.sampled import sample
from tests.support.engines import natively

from charter import api

MISTAKES = Path(__file__).parent / "unseen_mistakes.charter"
NAMES = re.findall(r"^mutant (\w+)", MISTAKES.read_text("utf-8"), re.MULTILINE)


@cache
def open_charter() -> api.Charter:
    sources = api.read_sources(spec.SPEC / "kafka")
    return api.Charter((*sources, api.Source(MISTAKES.name, MISTAKES.read_text("utf-8"))))


def test_there_are_ten() -> None:
    assert len(NAMES) == 10


@pytest.mark.parametrize("name", sample(NAMES, 1))
def test_a_mistake_fails_the_property_when_its_instance_is_searched(name: str) -> None:
    edited = open_charter().model(api.Selection(mutant=name))
    (mutant,) = (one for one in edited.mutants if one.name == name)
    instance = next(one for one in edited.instances if one.name == mutant.instance)
    assert mutant.caught_by not in instance.fails
    found = {one.name: one for one in natively(edited, instance).properties}
    assert found[mutant.caught_by].seen
