"""Pinned counts of the primary-backup example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support import plain

from charter import api

CHARTER = Path(__file__).resolve().parents[2] / "spec" / "examples" / "primary_backup.charter"
MUTANTS = {
    "waits_for_nobody": 13,
    "is_in_sync_at_once": 16,
    "keeps_what_was_not_committed": 13,
    "serves_any_epoch": 12,
}
"""Steps of the shortest way to where two nodes disagree. As it is written, `small` has none."""
SHARED = plain.together("primary_backup", "tiny")


@SHARED
def test_counts_when_nodes_are_told_apart() -> None:
    found = plain.explored("primary_backup", "tiny", symmetry=False)
    assert (found.distinct, found.generated, len(found.levels)) == (24_055, 112_161, 25)
    assert found.complete and found.fine and not found.vacuous


@SHARED
def test_counts_when_nodes_are_interchangeable() -> None:
    found = plain.explored("primary_backup", "tiny")
    assert (found.distinct, found.generated, len(found.levels)) == (4_137, 19_342, 25)
    assert sum(found.levels) == found.distinct


@SHARED
def test_traces_are_runs_when_replayed_on_the_definition() -> None:
    found = plain.explored("primary_backup", "tiny")
    machine = found.graph.flat.machine
    for finding in found.branches:
        assert finding.trace is not None
        states = [machine.initial()]
        for action in finding.trace:
            outcomes = machine.outcomes(states[-1], action.operation, action.args)
            assert [o.branch for o in outcomes] == [action.branch]
            states.append(outcomes[0].state)
        assert finding.trace[-1].branch == finding.name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "counts"),
    [("small", (66_064, 352_501, 40)), ("standard", (332_865, 1_856_745, 44))],
)
def test_counts_when_a_larger_instance_is_explored(name: str, counts: tuple[int, int, int]) -> None:
    found = plain.explored("primary_backup", name)
    assert (found.distinct, found.generated, len(found.levels)) == counts


def test_every_mutant_has_the_steps_that_are_pinned_here() -> None:
    assert [mutant.name for mutant in api.load(CHARTER).mutants] == list(MUTANTS)


@pytest.mark.parametrize("name", MUTANTS)
def test_the_property_catches_the_mutant_when_its_instance_is_searched(name: str) -> None:
    """By the native engine: two elections are needed, which are thousands of states away."""
    about = next(m for m in api.load(CHARTER).mutants if m.name == name)
    bent = api.load(CHARTER, api.Selection(mutant=name))
    found = api.explored(bent, about.instance, api.Wanted(engine="native"), lambda *_: None)
    findings = found["findings"]
    assert isinstance(findings, list)
    traces = {f["name"]: f["trace"] for f in findings if isinstance(f, dict) and f["seen"]}
    caught = traces[about.caught_by]
    assert isinstance(caught, list)
    assert len(caught) == MUTANTS[name]


def test_readme_gives_the_counts_that_are_pinned_here() -> None:
    pinned = Path(__file__).read_text(encoding="utf-8").replace("_", ",")
    readme = (CHARTER.parent / "README.md").read_text(encoding="utf-8")
    numbers = re.findall(r"\b\d{1,3}(?:,\d{3})+\b", readme)
    assert numbers
    assert all(f"({number}, " in pinned for number in numbers)
