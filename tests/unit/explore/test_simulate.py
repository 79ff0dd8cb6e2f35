"""Random walks: what they find is true, short, and the same for equal seeds."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.engines import natively

from charter import api
from charter.core import nodes as n
from charter.explore.result import CheckResult
from charter.explore.simulate import WalkPlan, simulate
from charter.explore.swarm import WalksResult

EXAMPLES = Path(__file__).resolve().parents[3] / "spec" / "examples"


def model_of(name: str, mutant: str = "") -> n.Model:
    return api.load(EXAMPLES / f"{name}.charter", api.Selection(mutant=mutant))


def walk(model: n.Model, **options: int) -> WalksResult:
    wanted = api.Simulation(options.get("steps", 40), options.get("walks", 50), 0)
    return api.simulate(model, "tiny", wanted, lambda *_: None)


def findings(found: WalksResult) -> dict[str, CheckResult]:
    return {one.finding.name: one.finding for one in found.findings}


@pytest.mark.parametrize(
    ("name", "mutant", "caught", "walks"),
    [
        pytest.param(
            "two_phase_commit",
            "commits_at_the_first_vote",
            "commits_what_all_prepared",
            50,
            marks=pytest.mark.slow,
        ),
        ("ring_election", "wins_at_once", "one_leader", 10),
        ("dining_philosophers", "no_order", "deadlock", 10),
        ("dining_philosophers", "pushes_in", "neighbours_eat_in_turn", 10),
    ],
)
def test_a_mutant_is_caught_and_its_trace_is_a_run_of_the_definition(
    name: str, mutant: str, caught: str, walks: int
) -> None:
    model = model_of(name, mutant)
    found = findings(walk(model, walks=walks))
    story = api.tell(model, "tiny", found[caught])
    assert story.steps
    exhaustive = natively(model, model.instances[0])
    shortest = next(
        f for f in (*exhaustive.properties, *exhaustive.failures) if f.name == caught
    ).trace
    assert shortest is not None and len(story.steps) >= len(shortest)


@pytest.mark.parametrize(
    ("name", "walks"),
    [
        ("ring_election", 50),
        *(
            pytest.param(name, 100, marks=pytest.mark.slow)
            for name in ("ring_election", "two_phase_commit", "paxos")
        ),
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(name: str, walks: int) -> None:
    found = walk(model_of(name), walks=walks)
    assert not findings(found)


def test_equal_plans_give_equal_batches_and_other_seeds_other_ones() -> None:
    model = model_of("paxos")
    batches = [simulate(model, model.instances[0], WalkPlan(20, 5, seed)) for seed in (3, 3, 4)]
    assert batches[0] == batches[1]
    assert batches[0].branches != batches[2].branches


def test_walks_are_the_same_by_compiled_code() -> None:
    model = model_of("ring_election", "wins_at_once")
    plan = WalkPlan(40, 10, 0)
    slow, fast = (simulate(model, model.instances[0], plan, compiled=c) for c in (False, True))
    assert (slow.branches, slow.witnesses, slow.failures, slow.last) == (
        fast.branches, fast.witnesses, fast.failures, fast.last,
    )  # fmt: skip
    assert len(slow.states) == len(fast.states) > 10 and slow.failures


def test_guided_walks_see_what_is_deep_where_others_do_not() -> None:
    model = model_of("ring_election")
    guided, plain = (
        simulate(model, model.instances[0], WalkPlan(4, 50, 1, guided)) for guided in (True, False)
    )
    assert "everybody_knows" not in plain.witnesses
    assert "everybody_knows" in guided.witnesses


def test_states_are_those_of_all_batches_together() -> None:
    model = model_of("ring_election")
    batches = [simulate(model, model.instances[0], WalkPlan(6, 50, seed)) for seed in (0, 1)]
    together = batches[0].states | batches[1].states
    assert walk(model, steps=6, walks=100).states == len(together)
    assert len(together) > max(len(batch.states) for batch in batches)


def test_what_walks_do_not_look_at_is_named() -> None:
    table = walk(model_of("dining_philosophers"), walks=1)
    assert table.unchecked == ("somebody_eats", "nobody_starves")
    assert walk(model_of("paxos"), walks=1).unchecked == ()


LONG = """import sys
from pathlib import Path
from charter import api
def report(done, total):
    print(done, flush=True)
model = api.load(Path(sys.argv[1]))
api.simulate(model, "tiny", api.Simulation(60, 1000000, 0, True, 2), report)
"""


@pytest.mark.slow
@pytest.mark.parametrize("group", [False, True], ids=["the parent", "the whole group"])
def test_walks_in_several_processes_can_be_interrupted(group: bool) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", LONG, str(EXAMPLES / "paxos.charter")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    try:
        assert child.stdout is not None and child.stdout.readline() == "50\n"
        (os.killpg if group else os.kill)(child.pid, signal.SIGINT)
        _, err = child.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    assert err.strip().endswith("KeyboardInterrupt")
