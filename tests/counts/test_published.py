"""The charters that are measured against published specifications find the states that are
published for these: a charter that says something else would be measured in vain."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.engines import natively

from charter import api

CHARTERS = Path(__file__).resolve().parents[1] / "benchmarks" / "published"


@pytest.mark.parametrize(
    ("charter", "instance", "distinct", "depth", "symmetry"),
    [
        ("two_phase", "published", 288, 11, False),
        pytest.param("simple_regular", "published", 277_726, 25, False, marks=pytest.mark.slow),
        pytest.param("slush", "published", 274_678, 43, False, marks=pytest.mark.slow),
        pytest.param("lamport_mutex", "published", 724_274, 61, False, marks=pytest.mark.slow),
        pytest.param("multi_paxos", "small", 343_796, 28, True, marks=pytest.mark.slow),
        pytest.param("paxos_commit", "published", 1_321_761, 28, False, marks=pytest.mark.slow),
    ],
)
def test_a_published_specification_has_the_published_number_of_states(
    charter: str, instance: str, distinct: int, depth: int, symmetry: bool
) -> None:
    model = api.load(CHARTERS / f"{charter}.charter")
    (chosen,) = (each for each in model.instances if each.name == instance)
    found = natively(model, chosen, symmetry=symmetry)
    assert (found.counts.distinct, len(found.counts.levels)) == (distinct, depth)
    assert found.fine
