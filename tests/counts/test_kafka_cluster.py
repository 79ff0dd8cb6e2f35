"""Exact counts of Kafka's whole system in small clusters, pinned in kafka/*.txt."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from tests.support import engines, spec
from tests.support.counted import PINS, REFUSED, branches_of, read_pinned, summary
from tests.support.engines import both_of, counts
from tests.support.golden import Golden

from charter import api
from charter.analysis.environment import list_offered
from charter.api import verdicts
from charter.api.charters import load_charter
from charter.cache.files import cache_folder
from charter.core import nodes as n
from charter.explore.native.program.compiled import CompiledMachine

SPEC = Path(__file__).resolve().parents[2] / "spec" / "kafka"
SMALL = ["pair", "tolerance_3_2", "pair_deleted", "pair_of_one", "pair_shut_down"]
SOMETIMES = [pytest.param(name, marks=pytest.mark.slow) for name in SMALL[1:]]
LARGER = ["pair_unseen", "pair_stopped", "pair_preferred_of_two", "pair_of_two_records"]
LARGER += ["pair_both_lost", "last_standing", "pair_reassigned"]
LARGER += ["trio_reassigned", "pair_preferred", "pair_unclean", "pair_unregistered"]
LARGER += ["pair_shut_down_both", "pair_shut_down_unseen", "pair_reassigned_lost"]
LARGER += ["pair_flushed_by_two", "pair_rolled", "pair_flushed", "pair_of_processes"]
LARGER += ["pair_disk_lost", "pair_killed_and_lost"]
LARGER += ["tolerance_5_3"]
LARGER += ["pair_raised", "pair_lowered"]
LARGER += ["pair_back_early", "pair_clean_then_lost", "pair_failed_start"]
LARGER += ["pair_failed_start_in_order", "pair_failed_start_expired", "pair_answer_lost"]
LARGER += ["pair_late_heartbeat"]
LARGER += ["pair_produced", "pair_produced_lost", "pair_produced_to_one"]
LARGER += ["pair_asked", "pair_asked_of_one", "pair_balanced", "pair_last_known"]
LARGER += ["pair_balanced_lost", "pair_flushed_in_time", "pair_proactive_down"]
LARGER += ["pair_proactive", "pair_aggressive", "pair_manual"]
LARGER += ["pair_balanced_reassigned", "pair_proactive_reassigned", "pair_proactive_deleted"]
LARGER += ["pair_balanced_failed_over", "pair_balanced_off", "trio_reassigned_without_leader"]
LARGER += ["last_standing_kept", "trio_of_three", "trio_proposed", "trio_deleted"]
LARGER += ["trio_of_three_elected"]
LARGER += ["pair_deleted_unseen", "pair_deleted_lost", "pair_unclean_allowed", "pair_feature_off"]
LARGER += ["pair_deleted_produced"]
LARGER += ["pair_feature_on", "pair_feature_on_late", "pair_feature_on_balanced"]
LARGER += ["pair_shut_down_failed_over", "pair_back_failed_over"]
LARGER += ["trio_balanced"]
TRIOS = {"trio_of_two": (2_024_186, 12_945_990, 53)}
TRIOS |= {"trio_out_of_sync": (1_577_140, 10_728_982, 52)}
TRIOS |= {"tolerance_6_4": (823_473, 6_753_773, 29)}
TRIOS |= {"trio_shut_down": (9_672, 56_040, 27), "trio_lowered": (23_090, 126_426, 26)}
TRIOS |= {"pair_proactive_complete": (12_540, 55_124, 38)}
TRIOS |= {"pair_raised_known": (41_486, 199_537, 39)}
TRIOS |= {"pair_lowered_and_raised": (148_586, 869_029, 36)}
TRIOS |= {"pair_lowered_and_raised_known": (99_968, 520_000, 37)}
TRIOS |= {"pair_feature_off_kept": (157_055, 776_356, 42)}
TRIOS |= {"pair_feature_on_seen": (101_068, 508_792, 42)}
TRIOS |= {"pair_feature_on_in_sync": (711_396, 3_503_575, 62)}
TRIOS |= {"pair_last_known_complete": (118_880, 542_918, 45)}
"""Distinct states, transitions and levels of what the native engine alone searches to its end."""
ONCE = {"trio": (257_765_420, 2_060_326_432, 72)}
"""The same of what was searched by hand: it takes an hour (docs/design/engines.md)."""


@pytest.fixture(scope="module")
def kafka() -> n.Model:
    return spec.model("kafka")


@pytest.mark.parametrize("name", [*spec.of_kafka(SMALL[:1]), *SOMETIMES])
def test_counts_are_the_pinned_ones_when_a_small_cluster_is_explored(
    name: str, golden: Golden
) -> None:
    graph = spec.graph("kafka", name)
    assert graph.found.fine and not graph.found.counts.outside
    golden.matches(PINS / f"{name}.txt", summary(graph, branches_of(graph)))


@pytest.mark.slow
@pytest.mark.parametrize("name", spec.of_kafka(LARGER))
def test_counts_are_the_pinned_ones_when_a_larger_cluster_is_explored(
    name: str, golden: Golden
) -> None:
    graph = spec.graph("kafka", name)
    found, (instance,) = graph.found, (i for i in spec.model("kafka").instances if i.name == name)
    assert found.counts.complete and not found.failures and not found.counts.outside
    violated = {one.name for one in found.properties if one.kind != "witness" and one.seen}
    lasting = {one.name for one in spec.model("kafka").liveness}
    assert violated == set(instance.fails) - lasting
    golden.matches(PINS / f"{name}.txt", summary(graph, branches_of(graph)))


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIOS)
def test_counts_are_the_pinned_ones_when_a_trio_is_searched_to_its_end(
    kafka: n.Model, name: str
) -> None:
    found = api.explore(kafka, name, api.ExploreOptions(engine="native"), lambda *_: None)
    counts = found.counts
    assert (counts.distinct, counts.generated, len(counts.levels)) == TRIOS[name]
    assert found.fine and counts.outside == 0
    assert (found.vacuous, found.not_missed) == ((), ())


def test_a_broker_is_never_unfenced_when_an_earlier_process_is_registered_late() -> None:
    """By those of the committed searches that are of the charter as it is now; `make slow` does
    them again."""
    charter, _ = load_charter(SPEC)
    rows = verdicts.current(charter, verdicts.read_verdicts(verdicts.verdicts_file(SPEC)))
    found = {
        row.instance: row.verdicts["unfenced_in_the_end"].word
        for row in rows
        if not (row.variant or row.mutant) and row.instance.startswith("pair_failed_start")
    }
    expected = {
        "pair_failed_start": "violated",
        "pair_failed_start_in_order": "holds",
        "pair_failed_start_expired": "violated",
    }
    assert found.items() <= expected.items()


def test_readme_gives_the_states_and_levels_that_are_pinned_here() -> None:
    page = (SPEC / "README.md").read_text(encoding="utf-8")
    table = {
        name: (states, levels)
        for name, states, levels in re.findall(
            r"^\| `(\w+)` \|.*\| ([\d,]+) \| (\d+) \|$", page, re.MULTILINE
        )
    }
    alone = TRIOS | ONCE
    pinned = {name: (f"{states:,}", str(levels)) for name, (states, _, levels) in alone.items()}
    for name in SMALL + LARGER:
        lines = (PINS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        states, levels = int(lines[0].split()[1]), len(lines[4].split()) - 1
        pinned[name] = (f"{states:,}", str(levels))
    assert table == pinned


@pytest.mark.slow
@spec.together("kafka", "tolerance_3_2")
def test_engines_agree_when_a_small_cluster_is_explored() -> None:
    agree("tolerance_3_2")


@pytest.mark.slow
def test_engines_agree_when_a_broker_is_told_apart() -> None:
    """`pair_of_one` restricts a step to one broker."""
    agree("pair_of_one")


def agree(name: str) -> None:
    fast, slow = both_of("kafka", name)
    assert counts(fast) == counts(slow)
    assert engines.verdicts(fast) == engines.verdicts(slow)


def test_every_step_and_witness_of_the_system_is_seen_in_some_cluster() -> None:
    seen: set[str] = set()
    for name in SMALL + LARGER:
        seen |= read_pinned(name)[1]
    model = spec.model("kafka")
    system = next(s for s in model.systems if s.name == "cluster")
    mine = [p for p in model.properties if p.machine == "cluster" and p.kind == "witness"]
    named = {s.name for s in system.steps} | {w.name for w in mine}
    assert named - seen == REFUSED


def test_compiled_code_and_the_definition_agree_when_the_system_moves(kafka: n.Model) -> None:
    instance = next(i for i in kafka.instances if i.name == "trio")
    compiled = CompiledMachine.of(kafka, instance, cache_folder("engine"))
    machine, chance = compiled.machine, random.Random(5)
    compared, state = 0, machine.initial()
    for _ in range(30):
        steps = list(list_offered(machine, state))
        enabled = []
        for name, args in steps:
            expected = machine.outcomes(state, name, args)
            assert compiled.outcomes(state, name, args) == expected
            enabled += expected
            compared += len(expected)
        state = chance.choice(enabled).state
    assert compared > 50
