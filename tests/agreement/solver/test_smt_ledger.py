"""What Z3 answers about the controller: its obligations, its invariants, its mutants."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import spec
from tests.support.comparing.sampled import sample

from charter import api
from charter.core import nodes as n
from charter.core.obligations import obligations
from charter.core.option_comparisons import APART
from charter.core.reach import always
from charter.prove import (
    Difference,
    Infeasible,
    Meets,
    PairQuestion,
    SingleStep,
    StepQuestion,
    Trace,
    distinguish,
    invariants,
    reach,
    single_step,
)
from charter.semantics.machine import Machine

ROOT = Path(__file__).parents[3]
SPEC = ROOT / "spec" / "kafka"
CONTROLLER = "controller"
MUTANTS = spec.list_declared("mutant", "70-mutants.charter")
"""Those of the controller: the solver steps through components, not through systems."""

ANSWERS = """
import hashlib, sys
from tests.support.switch import machine, switch
from charter.prove import SingleStep, StepQuestion, single_step
from charter.core.option_comparisons import APART
from charter.core.obligations import obligations
from charter.core.reach import always
from charter.semantics.values import text, to_json
model = switch()
lamp = model.components[0]
question = StepQuestion(obligations(model, lamp), always(model, "lamp"))
there = machine(model)
lines = []
for answer in single_step(there, question):
    lines.append(answer.obligation)
    if isinstance(answer, SingleStep):
        step = answer.transition
        for variable in lamp.state:
            lines.append(text(to_json(variable.type, step.before[variable.name], there.universe)))
        lines.append(text(there.args_json(step.operation, step.args)))
print(hashlib.sha256("\\n".join(lines).encode()).hexdigest())
"""


def kafka() -> n.Model:
    return spec.model("kafka")


def controller(instance: str, mutant: str = "") -> Machine:
    model = api.load(SPEC, api.Selection(mutant=mutant)) if mutant else kafka()
    return Machine.of(model, next(i for i in model.instances if i.name == instance))


def open_machine(instance: str) -> Machine:
    """All operations with all arguments."""
    model = kafka()
    chosen = next(i for i in model.instances if i.name == instance)
    return Machine.of(model, replace(chosen, offers=(), only=()))


def component(model: n.Model) -> n.Component:
    return next(c for c in model.components if c.name == CONTROLLER)


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_every_obligation_of_the_controller_is_met_or_infeasible_when_z3_is_asked(
    every: int,
) -> None:
    """Or one in so many."""
    model = kafka()
    wanted = obligations(model, component(model))[::every]
    found = single_step(open_machine("standard"), StepQuestion(wanted, always(model, CONTROLLER)))
    met = [answer for answer in found if isinstance(answer, SingleStep)]
    infeasible = {answer.obligation for answer in found if isinstance(answer, Infeasible)}
    assert len(met) + len(infeasible) == len(wanted)
    branches = {o.name for o in wanted if o.kind in ("branch", "reply")}
    assert not branches & infeasible
    # Options that cannot differ have two rows each that nothing meets, and many differ in one way.
    differ = {o.name for o in wanted if o.apart or (o.kind == "boundary" and o.want in APART)}
    # Of many numbers one is never the greater: `max(1, size(replicas))` has such a row.
    sides = {o.name for o in wanted if o.want in ("less", "greater")}
    others = infeasible - differ - sides
    assert len(others) * 15 < len(wanted) - len(differ) - len(sides), sorted(others)
    assert len(infeasible & differ) * 5 < 2 * len(differ), sorted(infeasible & differ)


@pytest.mark.slow
@pytest.mark.parametrize("of", ["heartbeat", ""])
def test_volatile_obligations_have_runs_when_no_loaded_state_meets_them(of: str) -> None:
    """Those of one operation, or all."""
    model = kafka()
    every = obligations(model, component(model))
    wanted = tuple(o for o in every if of in o.name)
    lemmas = always(model, CONTROLLER)
    loaded = single_step(open_machine("standard"), StepQuestion(wanted, lemmas, loadable=True))
    missing = {answer.obligation for answer in loaded if not isinstance(answer, SingleStep)}
    assert "branch heartbeat/waits" in missing
    goals = [Meets(o) for o in wanted if o.name in missing]
    runs = [r for r in reach(controller("tiny_shutdown"), goals, 5) if isinstance(r, Trace)]
    assert "branch heartbeat/waits" in {run.goal for run in runs}


@pytest.mark.slow
def test_invariants_hold_for_all_epochs_when_z3_proves_them() -> None:
    found = invariants(open_machine("tiny_elr"), always(kafka(), CONTROLLER))
    assert {"valid_isr_and_elr", "leader_in_isr", "no_fenced_replica_in_isr"} <= set(found.proved)


@pytest.mark.parametrize("mutant", sample(MUTANTS, 1))
def test_a_step_tells_the_mutant_from_the_charter_when_z3_looks_for_it(mutant: str) -> None:
    instance = next(m.instance for m in kafka().mutants if m.name == mutant)
    pair = (controller(instance), controller(instance, mutant))
    found = distinguish(pair, PairQuestion(lemmas=always(kafka(), CONTROLLER), whole=True))
    assert isinstance(found, Difference)


@pytest.mark.parametrize("seeds", [("1", "2")])
def test_answers_are_the_same_when_hashing_is_seeded_differently(seeds: tuple[str, str]) -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", ANSWERS],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT}/compiler"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    }
    assert len(digests) == 1
