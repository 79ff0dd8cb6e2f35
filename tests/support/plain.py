"""What the plain explorer finds in charters of spec/: each instance is searched once in a process,
whoever asks. Tests that ask for one instance are of one xdist group, so that they share it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from charter import api
from charter.core import nodes as n
from charter.core.vacuity import with_companions
from charter.explore.reference.explore import Exploration, Options, explore

SPEC = Path(__file__).resolve().parents[2] / "spec"
EXAMPLES = tuple(sorted(path.stem for path in (SPEC / "examples").glob("*.charter")))


@cache
def model(charter: str) -> n.Model:
    """Kafka's charter, or that of an example."""
    return api.load(SPEC / "kafka" if charter == "kafka" else SPEC / f"examples/{charter}.charter")


def instance(charter: str, name: str) -> n.Instance:
    """An instance of a charter."""
    return next(i for i in model(charter).instances if i.name == name)


@cache
def with_companions_explored(charter: str, name: str, *, symmetry: bool = True) -> Exploration:
    """A search to the end for all properties, and for what tells whether they are ever met."""
    chosen = instance(charter, name)
    whole, _ = with_companions(model(charter), chosen.machine)
    return explore(whole, chosen, Options(symmetry=symmetry))


def explored(charter: str, name: str, *, symmetry: bool = True) -> Exploration:
    """The same search, without the companions: their names are those with a blank."""
    found = with_companions_explored(charter, name, symmetry=symmetry)
    mine = tuple(finding for finding in found.properties if " " not in finding.name)
    return replace(found, properties=mine)


def together(charter: str, name: str) -> pytest.MarkDecorator:
    """The mark of tests that ask for searches of an instance of Kafka, or of an example."""
    return pytest.mark.xdist_group(f"kafka {name}" if charter == "kafka" else charter)


def of_kafka(names: Iterable[str]) -> list[object]:
    """Kafka's instances as parameters of a test."""
    return [pytest.param(name, marks=together("kafka", name)) for name in names]


def examples(names: Iterable[str] = EXAMPLES) -> list[object]:
    """Examples as parameters of a test."""
    return [pytest.param(name, marks=together(name, "tiny")) for name in names]
