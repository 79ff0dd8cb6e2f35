"""Pinned counts of the primary-backup example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support import spec
from tests.support.comparing.sampled import sample
from tests.support.counted import never_met

from charter import api
from charter.explore.successors import path

CHARTER = Path(__file__).resolve().parents[2] / "spec" / "examples" / "primary_backup.charter"
MUTANTS = {
    "waits_for_nobody": 13,
    "is_in_sync_at_once": 16,
    "keeps_what_was_not_committed": 13,
    "serves_any_epoch": 12,
}
"""Steps of the shortest way to where two nodes disagree. As it is written, `small` has none."""
SHARED = spec.together("primary_backup", "tiny")


@pytest.mark.slow
def test_counts_when_nodes_are_told_apart() -> None:
    found = spec.explore_instance("primary_backup", "tiny", symmetry=False)
    counts = found.counts
    assert (counts.distinct, counts.generated, len(counts.levels)) == (24_055, 112_161, 25)
    assert found.fine and not never_met(found)


@SHARED
def test_counts_when_nodes_are_interchangeable() -> None:
    counts = spec.explore_instance("primary_backup", "tiny").counts
    assert (counts.distinct, counts.generated, len(counts.levels)) == (4_137, 19_342, 25)
    assert sum(counts.levels) == counts.distinct


@SHARED
def test_traces_are_runs_when_replayed_on_the_definition() -> None:
    graph = spec.graph("primary_backup", "tiny")
    machine, replayed = graph.successors.machine, set[str]()
    for case in graph.cases():
        if case.step.branch in replayed:
            continue
        state = machine.initial()
        for step in (*path(graph, case.source), case.step):
            (outcome,) = machine.outcomes(state, step.operation, step.args)
            assert outcome.branch == step.branch
            state = outcome.state
        replayed.add(case.step.branch)
    assert replayed == set(machine.labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "counts"),
    [("small", (66_064, 352_501, 40)), ("standard", (332_865, 1_856_745, 44))],
)
def test_counts_when_a_larger_instance_is_explored(name: str, counts: tuple[int, int, int]) -> None:
    found = spec.explore_instance("primary_backup", name).counts
    assert (found.distinct, found.generated, len(found.levels)) == counts


def test_every_mutant_has_the_steps_that_are_pinned_here() -> None:
    assert [mutant.name for mutant in api.load(CHARTER).mutants] == list(MUTANTS)


@pytest.mark.parametrize("name", sample(MUTANTS, 1))
def test_the_property_catches_the_mutant_when_its_instance_is_searched(name: str) -> None:
    """By the native engine: two elections are needed, which are thousands of states away."""
    about = next(m for m in api.load(CHARTER).mutants if m.name == name)
    edited = api.load(CHARTER, api.Selection(mutant=name))
    options = api.ExploreOptions(engine="native")
    found = api.explore(edited, about.instance, options, lambda *_: None)
    (caught,) = (f.trace for f in found.properties if f.name == about.caught_by)
    assert caught is not None and len(caught) == MUTANTS[name]


def test_readme_gives_the_counts_that_are_pinned_here() -> None:
    pinned = Path(__file__).read_text(encoding="utf-8").replace("_", ",")
    readme = (CHARTER.parent / "README.md").read_text(encoding="utf-8")
    numbers = re.findall(r"\b\d{1,3}(?:,\d{3})+\b", readme)
    assert numbers
    assert all(f"({number}, " in pinned for number in numbers)
