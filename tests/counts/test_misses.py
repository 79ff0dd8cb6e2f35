"""What the instances of the charters miss is exactly what they say: a branch that an edit makes
dead, or a property that it leaves with nothing to say, is found in the instance that met it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from charter import api
from charter.api import verdicts
from charter.api.charters import load_charter
from charter.core import nodes as n
from charter.explore.result import Unmet

ROOT = Path(__file__).resolve().parents[2]
KAFKA = ROOT / "spec" / "kafka"
EXAMPLES = ROOT / "spec" / "examples"
PINNED = sorted(pin.stem for pin in (Path(__file__).parent / "kafka").glob("*.txt"))
SMALL = ["tiny_follower"]
"""Instances that `make test` searches again."""


@cache
def opened(path: Path, mutant: str = "") -> n.Model:
    return api.load(path, api.Selection(mutant=mutant))


def explored(path: Path, instance: str, mutant: str = "") -> api.SearchResult:
    return api.explore(opened(path, mutant), instance, api.ExploreOptions(), lambda *_: None)


def test_no_instance_of_kafka_misses_anything_else_than_it_says() -> None:
    """By the committed searches of the charter as it is now; `make slow` searches again."""
    charter, model = load_charter(KAFKA)
    rows = verdicts.current(charter, verdicts.read_verdicts(verdicts.verdicts_file(KAFKA)))
    whole = {r.instance: r.misstated for r in rows if r.complete and not (r.variant or r.mutant)}
    assert set(PINNED) <= set(whole) <= {i.name for i in model.instances}
    assert {name: said for name, said in whole.items() if said} == {}


@pytest.mark.parametrize(
    ("path", "instance"),
    [
        *(
            pytest.param(KAFKA, name, marks=() if name in SMALL else [pytest.mark.slow])
            for name in PINNED
        ),
        *((path, "tiny") for path in sorted(EXAMPLES.glob("*.charter"))),
    ],
    ids=lambda value: getattr(value, "stem", value),
)
def test_an_instance_misses_what_it_says_and_nothing_else(path: Path, instance: str) -> None:
    found = explored(path, instance)
    assert found.complete
    assert (found.vacuous, found.not_missed, found.not_failed) == ((), (), ())


def test_what_an_edit_makes_dead_is_found() -> None:
    found = explored(EXAMPLES / "ring_election.charter", "tiny", "forgets_to_pass_on")
    assert found.vacuous == (Unmet("witness", "everybody_knows"), Unmet("branch", "rest"))
