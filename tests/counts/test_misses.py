"""What the instances of the charters miss is exactly what they say: a branch that an edit makes
dead, or a property that it leaves with nothing to say, is found in the instance that met it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from charter import api
from charter.core import nodes as n
from charter.explore.result import Unmet

ROOT = Path(__file__).resolve().parents[2]
KAFKA = ROOT / "spec" / "kafka"
EXAMPLES = ROOT / "spec" / "examples"
SLOW = {
    "pair_shut_down_unseen", "pair_shut_down_both", "trio_reassigned", "pair_lowered",
    "pair_produced_lost", "pair_produced_to_one", "pair_last_known", "pair_manual",
}  # fmt: skip
"""Instances that take seconds, none of which is the only one to meet a rule."""
PINNED = sorted(pin.stem for pin in (Path(__file__).parent / "kafka").glob("*.txt"))
WHOLE = [
    *(
        pytest.param(KAFKA, name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in PINNED
    ),
    *((path, "tiny") for path in sorted(EXAMPLES.glob("*.charter"))),
]


@cache
def opened(path: Path, mutant: str = "") -> n.Model:
    return api.load(path, api.Selection(mutant=mutant))


def explored(path: Path, instance: str, mutant: str = "") -> api.SearchResult:
    return api.explore(opened(path, mutant), instance, api.ExploreOptions(), lambda *_: None)


@pytest.mark.parametrize(
    ("path", "instance"), WHOLE, ids=lambda value: getattr(value, "stem", value)
)
def test_an_instance_misses_what_it_says_and_nothing_else(path: Path, instance: str) -> None:
    found = explored(path, instance)
    assert found.complete
    assert (found.vacuous, found.not_missed, found.not_failed) == ((), (), ())


def test_what_an_edit_makes_dead_is_found() -> None:
    found = explored(EXAMPLES / "ring_election.charter", "tiny", "forgets_to_pass_on")
    assert found.vacuous == (Unmet("witness", "everybody_knows"), Unmet("branch", "rest"))
