"""The explorer and TLC on the exported TLA+: the same states, depth and verdicts.

TLC knows no permutations of sorts together with a VIEW, so the explorer tells sort elements apart
here. A jar is named with --tlc-jar or TLC_JAR; otherwise it is the one in the extra `tla`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.agreement.test_systems import CHARTER as OFFICE
from tests.agreement.test_systems import without
from tests.support import spec
from tests.support.engines import natively
from tests.support.tla import tlc

from charter import api
from charter.core import nodes as n
from charter.explore.native.search.explore import Exploration
from charter.explore.result import CheckResult

SPEC = Path(__file__).resolve().parents[3] / "spec"
COUNTS = {
    ("ring_election", "tiny"): (169, 9),
    ("office", "tiny"): (238, 14),
}
"""Distinct states and levels."""
SLOW_COUNTS = {
    ("office without a branch", "narrow"): (11, 5),
    ("two_phase_commit", "tiny"): (1_869, 16),
    ("office", "narrow"): (41, 9),
    ("dining_philosophers", "small"): (189, 9),
    ("kafka", "tiny_shutdown"): (610, 9),
    ("primary_backup", "tiny"): (24_055, 25),
    ("kafka", "tiny_configuration"): (732, 13),
    ("ring_election", "small"): (1_989, 12),
    ("kafka", "pair"): (3_626, 29),
    ("kafka", "pair_of_one"): (3_132, 30),
    ("kafka", "pair_stopped"): (3_486, 30),
    ("kafka", "pair_back_early"): (6_956, 32),
    ("kafka", "pair_failed_start"): (16_000, 27),
    ("kafka", "pair_late_heartbeat"): (18_912, 30),
    ("kafka", "pair_shut_down"): (2_508, 32),
    ("kafka", "pair_unclean"): (13_825, 35),
    ("kafka", "pair_unregistered"): (9_970, 30),
    ("kafka", "pair_reassigned"): (40_617, 39),
    ("kafka", "pair_deleted"): (714, 19),
    ("kafka", "tolerance_3_2"): (603, 15),
    ("kafka", "pair_shut_down_failed_over"): (6_340, 32),
    ("kafka", "pair_unclean_allowed"): (34_797, 36),
    ("kafka", "pair_rolled"): (13_614, 35),
    ("kafka", "pair_produced"): (11_748, 30),
    ("kafka", "pair_deleted_produced"): (74_304, 27),
    ("kafka", "pair_balanced"): (114_554, 51),
    ("kafka", "pair_balanced_lost"): (9_905, 40),
    ("kafka", "trio_proposed"): (22_038, 31),
    ("primary_backup", "small"): (392_992, 40),
    ("two_phase_commit", "small"): (41_009, 23),
    ("paxos", "tiny"): (14_841, 21),
    ("kafka", "tiny_elr"): (5_871, 11),
    ("kafka", "tiny_reassignment"): (3_180, 10),
    ("kafka", "tiny_proposals"): (648, 14),
    ("kafka", "tiny_topics"): (14_705, 12),
}
MUTANTS = [("dining_philosophers", "pushes_in")]
"""Caught by a property of steps."""
SLOW_MUTANTS = [
    ("ring_election", "the_smallest_wins"),
    ("two_phase_commit", "changes_its_mind"),
    ("two_phase_commit", "gives_up_after_voting"),
    ("kafka", "leader_epoch_stays"),
    ("ring_election", "adopts_every_winner"),
    ("kafka", "elr_without_gate"),
    ("kafka", "elr_keeps_isr_members"),
    ("paxos", "forgets_its_promise"),
    ("paxos", "a_single_acceptor_is_enough"),
]
WITNESSES = {
    ("kafka", "tiny_configuration"): 1, ("office", "tiny"): 2, ("ring_election", "tiny"): 3,
    ("two_phase_commit", "tiny"): 7,
}  # fmt: skip
"""How many witnesses an instance reaches."""
SLOW_WITNESSES = [
    ("kafka", "tiny_configuration"), ("ring_election", "tiny"), ("two_phase_commit", "tiny"),
]  # fmt: skip
OWN = {
    "office": api.load_text(OFFICE),
    "office without a branch": without(api.load_text(OFFICE), "tired"),
}
"""Charters that are not below spec/."""


def open_model(protocol: str) -> n.Model:
    return OWN.get(protocol) or spec.model(protocol)


def place(protocol: str) -> Path:
    return SPEC / "kafka" if protocol == "kafka" else SPEC / "examples" / f"{protocol}.charter"


def instance_of(model: n.Model, name: str) -> n.Instance:
    return next(i for i in model.instances if i.name == name)


def claims(model: n.Model, instance: n.Instance) -> list[str]:
    mine = [p for p in model.properties if p.machine == instance.machine]
    return [p.name for p in mine if p.kind != "witness"]


@cache
def explore(protocol: str, name: str) -> Exploration:
    if protocol not in OWN:
        return spec.explore_instance(protocol, name, symmetry=False)
    return natively(OWN[protocol], instance_of(OWN[protocol], name), symmetry=False)


def share(protocol: str, name: str, *more: pytest.MarkDecorator) -> object:
    """Parameters of a test, which asks for the same search as others do."""
    return pytest.param(protocol, name, marks=[spec.together(protocol, name), *more])


def finding(found: Exploration, name: str) -> CheckResult:
    return next(f for f in found.properties if f.name == name)


EVERY_COUNT = [
    *(share(*each) for each in COUNTS),
    *(share(*each, pytest.mark.slow) for each in SLOW_COUNTS),
]
EVERY_MUTANT = [*MUTANTS, *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW_MUTANTS)]


@pytest.mark.parametrize(("protocol", "name"), EVERY_COUNT)
def test_counts_are_the_pinned_ones_when_the_explorer_searches(protocol: str, name: str) -> None:
    found = explore(protocol, name)
    distinct, levels = (COUNTS | SLOW_COUNTS)[protocol, name]
    counts = found.counts
    assert (counts.distinct, len(counts.levels), counts.complete) == (distinct, levels, True)
    assert not [f.name for f in found.properties if f.kind != "witness" and f.seen]


@pytest.mark.parametrize(("protocol", "name"), EVERY_COUNT)
def test_counts_are_the_pinned_ones_when_tlc_searches(
    protocol: str, name: str, jar: Path, tmp_path: Path
) -> None:
    model = open_model(protocol)
    instance = instance_of(model, name)
    said = tlc.check(jar, model, instance, tmp_path, claims(model, instance))
    assert (said.distinct, said.depth) == (COUNTS | SLOW_COUNTS)[protocol, name]
    assert not said.error
    counts = explore(protocol, name).counts
    assert said.generated >= counts.generated  # TLC counts equal outcomes apart


@pytest.mark.parametrize(
    ("protocol", "name"),
    [share(*each, *([pytest.mark.slow] if each in SLOW_WITNESSES else [])) for each in WITNESSES],
)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_witnesses_are_as_far_away_when_tlc_looks_for_them(
    protocol: str, name: str, every: bool, jar: Path, tmp_path: Path
) -> None:
    """All of them, or the nearest and the farthest one."""
    model = open_model(protocol)
    instance = instance_of(model, name)
    properties = explore(protocol, name).properties
    witnesses = [f for f in properties if f.kind == "witness" and f.trace is not None]
    assert len(witnesses) == WITNESSES[protocol, name]
    witnesses.sort(key=lambda f: len(f.trace or ()))
    for witness in (
        witnesses if every else {w.name: w for w in (witnesses[0], witnesses[-1])}.values()
    ):
        said = tlc.check(jar, model, instance, tmp_path, [witness.name])
        assert said.error and said.steps == len(witness.trace or ()), witness.name


@pytest.mark.parametrize(("protocol", "name"), EVERY_MUTANT)
def test_a_mutant_is_caught_as_early_when_tlc_searches(
    protocol: str, name: str, jar: Path, tmp_path: Path
) -> None:
    mutant = next(m for m in open_model(protocol).mutants if m.name == name)
    model = api.load(place(protocol), api.Selection(mutant=name))
    instance = instance_of(model, mutant.instance)
    found = natively(model, instance, symmetry=False, most_states=8_000)
    trace = finding(found, mutant.caught_by).trace
    said = tlc.check(jar, model, instance, tmp_path, [mutant.caught_by])
    assert trace and said.error and said.steps == len(trace)


def test_a_deadlock_is_found_as_early_when_tlc_looks_for_one(jar: Path, tmp_path: Path) -> None:
    model = open_model("office")
    instance = instance_of(model, "tiny")
    trace = next(f for f in explore("office", "tiny").failures if f.kind == "deadlock").trace
    said = tlc.check(jar, model, instance, tmp_path, ["deadlock"])
    assert said.error == "Deadlock reached." and said.steps == len(trace or ())


def test_a_step_out_of_the_instance_is_no_deadlock_when_it_is_all_that_is_left(
    jar: Path, tmp_path: Path
) -> None:
    model = drop_limit(api.load_text(CLOCK))
    instance = model.instances[0]
    found = natively(model, instance, symmetry=False)
    assert found.counts.outside == 1 and not found.failures
    said = tlc.check(jar, model, instance, tmp_path, ["deadlock", "small"])
    assert (said.distinct, said.depth, said.error) == (
        found.counts.distinct,
        len(found.counts.levels),
        "",
    )


CLOCK = """
protocol test.clock
const most: int 0..9
system clock {
  state count: int 0..most = 0
  step tick() { count' = min(most, count + 1) }
}
always small of clock cites silent: count <= most
witness full of clock: count == most
instance tiny of clock { most = 2 }
"""


def drop_limit(model: n.Model) -> n.Model:
    """The clock without `min`: more than the checker would allow."""
    clock = model.systems[0]
    step = clock.steps[0]
    assign = step.body[0]
    assert isinstance(assign, n.Assign) and isinstance(assign.value, n.Builtin)
    edited = replace(step, body=(replace(assign, value=assign.value.args[1]),))
    return replace(model, systems=(replace(clock, steps=(edited,)),))
