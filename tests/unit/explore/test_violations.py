"""What a running search tells of violations, and that a search for few more states finds them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from charter import api
from charter.explore.result import FirstViolation

SYSTEM = """protocol test.ends
system lamp {
  state lit: int 0..3 = 0
  step press() { require lit < 3  lit' = lit + 1 }
}
always low of lamp cites silent: lit < 2
stepwise slow of lamp cites silent: lit' < 3
witness shines of lamp: lit == 1
instance tiny of lamp { }
"""
UNDEFINED = """protocol test.undefined
component box {
  state at: option int 0..9 = none
  state last: int 0..9 = 0
  operation fill() -> bool cites silent { branch done { at' = present(3) reply true } }
  operation drop() -> bool cites silent { branch done { last' = value(at) reply true } }
}
always three of box cites silent: value(at) == 3
witness filled of box: at != none
instance tiny of box { }
"""
EXAMPLES = Path(__file__).resolve().parents[3] / "spec" / "examples"


def list_told(
    model: api.Model, engine: Literal["native", "reference"], workers: int = 1
) -> list[FirstViolation]:
    """What a search tells; each is found by a search for one state more, by as many steps."""
    told: list[FirstViolation] = []
    options = api.ExploreOptions(engine=engine, workers=workers, on_violation=told.append)
    found = api.explore(model, "", options, lambda *_: None)
    wrong = {(one.kind, one.name) for one in found.failures}
    wrong |= {(p.kind, p.name) for p in found.properties if p.seen and p.kind != "witness"}
    assert {(one.kind, one.name) for one in told} == wrong and len(told) == len(wrong)
    for one in told:
        few = replace(options, on_violation=None, most_states=one.states + 1)
        again = api.explore(model, "", few, lambda *_: None)
        (same,) = (
            p
            for p in (*again.properties, *again.failures)
            if (p.kind, p.name) == (one.kind, one.name)
        )
        assert same.trace is not None and len(same.trace) == one.steps
    return told


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_every_violation_is_told_once_with_its_steps(
    engine: Literal["native", "reference"],
) -> None:
    steps = {one.name: one.steps for one in list_told(api.load_text(SYSTEM), engine)}
    assert steps == {"low": 2, "slow": 3, "deadlock": 3}


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_value_that_does_not_exist_is_told_with_its_steps(
    engine: Literal["native", "reference"],
) -> None:
    steps = {one.name: one.steps for one in list_told(api.load_text(UNDEFINED), engine)}
    assert steps == {"three": 0, "drop": 1}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_violation_of_a_mutant_is_told_by_any_number_of_workers(workers: int) -> None:
    chosen = api.Selection(mutant="proposes_what_it_wants")
    model = api.load(EXAMPLES / "paxos.charter", chosen)
    assert list_told(model, "native", workers)
