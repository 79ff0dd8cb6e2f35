"""A shortened walk is a run of the instance, fails, and fails no more without any one step."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from charter import api
from charter.analysis.environment import list_offered
from charter.core import nodes as n
from charter.core.transition import is_of_transition
from charter.explore.result import Trace
from charter.explore.simulate import WalkPlan, simulate
from charter.semantics.expressions import Scope, State
from charter.semantics.machine import Machine

EXAMPLES = Path(__file__).resolve().parents[3] / "spec" / "examples"

LAMP = """protocol test.lamp
component lamp {
  state on: bool = false
  state broken: bool = false
  state noise: int 0..3 = 0
  operation switch() -> bool { branch switched { on' = true  reply true } }
  operation hit() -> bool { branch hit { broken' = true  reply true } }
  operation hum(n: int 0..3) -> bool { branch hummed { noise' = n  reply true } }
}
instance tiny of lamp { only hit if on }
witness lit of lamp: on
always whole of lamp: not broken
"""
"""Breaks by `hit` alone, which the instance offers only after `switch`."""

TERMS = """protocol test.terms
counter Term
fun later(t: Term) -> Term cites silent = bump(t)
component door {
  state term: Term = 0
  state broken: bool = false
  state noise: bool = false
  operation raise_term() -> bool { branch raised { term' = bump(term)  reply true } }
  operation open(t: Term) -> bool {
    branch broke when t == later(later(0)) { broken' = true  reply true }
    branch ignored { reply false }
  }
  operation hum() -> bool { branch hummed { noise' = not noise  reply true } }
}
instance tiny of door { only open if term <= 3 }
witness hummed of door: noise
always whole of door: not broken
"""
"""Breaks by `open(2)` alone, which is offered only after `raise_term` made a 1."""

LOCK = """protocol test.lock
component door {
  state locked: bool = false
  state hits: int 0..2 = 0
  operation lock() -> bool { branch locked { locked' = true  reply true } }
  operation unlock() -> bool { branch unlocked { locked' = false  reply true } }
  operation hit() -> bool {
    branch hit when hits < 2 { hits' = hits + 1  reply true }
    branch ignored { reply false }
  }
}
instance tiny of door { only hit if not locked }
witness shut of door: locked
always whole of door: hits < 2
"""
"""`unlock` is not needed once an earlier `lock` is dropped."""


def is_run(model: n.Model, trace: Trace, broken: str) -> bool:
    """Whether a trace is offered step by step, in some run, and the property then fails."""
    instance = model.instances[0]
    machine = Machine.of(model, instance)
    first = machine.initial()
    runs = [machine.scope(first, first)]
    for step in trace:
        runs = [
            machine.scope(before, outcome.state, outcome.branch, step.args)
            for before in map(reach, runs)
            if (step.operation, step.args) in set(list_offered(machine, before))
            for outcome in machine.outcomes(before, step.operation, step.args)
            if outcome.branch == step.branch and not machine.outside(outcome.state)
        ]
    prop = next(prop for prop in model.properties if prop.name == broken)
    if not is_of_transition(prop):
        runs = [machine.scope(state) for state in map(reach, runs)]
    return any(not machine.holds(prop, run) for run in runs)


def reach(run: Scope) -> State:
    assert run.after is not None
    return run.after


def failing(model: n.Model, seed: int) -> dict[str, Trace]:
    """The shortened traces of a batch, by property."""
    batch = simulate(model, model.instances[0], WalkPlan(20, 20, seed))
    return {name: found.trace for name, found in batch.failures.items() if found.trace is not None}


TEXTS = {"lamp": LAMP, "terms": TERMS, "lock": LOCK}


@cache
def model_of(name: str) -> n.Model:
    if name in TEXTS:
        return api.load_text(TEXTS[name])
    return api.load(EXAMPLES / "ring_election.charter", api.Selection(mutant="wins_at_once"))


@pytest.mark.parametrize("name", [*TEXTS, "ring"])
@pytest.mark.parametrize("seed", range(3))
def test_a_shortened_walk_is_offered_step_by_step_and_needs_each_step(name: str, seed: int) -> None:
    model = model_of(name)
    found = failing(model, seed)
    assert found
    for broken, trace in found.items():
        assert is_run(model, trace, broken)
        for position in range(len(trace)):
            assert not is_run(model, (*trace[:position], *trace[position + 1 :]), broken)


def test_a_step_stays_if_a_condition_of_the_instance_needs_it() -> None:
    assert [step.operation for step in failing(model_of("lamp"), 0)["whole"]] == ["switch", "hit"]


def test_a_step_stays_if_it_made_the_counter_value_of_a_later_argument() -> None:
    steps = [step.operation for step in failing(model_of("terms"), 0)["whole"]]
    assert steps == ["raise_term", "open"]
